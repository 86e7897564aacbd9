; What derivatives call of Julia 1.5's run-time system (LLVM 22; linked after differentiation).
;
; The collector runs while a derivative does. Nothing says which of a derivative's values are references, so all that it allocates, or is given by
; functions of the run-time system, is rooted until the call ends: in a Vector{Any}, which a frame of the thunk's leads to.
;
; The data of an array that is made here lies in another array, the owner, whose address is 16 bytes before it; an array of references has an owner of
; references, which the collector looks through. Until the call ends the owner is rooted by the list, and the array looks like one whose data
; lies in itself (how = 0), which Julia's functions may resize; `enzyme_seal` makes it one that leads to its owner (how = 3).
;
; The frame: number of roots times 4, frame before, the list.

declare ptr @jl_get_ptls_states()
declare ptr @jl_gc_alloc_typed(ptr, i64, ptr)
declare void @jl_gc_queue_root(ptr)
declare ptr @jl_alloc_array_1d(ptr, i64)
declare ptr @jl_alloc_array_2d(ptr, i64, i64)
declare ptr @jl_alloc_array_3d(ptr, i64, i64, i64)
declare void @jl_array_grow_end(ptr, i64)
declare ptr @jl_reshape_array(ptr, ptr, ptr)
declare ptr @jl_array_copy(ptr)
declare void @jl_error(ptr) noreturn
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1 immarg)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg)
@jl_array_any_type = external global ptr
@jl_array_typename = external global ptr
@jl_uniontype_type = external global ptr
@enzyme.of_unions = private constant [46 x i8] c"Enzyme: arrays of unions can't be copied here\00"

; The engine writes to standard error why a derivative can't go on, and calls `abort`: an exception with the same words, here.
@enzyme.stopped = private constant [41 x i8] c"Enzyme: the derivative can't go on: %.*s\00"
@enzyme.words = internal global ptr null
@enzyme.words.length = internal global i64 0
declare void @jl_errorf(ptr, ...) noreturn
define linkonce_odr hidden i64 @write(i32 %file, ptr %words, i64 %length) {
  store ptr %words, ptr @enzyme.words, align 8
  store i64 %length, ptr @enzyme.words.length, align 8
  %n = call i64 inttoptr (i64 @WRITE@ to ptr)(i32 %file, ptr %words, i64 %length)
  ret i64 %n
}
define linkonce_odr hidden void @abort() {
  %words = load ptr, ptr @enzyme.words, align 8
  %length = load i64, ptr @enzyme.words.length, align 8
  ; Without the end of the line.
  %last = sub i64 %length, 1
  %length32 = trunc i64 %last to i32
  call void (ptr, ...) @jl_errorf(ptr @enzyme.stopped, i32 %length32, ptr %words)
  unreachable
}

define linkonce_odr void @enzyme.enter(ptr %frame, ptr %roots) {
  %state = call ptr @jl_get_ptls_states()
  %before = load ptr, ptr %state, align 8
  store i64 4, ptr %frame, align 8
  %before.at = getelementptr i8, ptr %frame, i64 8
  store ptr %before, ptr %before.at, align 8
  %roots.at = getelementptr i8, ptr %frame, i64 16
  store ptr %roots, ptr %roots.at, align 8
  store ptr %frame, ptr %state, align 8
  ret void
}

define linkonce_odr void @enzyme.leave(ptr %frame) {
  %state = call ptr @jl_get_ptls_states()
  %before.at = getelementptr i8, ptr %frame, i64 8
  %before = load ptr, ptr %before.at, align 8
  store ptr %before, ptr %state, align 8
  ret void
}

; The list, with room for one more at its end: to be asked for before what is put there is made.
define linkonce_odr ptr @enzyme.room() {
  %state = call ptr @jl_get_ptls_states()
  %frame = load ptr, ptr %state, align 8
  %roots.at = getelementptr i8, ptr %frame, i64 16
  %roots = load ptr, ptr %roots.at, align 8
  call void @jl_array_grow_end(ptr %roots, i64 1)
  ret ptr %roots
}

