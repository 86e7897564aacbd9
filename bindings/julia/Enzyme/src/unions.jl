# Arrays of values of one of several types (`Vector{Union{Float64,Missing}}`), as part of the models of arrays (models.ll). An element has room for the
# largest of the types, and the number of its type is a byte: these follow the data, behind what a vector has room for.
#
# In modules without such arrays the models ask nothing of the run-time system.
# Not handled: arrays of structures that hold references.

module Unions

import ..LLVM, ..seldom

"What elements are, beside their size: values of one of several types, with floats of one sort in one place; of other types."
const FLOATS, OTHERS = 4, 8

"Size of an element and its kind: 0, a value; 1, a reference; 2, a structure with references; 4 and 8, a value of one of several types. Nothing where models do not fit."
function element(@nospecialize(type))
    type isa DataType && type <: Array && isconcretetype(type) || return nothing
    T = eltype(type)
    Base.isbitsunion(T) && return mixes(T) ? nothing : (Int(Base.elsize(type)), kind(T))
    Base.allocatedinline(T) || return (8, 1)
    isbitstype(T) || return T isa DataType && !has_union(T) ? (Base.elsize(type), 2) : nothing
    # Elements lie at multiples of their size.
    (Base.elsize(type), 0)
end

"Whether a structure holds a value of one of several types."
has_union(@nospecialize(T)) = T isa DataType && any(F -> Base.isbitsunion(F) || Base.allocatedinline(F) && has_union(F), fieldtypes(T))

"Of the elements of an array of such a union: what is known of their bytes."
kind(@nospecialize(E)) = float_of(E) === nothing ? OTHERS : FLOATS

"The type of the floats that some elements are, whole (complex ones too); nothing where there are none, or structures with floats."
function float_of(@nospecialize(E))
    found = nothing
    for T in Base.uniontypes(E)
        has_floats(T) || continue
        F = T === ComplexF64 ? Float64 : T === ComplexF32 ? Float32 : T
        (F === Float64 || F === Float32) && (found === nothing || found === F) || return nothing
        found = F
    end
    found
end
has_floats(@nospecialize(T)) = parentmodule(Unions).has_floats(T)::Bool

"Whether one place holds a float of one size in some elements, and of another in others: the engine knows one type of each place."
function mixes(@nospecialize(E))
    floats = Dict{Int,Any}()
    for T in Base.uniontypes(E)
        mixes!(floats, T, 0) && return true
    end
    false
end
function mixes!(floats::Dict{Int,Any}, @nospecialize(T), at::Int)
    if T === Float64 || T === Float32 || T === Float16
        for byte in at:(at + sizeof(T) - 1)
            get!(floats, byte, T) === T || return true
        end
        return false
    end
    T isa DataType && isconcretetype(T) && any(n -> mixes!(floats, fieldtype(T, n), at + Int(fieldoffset(T, n))), 1:fieldcount(T))
end

is_array(@nospecialize(T)) = T isa DataType && T <: Array && isconcretetype(T) && Base.isbitsunion(eltype(T))

# Plain loops: this runs while the first derivative of a process is awaited.
"Whether a value of the type is, or leads to, such an array; `mixed`: one with floats of two sizes in one place."
leads_to_array(@nospecialize(T), mixed::Bool = false) = leads_to(T, mixed, Any[])
function leads_to(@nospecialize(T), mixed::Bool, seen::Vector{Any})
    T isa Union && return leads_to(T.a, mixed, seen) || leads_to(T.b, mixed, seen)
    T isa DataType && isconcretetype(T) && !isbitstype(T) || return false
    for S in seen
        S === T && return false
    end
    push!(seen, T)
    if T <: Array
        E = eltype(T)
        Base.isbitsunion(E) && return !mixed || seldom(mixes, E)::Bool
        return leads_to(E, mixed, seen)
    end
    for n in 1:fieldcount(T)
        leads_to(fieldtype(T, n), mixed, seen) && return true
    end
    false
end

"Whether a module has such arrays: it names the type of one, or one is among the types of what it is given."
function are_in(objects::IdDict{Any,Any}, @nospecialize(signature))
    for T in signature.parameters
        leads_to_array(T) && return true
    end
    for at in keys(objects)
        x = unsafe_pointer_to_objref(Ptr{Cvoid}(at::UInt))
        leads_to_array(x isa Type ? x : typeof(x)) && return true
    end
    false
end

"Whether a load or store is of such a number."
function is_tag(c::LLVM.Ref, i::LLVM.Ref)
    tag = LLVM.GetMetadata(i, LLVM.GetMDKindIDInContext(c, "tbaa", 4))
    tag != C_NULL && is_of_number(tag)
