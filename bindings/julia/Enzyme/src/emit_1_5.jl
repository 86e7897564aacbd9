# A method's LLVM module out of Julia 1.5 (libjulia's own code generator, LLVM 9).
#
# `jl_create_native` gives one module with the method and everything that inference can reach from it; Julia's passes then run up to the
# point where the collector's frames would be put in, and the address spaces that mark its pointers go. What is left of Julia is
# calls by the names of its runtime and `julia.*` (see normalise.jl).
#
# Depends on Julia 1.5: the signatures of jl_create_native and its kin, of Base.CodegenParams, and one LLVM context for all. Files for other versions
# define the same names.

module Emit

import ..LLVM

"What is missing for derivatives on this version."
const missing_parts = ""

"The method instance that a call of a function with arguments of these types reaches, or nothing."
function method_instance(@nospecialize(signature::Type), world::UInt)
    match = Base._methods_by_ftype(signature, 1, world)
    (match === false || length(match) != 1) && return nothing
    types, environment, method = match[1]::Core.SimpleVector
    ccall(:jl_specializations_get_linfo, Ref{Core.MethodInstance}, (Any, Any, Any), method, types, environment)
end

"The code of a method instance that is valid in this world; nothing if it was not inferred yet or is out of date."
function code_instance(instance::Core.MethodInstance, world::UInt)
    code = ccall(:jl_rettype_inferred, Any, (Any, UInt, UInt), instance, world, world)
    code isa Core.CodeInstance ? code : nothing
end

world_age() = ccall(:jl_get_world_counter, UInt, ())

struct Native
    handle::Ptr{Cvoid}
    mod::LLVM.Module
end

function native(instance::Core.MethodInstance)
    # static_alloc: without it calls of C functions by name would always throw. Line tables: refusals want to say where.
    params = Base.CodegenParams(track_allocations = false, code_coverage = false, static_alloc = true, prefer_specsig = true,
        gnu_pubnames = false, debug_info_kind = Cint(2))
    handle = ccall(:jl_create_native, Ptr{Cvoid}, (Vector{Core.MethodInstance}, Base.CodegenParams, Cint),
        Core.MethodInstance[instance], params, 1)
    Native(handle, ccall(:jl_get_llvm_module, Ptr{Cvoid}, (Ptr{Cvoid},), handle))
end

"The symbol of a method's code with unboxed parameters; empty if the module has none."
function symbol(native::Native, code::Core.CodeInstance)
    boxed, special = Ref{Int32}(-1), Ref{Int32}(-1)
    ccall(:jl_get_function_id, Cvoid, (Ptr{Cvoid}, Any, Ptr{Int32}, Ptr{Int32}), native.handle, code, boxed, special)
    special[] < 1 && return ""
    found = ccall(:jl_get_llvm_function, Ptr{Cvoid}, (Ptr{Cvoid}, UInt32), native.handle, special[] - 1)
    found == C_NULL ? "" : LLVM.name(found)
end

"All specialisations of a method."
specializations(m::Method) = Core.MethodInstance[m.specializations[n] for n in 1:length(m.specializations) if isassigned(m.specializations, n)]

"Defines a method anew, with its code as `change!` leaves it."
function redefine!(change!, m::Method)
    code = copy(Base.uncompressed_ast(m))
    change!(code)
    variables, signature = Any[], m.sig
    while signature isa UnionAll
        push!(variables, signature.var)
        signature = signature.body
    end
    head = Core.svec(Core.svec(signature.parameters...), Core.svec(variables...), LineNumberNode(Int(m.line), m.file))
    ccall(:jl_method_def, Cvoid, (Any, Any, Any), head, code, m.module)
end

"Julia's passes, as far as the lowering of its own intrinsics."
optimise!(m::LLVM.Module) = LLVM.run_passes(p -> ccall(:jl_add_optimization_passes, Cvoid, (Ptr{Cvoid}, Cint, Cint), p, 2, 0), m)

strip_address_spaces!(m::LLVM.Module) = LLVM.run_passes(p -> ccall(:LLVMExtraAddRemoveJuliaAddrspacesPass, Cvoid, (Ptr{Cvoid},), p), m)

"Whether a function has methods."
has_methods(@nospecialize(f)) = typeof(f).name.mt.defs !== nothing

is_mutable(@nospecialize(T)) = T isa DataType && T.mutable

"So many fields are set by all constructors."
initialized(@nospecialize(T)) = T.ninitialized

"Whether a function of this type has methods with keywords."
has_keywords(@nospecialize(F)) = isdefined(F.name.mt, :kwsorter)

"Offsets in the header of an array: data, length, flags, size of an element, offset, first dimension."
const ARRAY = (data = 0, length = 8, flags = 16, element = 18, offset = 20, rows = 24)

"Bytes of the header of an array of so many dimensions."
array_header(dimensions::Int) = 24 + 8 * max(dimensions, 2)

end