define linkonce_odr void @enzyme.put(ptr %roots, ptr %object) {
  %length.at = getelementptr i8, ptr %roots, i64 8
  %length = load i64, ptr %length.at, align 8
  %last = sub i64 %length, 1
  %data = load ptr, ptr %roots, align 8
  %place = getelementptr ptr, ptr %data, i64 %last
  store ptr %object, ptr %place, align 8
  call void @enzyme.tell(ptr %roots)
  ret void
}

; An old object is looked at again.
define linkonce_odr void @enzyme.tell(ptr %object) {
top:
  %tag.at = getelementptr i8, ptr %object, i64 -8
  %tag = load i64, ptr %tag.at, align 8
  %bits = and i64 %tag, 3
  %old = icmp eq i64 %bits, 3
  br i1 %old, label %tell, label %done
tell:
  call void @jl_gc_queue_root(ptr %object)
  br label %done
done:
  ret void
}

define linkonce_odr noalias ptr @enzyme.object(i64 %bytes, ptr %type) {
  %roots = call ptr @enzyme.room()
  %state = call ptr @jl_get_ptls_states()
  %p = call ptr @jl_gc_alloc_typed(ptr %state, i64 %bytes, ptr %type)
  call void @llvm.memset.p0.i64(ptr align 8 %p, i8 0, i64 %bytes, i1 false)
  call void @enzyme.put(ptr %roots, ptr %p)
  ret ptr %p
}

define linkonce_odr ptr @julia.ptls_states() {
  %p = call ptr @jl_get_ptls_states()
  ret ptr %p
}

define linkonce_odr noalias ptr @julia.gc_alloc_obj(ptr %state, i64 %bytes, ptr %type) {
  %p = call ptr @enzyme.object(i64 %bytes, ptr %type)
  ret ptr %p
}

define linkonce_odr noalias ptr @julia.box(i64 %bytes, ptr %type) {
  %p = call ptr @enzyme.object(i64 %bytes, ptr %type)
  ret ptr %p
}

; Memory in an array of floats (`@FLOATS@` is the address of its type; arrays that share it ask for its alignment) or, for elements of kind 1, of
; references. All that may hold references is zero. A byte more than asked for, which Julia's functions put a zero into.
define linkonce_odr noalias ptr @julia.array_data(i64 %bytes, i64 %kind) {
top:
  %roots = call ptr @enzyme.room()
  %more = add i64 %bytes, 31
  %count = lshr i64 %more, 3
  %any = load ptr, ptr @jl_array_any_type, align 8
  %refers = icmp eq i64 %kind, 1
  %type = select i1 %refers, ptr %any, ptr inttoptr (i64 @FLOATS@ to ptr)
  %owner = call ptr @jl_alloc_array_1d(ptr %type, i64 %count)
  call void @enzyme.put(ptr %roots, ptr %owner)
  %p = load ptr, ptr %owner, align 8
  %mixed = icmp eq i64 %kind, 2
  br i1 %mixed, label %clear, label %done
clear:
  %all = mul i64 %count, 8
  call void @llvm.memset.p0.i64(ptr align 8 %p, i8 0, i64 %all, i1 false)
  br label %done
done:
  store ptr %owner, ptr %p, align 8
  %data = getelementptr i8, ptr %p, i64 16
  ret ptr %data
}

; Flags: aligned, in a pool, of which kind elements are (1: references, 2: they hold some), the number of dimensions.
define linkonce_odr void @enzyme.fill_flags(ptr %h, i16 %dimensions, i64 %kind) {
  %refers = and i64 %kind, 3
  %bits = trunc i64 %refers to i16
  %high = shl i16 %bits, 12
  %both = or i16 %dimensions, %high
  %new = or i16 %both, -30720
  %flags.at = getelementptr i8, ptr %h, i64 16
  store i16 %new, ptr %flags.at, align 8
  ret void
}

; Where elements are references, the data is there before they count.
define linkonce_odr void @enzyme.first_data(ptr %h, i64 %bytes, i64 %kind) {
top:
  %refers = and i64 %kind, 3
  %values = icmp eq i64 %refers, 0
  br i1 %values, label %done, label %make
make:
  %data = call ptr @julia.array_data(i64 %bytes, i64 %kind)
  store ptr %data, ptr %h, align 8
  br label %done
done:
  ret void
}

