; What functions of Julia 1.5's run-time system do, said with allocations, loads and stores, for the engine to differentiate. Linked by
; Julia's LLVM (9) before differentiation; `@FLOAT64@` and `@FLOAT32@` are the addresses of the types.
;
; An array is a header { data, length, flags, size of an element, offset, dimensions... } and its data. Headers come from
; julia.array_header with all fields but the data set: a shadow's header comes from a call of its own, and is as good.

declare noalias i8* @julia.array_header(i64 %bytes, i64 %dimensions, i8* %type, i64 %a, i64 %b, i64 %c, i64 %size, i64 %boxed)
declare noalias i8* @julia.array_header_like(i64 %bytes, i64 %dimensions, i8* %array)
declare noalias i8* @julia.array_header_reshaped(i64 %bytes, i64 %dimensions, i8* %type, i8* %array, i8* %sizes)
declare noalias i8* @julia.array_data(i64 %bytes, i64 %kind)
declare noalias i8* @julia.box(i64 %bytes, i8* %type)
; Numbers of types: shadows are without them until a derivative ends (tags.jl).
declare void @julia.move_tags(i8* nocapture, i8* nocapture readonly, i64) argmemonly nounwind "enzyme_inactive"
declare void @julia.clear_tags(i8* nocapture, i64) argmemonly nounwind "enzyme_inactive"
declare void @jl_error(i8*)
declare void @jl_bounds_error_int(i8*, i64)
declare void @llvm.memset.p0i8.i64(i8* nocapture writeonly, i8, i64, i1 immarg)
declare void @llvm.memcpy.p0i8.p0i8.i64(i8* nocapture writeonly, i8* nocapture readonly, i64, i1 immarg)

declare void @llvm.memmove.p0i8.p0i8.i64(i8* nocapture, i8* nocapture readonly, i64, i1 immarg)

@enzyme.count = private constant [43 x i8] c"array: the number of elements is not valid\00"
@enzyme.shared = private constant [65 x i8] c"Enzyme: an array that was made outside can not be resized inside\00"

@enzyme.big = private constant [59 x i8] c"Enzyme: [E0201] no derivative for BigFloat and BigInt, met\00"

define void @enzyme.no_big_numbers() {
  call void @jl_error(i8* getelementptr ([59 x i8], [59 x i8]* @enzyme.big, i64 0, i64 0))
  unreachable
}

; The kind of an array's elements: 0, values; 1, references; 2, structures with references; 4, and more, values of one of several types, whose
; numbers follow the data, a byte each (unions.jl, in modules that have such arrays).
@KIND@

define i64 @enzyme.bytes_with_tags(i64 %bytes, i64 %n, i64 %kind) alwaysinline {
  %has_tags = icmp ugt i64 %kind, 3
  %tags = select i1 %has_tags, i64 %n, i64 0
  %all = add i64 %bytes, %tags
  ret i64 %all
}

define void @enzyme.give_data(i8* %array, i64 %length, i64 %size, i64 %boxed) alwaysinline {
top:
  %elements = mul i64 %length, %size
  %bytes = call i64 @enzyme.bytes_with_tags(i64 %elements, i64 %length, i64 %boxed)
  %data = call i8* @julia.array_data(i64 %bytes, i64 %boxed)
  %is_boxed = icmp ne i64 %boxed, 0
  br i1 %is_boxed, label %clear, label %done
clear:
  call void @llvm.memset.p0i8.i64(i8* align 8 %data, i8 0, i64 %bytes, i1 false)
  br label %done
done:
  %place = bitcast i8* %array to i8**
  store i8* %data, i8** %place, align 8
  ret void
}

define i8* @enzyme.array_1d(i8* %type, i64 %n, i64 %size, i64 %boxed) alwaysinline {
  %array = call i8* @julia.array_header(i64 40, i64 1, i8* %type, i64 %n, i64 1, i64 1, i64 %size, i64 %boxed)
  call void @enzyme.give_data(i8* %array, i64 %n, i64 %size, i64 %boxed)
  ret i8* %array
}