end
is_of_number(tag::LLVM.Ref) = LLVM.md_string(LLVM.operands(LLVM.operands(tag)[2])[1]) == NUMBERS
"Julia's name for accesses to them."
const NUMBERS = "jtbaa_arrayselbyte"

const PLAIN = """
    define i64 @enzyme.kind(i8* %array) alwaysinline {
      %flags_at = getelementptr i8, i8* %array, i64 16
      %flags_place = bitcast i8* %flags_at to i16*
      %flags = load i16, i16* %flags_place, align 8
      %kind_bits = lshr i16 %flags, 12
      %kind_low = and i16 %kind_bits, 3
      %kind = zext i16 %kind_low to i64
      ret i64 %kind
    }
    define i8* @enzyme.tags(i8* %array) alwaysinline {
      ret i8* %array
    }
    """

"A function of models that says of which floats the data of an array are, by the size of one."
states(size::Int, float::String) = """
    define void @enzyme.state.$size(i8* %array) alwaysinline {
      %data_place = bitcast i8* %array to i8**
      %data = load i8*, i8** %data_place, align 8
      %length_at = getelementptr i8, i8* %array, i64 8
      %length_place = bitcast i8* %length_at to i64*
      %length = load i64, i64* %length_place, align 8
      %bytes = call i64 @enzyme.bytes_of(i8* %array, i64 %length)
      call void @__enzyme_$float(i8* %data, i64 %bytes)
      ret void
    }
    """

const TEXT = """
    declare void @__enzyme_double(i8*, i64)
    declare void @__enzyme_float(i8*, i64)
    declare i8 @julia.get_tag(i8* nocapture readonly) argmemonly readonly nounwind "enzyme_inactive"
    declare void @julia.set_tag(i8* nocapture, i8) argmemonly nounwind "enzyme_inactive"
    define i8 @enzyme.get_tag(i8* %at) alwaysinline {
      %tag = call i8 @julia.get_tag(i8* %at)
      ret i8 %tag
    }
    define void @enzyme.set_tag(i8* %at, i8 %tag) alwaysinline {
      call void @julia.set_tag(i8* %at, i8 %tag)
      ret void
    }
    define i8* @enzyme.move_tags(i8* %to, i8* %from, i64 %n) alwaysinline {
      call void @julia.move_tags(i8* %to, i8* %from, i64 %n)
      ret i8* %to
    }
    declare i64 @julia.array_kind(i8*) nounwind readonly "enzyme_inactive"

    define i64 @enzyme.kind(i8* %array) alwaysinline {
      %kind = call i64 @julia.array_kind(i8* %array)
      ret i64 %kind
    }
    ; So many elements lie before the numbers, of which a vector may have room for more than there are.
    define i64 @enzyme.places(i8* %array) alwaysinline {
      %length_at = getelementptr i8, i8* %array, i64 8
      %length_place = bitcast i8* %length_at to i64*
      %length = load i64, i64* %length_place, align 8
      %flags_at = getelementptr i8, i8* %array, i64 16
      %flags_place = bitcast i8* %flags_at to i16*
      %flags = load i16, i16* %flags_place, align 8
      %dimensions = and i16 %flags, 2044
      %is_vector = icmp eq i16 %dimensions, 4
      %offset_at = getelementptr i8, i8* %array, i64 20
      %offset_place = bitcast i8* %offset_at to i32*
      %offset32 = load i32, i32* %offset_place, align 4
      %offset = zext i32 %offset32 to i64
      %capacity_at = getelementptr i8, i8* %array, i64 32
      %capacity_place = bitcast i8* %capacity_at to i64*
      %capacity = load i64, i64* %capacity_place, align 8
      %room = sub i64 %capacity, %offset
      %places = select i1 %is_vector, i64 %room, i64 %length
      ret i64 %places
    }
    define i8* @enzyme.tags(i8* %array) alwaysinline {
      %places = call i64 @enzyme.places(i8* %array)
      %offset_at = getelementptr i8, i8* %array, i64 20
      %offset_place = bitcast i8* %offset_at to i32*
      %offset32 = load i32, i32* %offset_place, align 4
      %offset = zext i32 %offset32 to i64
      %bytes = call i64 @enzyme.bytes_of(i8* %array, i64 %places)
      %before = add i64 %bytes, %offset
      %data_place = bitcast i8* %array to i8**
      %data = load i8*, i8** %data_place, align 8
      %tags = getelementptr i8, i8* %data, i64 %before
      ret i8* %tags
    }
    """ * states(8, "double") * states(4, "float")

end
