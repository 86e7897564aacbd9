; What derivatives call of Julia 1.5's run-time system (LLVM 22; linked after differentiation). Nothing here is rooted: the collector is off
; while a derivative runs.

declare ptr @jl_get_ptls_states()
declare ptr @jl_gc_alloc_typed(ptr, i64, ptr)
declare void @jl_gc_queue_root(ptr)
declare ptr @jl_alloc_array_1d(ptr, i64)
declare ptr @jl_alloc_array_2d(ptr, i64, i64)
declare ptr @jl_alloc_array_3d(ptr, i64, i64, i64)
declare ptr @jl_array_copy(ptr)
declare ptr @jl_reshape_array(ptr, ptr, ptr)

define linkonce_odr ptr @julia.ptls_states() {
  %p = call ptr @jl_get_ptls_states()
  ret ptr %p
}

define linkonce_odr noalias ptr @julia.gc_alloc_obj(ptr %state, i64 %bytes, ptr %type) {
  %p = call ptr @jl_gc_alloc_typed(ptr %state, i64 %bytes, ptr %type)
  ret ptr %p
}

define linkonce_odr noalias ptr @julia.box(i64 %bytes, ptr %type) {
  %state = call ptr @jl_get_ptls_states()
  %p = call ptr @jl_gc_alloc_typed(ptr %state, i64 %bytes, ptr %type)
  ret ptr %p
}

; A buffer of an array, which its header marks (jl_buff_tag).
define linkonce_odr noalias ptr @julia.array_data(i64 %bytes) {
  %state = call ptr @jl_get_ptls_states()
  %room = add i64 %bytes, 8
  %p = call ptr @jl_gc_alloc_typed(ptr %state, i64 %room, ptr inttoptr (i64 1320019968 to ptr))
  ret ptr %p
}

; The data is a buffer of the collector's (how = 1); the highest bit, unused with it, says that the array was made here.
define linkonce_odr void @enzyme.owns(ptr %array) {
  %at = getelementptr i8, ptr %array, i64 16
  %flags = load i16, ptr %at, align 8
  %low = and i16 %flags, -4
  %owned = or i16 %low, -32767
  store i16 %owned, ptr %at, align 8
  ret void
}

define linkonce_odr noalias ptr @julia.array_header(i64 %bytes, i64 %dimensions, ptr %type, i64 %a, i64 %b, i64 %c) {
top:
  %ab = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %a, i64 %b)
  %ab.value = extractvalue { i64, i1 } %ab, 0
  %ab.over = extractvalue { i64, i1 } %ab, 1
  %abc = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %ab.value, i64 %c)
  %length = extractvalue { i64, i1 } %abc, 0
  %abc.over = extractvalue { i64, i1 } %abc, 1
  %signs1 = or i64 %a, %b
  %signs2 = or i64 %signs1, %c
  %negative = icmp slt i64 %signs2, 0
  %large = icmp ugt i64 %length, 1152921504606846975
  %bad1 = or i1 %ab.over, %abc.over
  %bad2 = or i1 %bad1, %negative
  %bad = or i1 %bad2, %large
  ; What can't be allocated is told by Julia itself, by an exception.
  %a1 = select i1 %bad, i64 %a, i64 0
  %b1 = select i1 %bad, i64 %b, i64 0
  %c1 = select i1 %bad, i64 %c, i64 0
  switch i64 %dimensions, label %one [ i64 2, label %two
                                       i64 3, label %three ]
one:
  %h1 = call ptr @jl_alloc_array_1d(ptr %type, i64 %a1)
  br label %fill
two:
  %h2 = call ptr @jl_alloc_array_2d(ptr %type, i64 %a1, i64 %b1)
  br label %fill
three:
  %h3 = call ptr @jl_alloc_array_3d(ptr %type, i64 %a1, i64 %b1, i64 %c1)
  %layers = getelementptr i8, ptr %h3, i64 40
  store i64 %c, ptr %layers, align 8
  br label %fill
fill:
  %h = phi ptr [ %h1, %one ], [ %h2, %two ], [ %h3, %three ]
  %length.at = getelementptr i8, ptr %h, i64 8
  store i64 %length, ptr %length.at, align 8
  %rows.at = getelementptr i8, ptr %h, i64 24
  store i64 %a, ptr %rows.at, align 8
  ; The capacity of a vector, the columns of a matrix.
  %is_vector = icmp eq i64 %dimensions, 1
  %second = select i1 %is_vector, i64 %a, i64 %b
  %second.at = getelementptr i8, ptr %h, i64 32
  store i64 %second, ptr %second.at, align 8
  call void @enzyme.owns(ptr %h)
  ret ptr %h
}

declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)

define linkonce_odr noalias ptr @julia.array_header_like(i64 %bytes, i64 %dimensions, ptr %array) {
  %h = call ptr @jl_array_copy(ptr %array)
  call void @enzyme.owns(ptr %h)
  ret ptr %h
}

define linkonce_odr noalias ptr @julia.array_header_reshaped(i64 %bytes, i64 %dimensions, ptr %type, ptr %array, ptr %sizes) {
  %h = call ptr @jl_reshape_array(ptr %type, ptr %array, ptr %sizes)
  ret ptr %h
}

define linkonce_odr void @julia.write_barrier(ptr %parent, ...) {
top:
  %tag.at = getelementptr i8, ptr %parent, i64 -8
  %tag = load i64, ptr %tag.at, align 8
  %bits = and i64 %tag, 3
  %old = icmp eq i64 %bits, 3
  br i1 %old, label %tell, label %done
tell:
  call void @jl_gc_queue_root(ptr %parent)
  br label %done
done:
  ret void
}

define linkonce_odr ptr @julia.typeof(ptr %object) {
  %tag.at = getelementptr i8, ptr %object, i64 -8
  %tag = load i64, ptr %tag.at, align 8
  %type = and i64 %tag, -16
  %p = inttoptr i64 %type to ptr
  ret ptr %p
}

; A block with a handler begins: 0, and what else when an exception comes. Room for Julia's jl_handler_t (256 bytes and some), in the frame of the caller;
; its end is not told, as it lasts until jl_pop_handler.
declare void @jl_enter_handler(ptr)
declare i32 @__sigsetjmp(ptr, i32) returns_twice
declare void @llvm.lifetime.start.p0(ptr)

define linkonce_odr i32 @julia.except_enter() alwaysinline returns_twice {
  %handler = alloca [512 x i8], align 16
  call void @llvm.lifetime.start.p0(ptr %handler)
  call void @jl_enter_handler(ptr %handler)
  %again = call i32 @__sigsetjmp(ptr %handler, i32 0) returns_twice
  ret i32 %again
}