define i8* @enzyme.array_2d(i8* %type, i64 %a, i64 %b, i64 %size, i64 %boxed) alwaysinline {
  %n = mul i64 %a, %b
  %array = call i8* @julia.array_header(i64 40, i64 2, i8* %type, i64 %a, i64 %b, i64 1, i64 %size, i64 %boxed)
  call void @enzyme.give_data(i8* %array, i64 %n, i64 %size, i64 %boxed)
  ret i8* %array
}

define i8* @enzyme.array_3d(i8* %type, i64 %a, i64 %b, i64 %c, i64 %size, i64 %boxed) alwaysinline {
  %ab = mul i64 %a, %b
  %n = mul i64 %ab, %c
  %array = call i8* @julia.array_header(i64 48, i64 3, i8* %type, i64 %a, i64 %b, i64 %c, i64 %size, i64 %boxed)
  call void @enzyme.give_data(i8* %array, i64 %n, i64 %size, i64 %boxed)
  ret i8* %array
}

define i8* @enzyme.array_copy(i8* %from) alwaysinline {
  %length_at = getelementptr i8, i8* %from, i64 8
  %length_place = bitcast i8* %length_at to i64*
  %length = load i64, i64* %length_place, align 8
  %size_at = getelementptr i8, i8* %from, i64 18
  %size_place = bitcast i8* %size_at to i16*
  %size = load i16, i16* %size_place, align 2
  %size64 = zext i16 %size to i64
  %bytes = mul i64 %length, %size64
  %kind = call i64 @enzyme.kind(i8* %from)
  %array = call i8* @julia.array_header_like(i64 40, i64 %kind, i8* %from)
  %all = call i64 @enzyme.bytes_with_tags(i64 %bytes, i64 %length, i64 %kind)
  %data = call i8* @julia.array_data(i64 %all, i64 %kind)
  %from_place = bitcast i8* %from to i8**
  %old = load i8*, i8** %from_place, align 8
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 8 %data, i8* align 8 %old, i64 %bytes, i1 false)
  %place = bitcast i8* %array to i8**
  store i8* %data, i8** %place, align 8
  %has_tags = icmp ugt i64 %kind, 3
  br i1 %has_tags, label %tags, label %done
tags:
  %tags_from = call i8* @enzyme.tags(i8* %from)
  %tags_to = getelementptr i8, i8* %data, i64 %bytes
  call void @julia.move_tags(i8* %tags_to, i8* %tags_from, i64 %length)
  br label %done
done:
  ret i8* %array
}