define linkonce_odr noalias ptr @julia.array_header(i64 %bytes, i64 %dimensions, ptr %type, i64 %a, i64 %b, i64 %c, i64 %size, i64 %boxed) {
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
  br i1 %bad, label %wrong, label %good
; What can't be allocated is told by Julia itself, by an exception.
wrong:
  switch i64 %dimensions, label %one [ i64 2, label %two
                                       i64 3, label %three ]
one:
  call ptr @jl_alloc_array_1d(ptr %type, i64 %a)
  unreachable
two:
  call ptr @jl_alloc_array_2d(ptr %type, i64 %a, i64 %b)
  unreachable
three:
  call ptr @jl_alloc_array_3d(ptr %type, i64 %a, i64 %b, i64 %c)
  unreachable
good:
  %with_owner = add i64 %bytes, 8
  %h = call ptr @enzyme.object(i64 %with_owner, ptr %type)
  %length.at = getelementptr i8, ptr %h, i64 8
  store i64 %length, ptr %length.at, align 8
  %size16 = trunc i64 %size to i16
  %size.at = getelementptr i8, ptr %h, i64 18
  store i16 %size16, ptr %size.at, align 2
  %data.bytes = mul i64 %length, %size
  call void @enzyme.first_data(ptr %h, i64 %data.bytes, i64 %boxed)
  %dimensions16 = trunc i64 %dimensions to i16
  %flags = shl i16 %dimensions16, 2
  call void @enzyme.fill_flags(ptr %h, i16 %flags, i64 %boxed)
  %rows.at = getelementptr i8, ptr %h, i64 24
  store i64 %a, ptr %rows.at, align 8
  ; The capacity of a vector, the columns of a matrix.
  %is_vector = icmp eq i64 %dimensions, 1
  %second = select i1 %is_vector, i64 %a, i64 %b
  %second.at = getelementptr i8, ptr %h, i64 32
  store i64 %second, ptr %second.at, align 8
  %has_layers = icmp eq i64 %dimensions, 3
  br i1 %has_layers, label %layers, label %done
layers:
  %layers.at = getelementptr i8, ptr %h, i64 40
  store i64 %c, ptr %layers.at, align 8
  br label %done
done:
  ret ptr %h
}

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)

; Where the header of an array ends, and its owner follows.
define linkonce_odr i64 @enzyme.header_bytes(ptr %array) {
  %flags.at = getelementptr i8, ptr %array, i64 16
  %flags = load i16, ptr %flags.at, align 8
  %bits = lshr i16 %flags, 2
  %dimensions16 = and i16 %bits, 511
  %dimensions = zext i16 %dimensions16 to i64
  %is_few = icmp ult i64 %dimensions, 2
  %at_least = select i1 %is_few, i64 2, i64 %dimensions
  %all = mul i64 %at_least, 8
  %bytes = add i64 %all, 24
  ret i64 %bytes
}

; What elements are: 1, references; 2, structures with such; 4, values of one of several types; 0, others.
define linkonce_odr i64 @julia.array_kind(ptr %array) {
top:
  %flags.at = getelementptr i8, ptr %array, i64 16
  %flags = load i16, ptr %flags.at, align 8
  %kind.bits = lshr i16 %flags, 12
  %kind16 = and i16 %kind.bits, 3
  %kind = zext i16 %kind16 to i64
  %type = call ptr @julia.typeof(ptr %array)
  ; The type of elements is the first parameter (a list: number, first).
  %parameters.at = getelementptr i8, ptr %type, i64 16
  %parameters = load ptr, ptr %parameters.at, align 8
  %element.at = getelementptr i8, ptr %parameters, i64 8
  %element = load ptr, ptr %element.at, align 8
  %element.type = call ptr @julia.typeof(ptr %element)
  %union = load ptr, ptr @jl_uniontype_type, align 8
  %is_union = icmp eq ptr %element.type, %union
  %are_values = icmp eq i64 %kind, 0
  %has_tags = and i1 %is_union, %are_values
  %found = select i1 %has_tags, i64 4, i64 %kind
  ret i64 %found
}