define void @enzyme.grow_end(i8* %array, i64 %more) alwaysinline {
top:
  ; Only arrays that were made inside have a shadow whose header can follow: those that say that their data is within, while it is not.
  %flags_at = getelementptr i8, i8* %array, i64 16
  %flags_place = bitcast i8* %flags_at to i16*
  %flags = load i16, i16* %flags_place, align 8
  %how = and i16 %flags, 3
  %is_other = icmp ne i16 %how, 0
  %data_place = bitcast i8* %array to i8**
  %data_now = load i8*, i8** %data_place, align 8
  %data_number = ptrtoint i8* %data_now to i64
  %array_number = ptrtoint i8* %array to i64
  %distance = sub i64 %data_number, %array_number
  %is_within = icmp ult i64 %distance, 4096
  ; Elements were taken from its beginning by a function of Julia's.
  %first_at = getelementptr i8, i8* %array, i64 20
  %first_place = bitcast i8* %first_at to i32*
  %first = load i32, i32* %first_place, align 4
  %is_moved = icmp ne i32 %first, 0
  %is_outside = or i1 %is_other, %is_within
  %is_shared = or i1 %is_outside, %is_moved
  br i1 %is_shared, label %refuse, label %good
refuse:
  call void @jl_error(i8* getelementptr ([65 x i8], [65 x i8]* @enzyme.shared, i64 0, i64 0))
  unreachable
good:
  ; No memory holds so many: the products below would wrap.
  %too_many = icmp ugt i64 %more, 140737488355328
  br i1 %too_many, label %fail, label %ok
fail:
  call void @jl_error(i8* getelementptr ([43 x i8], [43 x i8]* @enzyme.count, i64 0, i64 0))
  unreachable
ok:
  %length_at = getelementptr i8, i8* %array, i64 8
  %length_place = bitcast i8* %length_at to i64*
  %length = load i64, i64* %length_place, align 8
  %size_at = getelementptr i8, i8* %array, i64 18
  %size_place = bitcast i8* %size_at to i16*
  %size = load i16, i16* %size_place, align 2
  %size64 = zext i16 %size to i64
  %capacity_at = getelementptr i8, i8* %array, i64 32
  %capacity_place = bitcast i8* %capacity_at to i64*
  %capacity = load i64, i64* %capacity_place, align 8
  %new = add i64 %length, %more
  %fits = icmp ule i64 %new, %capacity
  %kind = call i64 @enzyme.kind(i8* %array)
  %has_tags = icmp ugt i64 %kind, 3
  br i1 %fits, label %room, label %grow
grow:
  %twice = shl i64 %new, 1
  %few = icmp ult i64 %twice, 8
  %wanted = select i1 %few, i64 8, i64 %twice
  %elements = mul i64 %wanted, %size64
  %bytes = call i64 @enzyme.bytes_with_tags(i64 %elements, i64 %wanted, i64 %kind)
  %data = call i8* @julia.array_data(i64 %bytes, i64 %kind)
  call void @llvm.memset.p0i8.i64(i8* align 8 %data, i8 0, i64 %bytes, i1 false)
  %place = bitcast i8* %array to i8**
  %old = load i8*, i8** %place, align 8
  %used = mul i64 %length, %size64
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 8 %data, i8* align 8 %old, i64 %used, i1 false)
  br i1 %has_tags, label %tags, label %moved
tags:
  %tags_from = call i8* @enzyme.tags(i8* %array)
  %tags_to = getelementptr i8, i8* %data, i64 %elements
  call void @julia.move_tags(i8* %tags_to, i8* %tags_from, i64 %length)
  br label %moved
moved:
  store i8* %data, i8** %place, align 8
  store i64 %wanted, i64* %capacity_place, align 8
  br label %done
room:
  br i1 %has_tags, label %fresh, label %done
; What was there before is gone, as Julia has it.
fresh:
  %first_tag = call i8* @enzyme.tags(i8* %array)
  %new_tags = getelementptr i8, i8* %first_tag, i64 %length
  call void @julia.clear_tags(i8* %new_tags, i64 %more)
  br label %done
done:
  store i64 %new, i64* %length_place, align 8
  %rows_at = getelementptr i8, i8* %array, i64 24
  %rows = bitcast i8* %rows_at to i64*
  store i64 %new, i64* %rows, align 8
  ret void
}

define void @enzyme.del_end(i8* %array, i64 %fewer) alwaysinline {
  %length_at = getelementptr i8, i8* %array, i64 8
  %length_place = bitcast i8* %length_at to i64*
  %length = load i64, i64* %length_place, align 8
  %too_many = icmp ugt i64 %fewer, %length
  br i1 %too_many, label %fail, label %good
fail:
  call void @jl_error(i8* getelementptr ([43 x i8], [43 x i8]* @enzyme.count, i64 0, i64 0))
  unreachable
good:
  %new = sub i64 %length, %fewer
  store i64 %new, i64* %length_place, align 8
  %rows_at = getelementptr i8, i8* %array, i64 24
  %rows = bitcast i8* %rows_at to i64*
  store i64 %new, i64* %rows, align 8
  ret void
}