; Of the numbers of elements' types.
define linkonce_odr void @julia.move_tags(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  ret void
}
define linkonce_odr i8 @julia.get_tag(ptr %at) {
  %tag = load i8, ptr %at, align 1
  ret i8 %tag
}
define linkonce_odr void @julia.set_tag(ptr %at, i8 %tag) {
  store i8 %tag, ptr %at, align 1
  ret void
}
define linkonce_odr void @julia.clear_tags(ptr %to, i64 %n) {
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 %n, i1 false)
  ret void
}

; As an array; `known`: its kind, where it is known that it may be one of unions.
define linkonce_odr noalias ptr @julia.array_header_like(i64 %some, i64 %known, ptr %array) {
top:
  %type = call ptr @julia.typeof(ptr %array)
  %flags.from = getelementptr i8, ptr %array, i64 16
  %flags = load i16, ptr %flags.from, align 8
  %kind = call i64 @julia.array_kind(ptr %array)
  %is_union = icmp ugt i64 %kind, 3
  %is_unknown = icmp ult i64 %known, 4
  %bad = and i1 %is_union, %is_unknown
  br i1 %bad, label %wrong, label %good
wrong:
  call void @jl_error(ptr @enzyme.of_unions)
  unreachable
good:
  %bytes = call i64 @enzyme.header_bytes(ptr %array)
  %with_owner = add i64 %bytes, 8
  %h = call ptr @enzyme.object(i64 %with_owner, ptr %type)
  %size.from = getelementptr i8, ptr %array, i64 18
  %size16 = load i16, ptr %size.from, align 2
  %size = zext i16 %size16 to i64
  %length.from = getelementptr i8, ptr %array, i64 8
  %length = load i64, ptr %length.from, align 8
  %data.bytes = mul i64 %length, %size
  call void @enzyme.first_data(ptr %h, i64 %data.bytes, i64 %kind)
  %length.at = getelementptr i8, ptr %h, i64 8
  store i64 %length, ptr %length.at, align 8
  %size.at = getelementptr i8, ptr %h, i64 18
  store i16 %size16, ptr %size.at, align 2
  %count = sub i64 %bytes, 24
  %to = getelementptr i8, ptr %h, i64 24
  %from = getelementptr i8, ptr %array, i64 24
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %count, i1 false)
  %bits = and i16 %flags, 2044
  call void @enzyme.fill_flags(ptr %h, i16 %bits, i64 %kind)
  %is_one = icmp eq i16 %bits, 4
  br i1 %is_one, label %vector, label %done
vector:
  %capacity.at = getelementptr i8, ptr %h, i64 32
  store i64 %length, ptr %capacity.at, align 8
  br label %done
done:
  ret ptr %h
}

define linkonce_odr noalias ptr @julia.array_header_reshaped(i64 %bytes, i64 %dimensions, ptr %type, ptr %array, ptr %sizes) {
  %roots = call ptr @enzyme.room()
  %h = call ptr @jl_reshape_array(ptr %type, ptr %array, ptr %sizes)
  call void @enzyme.put(ptr %roots, ptr %h)
  ret ptr %h
}

; All that was made in a call becomes as Julia makes it, and old objects are looked at again: what is new in them was stored without a word.
define void @enzyme_seal(ptr %roots) {
top:
  %length.at = getelementptr i8, ptr %roots, i64 8
  %length = load i64, ptr %length.at, align 8
  %data = load ptr, ptr %roots, align 8
  %arrays = load ptr, ptr @jl_array_typename, align 8
  br label %next
next:
  %n = phi i64 [ 0, %top ], [ %n1, %more ]
  %is_last = icmp eq i64 %n, %length
  br i1 %is_last, label %done, label %look
look:
  %place = getelementptr ptr, ptr %data, i64 %n
  %object = load ptr, ptr %place, align 8
  %is_none = icmp eq ptr %object, null
  br i1 %is_none, label %more, label %some
some:
  %type = call ptr @julia.typeof(ptr %object)
  %name = load ptr, ptr %type, align 8
  %is_array = icmp eq ptr %name, %arrays
  br i1 %is_array, label %array, label %tell
array:
  call void @enzyme.seal_array(ptr %object)
  br label %tell
tell:
  call void @enzyme.tell(ptr %object)
  br label %more
more:
  %n1 = add i64 %n, 1
  br label %next
done:
  ret void
}

define linkonce_odr void @enzyme.seal_array(ptr %array) {
top:
  %flags.at = getelementptr i8, ptr %array, i64 16
  %flags = load i16, ptr %flags.at, align 8
  %how = and i16 %flags, 3
  switch i16 %how, label %done [ i16 0, label %own
                                 i16 3, label %shared ]
; Data in itself lies within its first bytes: such an array is Julia's.
own:
  %data = load ptr, ptr %array, align 8
  %data.number = ptrtoint ptr %data to i64
  %array.number = ptrtoint ptr %array to i64
  %distance = sub i64 %data.number, %array.number
  %is_inside = icmp ult i64 %distance, 4096
  br i1 %is_inside, label %done, label %ours
ours:
  %is_none = icmp eq ptr %data, null
  br i1 %is_none, label %empty, label %full
; An exception came before its data.
empty:
  store ptr %array, ptr %array, align 8
  %length.at = getelementptr i8, ptr %array, i64 8
  store i64 0, ptr %length.at, align 8
  %rows.at = getelementptr i8, ptr %array, i64 24
  store i64 0, ptr %rows.at, align 8
  br label %done
full:
  %kind = and i16 %flags, 8192
  %is_mixed = icmp ne i16 %kind, 0
  br i1 %is_mixed, label %mixed, label %plain
; The collector asks the owner for references: a copy, as Julia makes one.
mixed:
  %copy = call ptr @jl_array_copy(ptr %array)
  %copied = load ptr, ptr %copy, align 8
  store ptr %copied, ptr %array, align 8
  %copied.offset = getelementptr i8, ptr %array, i64 20
  store i32 0, ptr %copied.offset, align 4
  br label %owned
; Elements may have been put before the first one, or taken from there.
plain:
  %offset.at = getelementptr i8, ptr %array, i64 20
  %offset32 = load i32, ptr %offset.at, align 4
  %offset = zext i32 %offset32 to i64
  %size.at = getelementptr i8, ptr %array, i64 18
  %size16 = load i16, ptr %size.at, align 2
  %size = zext i16 %size16 to i64
  %moved = mul i64 %offset, %size
  %before = add i64 %moved, 16
  %back = sub i64 0, %before
  %owner.from = getelementptr i8, ptr %data, i64 %back
  %memory = load ptr, ptr %owner.from, align 8
  br label %owned
owned:
  %owner = phi ptr [ %copy, %mixed ], [ %memory, %plain ]
  %bytes = call i64 @enzyme.header_bytes(ptr %array)
  %owner.at = getelementptr i8, ptr %array, i64 %bytes
  store ptr %owner, ptr %owner.at, align 8
  %sealed = or i16 %flags, 16387
  store i16 %sealed, ptr %flags.at, align 8
  br label %done
; Another shape of an array, which came before it, and whose data may have moved.
shared:
  %first.bytes = call i64 @enzyme.header_bytes(ptr %array)
  %first.at = getelementptr i8, ptr %array, i64 %first.bytes
  %first = load ptr, ptr %first.at, align 8
  %first.type = call ptr @julia.typeof(ptr %first)
  %first.name = load ptr, ptr %first.type, align 8
  %arrays = load ptr, ptr @jl_array_typename, align 8
  %is_array = icmp eq ptr %first.name, %arrays
  br i1 %is_array, label %other, label %done
other:
  %first.flags.at = getelementptr i8, ptr %first, i64 16
  %first.flags = load i16, ptr %first.flags.at, align 8
  %first.how = and i16 %first.flags, 3
  %is_sealed = icmp eq i16 %first.how, 3
  br i1 %is_sealed, label %follow, label %done
follow:
  %there = load ptr, ptr %first, align 8
  store ptr %there, ptr %array, align 8
  br label %done
done:
  ret void
}

define linkonce_odr void @julia.write_barrier(ptr %parent, ...) {
  call void @enzyme.tell(ptr %parent)
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

; The same, of functions whose handlers the engine was not told of.
define linkonce_odr i32 @julia.except_enter.kept() alwaysinline returns_twice {
  %handler = alloca [512 x i8], align 16
  call void @llvm.lifetime.start.p0(ptr %handler)
  call void @jl_enter_handler(ptr %handler)
  %again = call i32 @__sigsetjmp(ptr %handler, i32 0) returns_twice
  ret i32 %again
}