; The bytes of so many elements.
define i64 @enzyme.bytes_of(i8* %array, i64 %n) alwaysinline {
  %size_at = getelementptr i8, i8* %array, i64 18
  %size_place = bitcast i8* %size_at to i16*
  %size = load i16, i16* %size_place, align 2
  %size64 = zext i16 %size to i64
  %bytes = mul i64 %n, %size64
  ret i64 %bytes
}

; Elements from a number on, counted from zero, are moved to another.
define void @enzyme.move(i8* %array, i64 %from, i64 %to, i64 %n) alwaysinline {
  %data_place = bitcast i8* %array to i8**
  %data = load i8*, i8** %data_place, align 8
  %from_bytes = call i64 @enzyme.bytes_of(i8* %array, i64 %from)
  %to_bytes = call i64 @enzyme.bytes_of(i8* %array, i64 %to)
  %bytes = call i64 @enzyme.bytes_of(i8* %array, i64 %n)
  %source = getelementptr i8, i8* %data, i64 %from_bytes
  %target = getelementptr i8, i8* %data, i64 %to_bytes
  call void @llvm.memmove.p0i8.p0i8.i64(i8* %target, i8* %source, i64 %bytes, i1 false)
  %kind = call i64 @enzyme.kind(i8* %array)
  %has_tags = icmp ugt i64 %kind, 3
  br i1 %has_tags, label %tags, label %done
tags:
  %first_tag = call i8* @enzyme.tags(i8* %array)
  %tags_from = getelementptr i8, i8* %first_tag, i64 %from
  %tags_to = getelementptr i8, i8* %first_tag, i64 %to
  call void @julia.move_tags(i8* %tags_to, i8* %tags_from, i64 %n)
  br label %done
done:
  ret void
}

define void @enzyme.grow_at(i8* %array, i64 %at, i64 %more) alwaysinline {
  %length_at = getelementptr i8, i8* %array, i64 8
  %length_place = bitcast i8* %length_at to i64*
  %length = load i64, i64* %length_place, align 8
  %is_beyond = icmp ugt i64 %at, %length
  br i1 %is_beyond, label %fail, label %good
fail:
  %number = add i64 %at, 1
  call void @jl_bounds_error_int(i8* %array, i64 %number)
  unreachable
good:
  call void @enzyme.grow_end(i8* %array, i64 %more)
  %to = add i64 %at, %more
  %n = sub i64 %length, %at
  call void @enzyme.move(i8* %array, i64 %at, i64 %to, i64 %n)
  ret void
}

define void @enzyme.grow_beg(i8* %array, i64 %more) alwaysinline {
  call void @enzyme.grow_at(i8* %array, i64 0, i64 %more)
  ret void
}

define void @enzyme.del_at(i8* %array, i64 %at, i64 %fewer) alwaysinline {
  %length_at = getelementptr i8, i8* %array, i64 8
  %length_place = bitcast i8* %length_at to i64*
  %length = load i64, i64* %length_place, align 8
  %from = add i64 %at, %fewer
  %wraps = icmp ult i64 %from, %at
  %is_far = icmp ugt i64 %from, %length
  %is_beyond = or i1 %wraps, %is_far
  br i1 %is_beyond, label %fail, label %good
fail:
  call void @jl_bounds_error_int(i8* %array, i64 %from)
  unreachable
good:
  %n = sub i64 %length, %from
  call void @enzyme.move(i8* %array, i64 %from, i64 %at, i64 %n)
  call void @enzyme.del_end(i8* %array, i64 %fewer)
  ret void
}

define void @enzyme.del_beg(i8* %array, i64 %fewer) alwaysinline {
  call void @enzyme.del_at(i8* %array, i64 0, i64 %fewer)
  ret void
}

define void @enzyme.sizehint(i8* %array, i64 %n) alwaysinline {
  ret void
}

define i8* @enzyme.box_float64(double %x) alwaysinline {
  %box = call i8* @julia.box(i64 8, i8* inttoptr (i64 @FLOAT64@ to i8*))
  %place = bitcast i8* %box to double*
  store double %x, double* %place, align 8
  ret i8* %box
}

define i8* @enzyme.box_float32(float %x) alwaysinline {
  %box = call i8* @julia.box(i64 4, i8* inttoptr (i64 @FLOAT32@ to i8*))
  %place = bitcast i8* %box to float*
  store float %x, float* %place, align 4
  ret i8* %box
}

; References of one array, put into another.
define void @enzyme.ptr_copy(i8* %to_array, i8* %to, i8* %from_array, i8* %from, i64 %n) alwaysinline {
  %bytes = mul i64 %n, 8
  call void @llvm.memmove.p0i8.p0i8.i64(i8* %to, i8* %from, i64 %bytes, i1 false)
  ret void
}

define i8* @enzyme.memcpy(i8* %to, i8* %from, i64 %n) alwaysinline {
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* %to, i8* %from, i64 %n, i1 false)
  ret i8* %to
}

define i8* @enzyme.memmove(i8* %to, i8* %from, i64 %n) alwaysinline {
  call void @llvm.memmove.p0i8.p0i8.i64(i8* %to, i8* %from, i64 %n, i1 false)
  ret i8* %to
}

define i8* @enzyme.memset(i8* %to, i32 %value, i64 %n) alwaysinline {
  %byte = trunc i32 %value to i8
  call void @llvm.memset.p0i8.i64(i8* %to, i8 %byte, i64 %n, i1 false)
  ret i8* %to
}

; Another header for the same data, which belongs to the array that it is the data of.
define i8* @enzyme.reshape(i8* %type, i8* %from, i8* %sizes, i64 %owner_offset) alwaysinline {
  %array = call i8* @julia.array_header_reshaped(i64 64, i64 0, i8* %type, i8* %from, i8* %sizes)
  %from_place = bitcast i8* %from to i8**
  %data = load i8*, i8** %from_place, align 8
  %place = bitcast i8* %array to i8**
  store i8* %data, i8** %place, align 8
  %owner_at = getelementptr i8, i8* %array, i64 %owner_offset
  %owner = bitcast i8* %owner_at to i8**
  store i8* %from, i8** %owner, align 8
  ret i8* %array
}

; Pointers of Julia's are integers.
declare noalias i8* @malloc(i64)
declare void @free(i8*)
define i8* @enzyme.malloc(i64 %n) alwaysinline {
  %p = call i8* @malloc(i64 %n)
  ret i8* %p
}

define void @enzyme.free(i8* %p) alwaysinline {
  call void @free(i8* %p)
  ret void
}

; An array of many dimensions is another shape of a vector.
define i8* @enzyme.array_nd(i8* %type, i8* %sizes, i8* %vector_type, i64 %dimensions, i64 %size, i64 %boxed, i64 %owner_offset) alwaysinline {
top:
  br label %next
next:
  %d = phi i64 [ 0, %top ], [ %d1, %next ]
  %n = phi i64 [ 1, %top ], [ %n1, %next ]
  %offset = mul i64 %d, 8
  %at = getelementptr i8, i8* %sizes, i64 %offset
  %place = bitcast i8* %at to i64*
  %one = load i64, i64* %place, align 8
  %n1 = mul i64 %n, %one
  %d1 = add i64 %d, 1
  %is_last = icmp eq i64 %d1, %dimensions
  br i1 %is_last, label %make, label %next
make:
  %vector = call i8* @enzyme.array_1d(i8* %vector_type, i64 %n1, i64 %size, i64 %boxed)
  %array = call i8* @enzyme.reshape(i8* %type, i8* %vector, i8* %sizes, i64 %owner_offset)
  ret i8* %array
}
