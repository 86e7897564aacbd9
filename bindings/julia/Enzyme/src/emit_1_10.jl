# A method's LLVM module out of Julia 1.10 and 1.11 (LLVM 15 and 16). NEVER RUN: written after the sources of these versions, for which there was no Julia
# to try it with. See emit_1_5.jl for what each function is for.
#
# Against 1.5: modules are thread-safe ones with a context of their own, jl_create_native takes the module to fill and the world, Julia's
# passes are of the new pass manager.

module Emit

using Libdl
import ..LLVM

"What is missing for derivatives on this version."
const missing_parts = "calls in boxed conventions (julia.call), the run-time system (runtime.ll, models.ll: states of tasks, small type tags" *
    (VERSION < v"1.11-" ? "" : ", arrays on Memory") * ") are written for Julia 1.5"

"The method instance that a call of a function with arguments of these types reaches, or nothing."
function method_instance(@nospecialize(signature::Type), world::UInt)
    found = Base._methods_by_ftype(signature, 1, world)
    (found isa Vector && length(found) == 1) || return nothing
    Core.Compiler.specialize_method(found[1]::Core.MethodMatch)
end

"The code of a method instance that is valid in this world; nothing if it was not inferred yet or is out of date."
function code_instance(instance::Core.MethodInstance, world::UInt)
    code = VERSION < v"1.11-" ? ccall(:jl_rettype_inferred, Any, (Any, UInt, UInt), instance, world, world) :
        ccall(:jl_rettype_inferred, Any, (Any, Any, UInt, UInt), nothing, instance, world, world)
    code isa Core.CodeInstance ? code : nothing
end

world_age() = Base.get_world_counter()

struct Native
    handle::Ptr{Cvoid}
    mod::LLVM.Module
end

"The module in a thread-safe one, which its owner keeps: nobody else knows of it."
function inner_module(shared::Ptr{Cvoid})
    found = Ref{LLVM.Module}(C_NULL)
    take = @cfunction((place, m) -> (unsafe_store!(Ptr{LLVM.Module}(place), m); C_NULL), Ptr{Cvoid}, (Ptr{Cvoid}, LLVM.Module))
    ccall((:LLVMOrcThreadSafeModuleWithModuleDo, LLVM.library), Ptr{Cvoid}, (Ptr{Cvoid}, Ptr{Cvoid}, Ref{LLVM.Module}), shared, take, found)
    found[]
end

"An empty module, which Julia fills."
function shared_module()
    context = ccall((:LLVMOrcCreateNewThreadSafeContext, LLVM.library), Ptr{Cvoid}, ())
    inside = ccall((:LLVMOrcThreadSafeContextGetContext, LLVM.library), Ptr{Cvoid}, (Ptr{Cvoid},), context)
    m = ccall((:LLVMModuleCreateWithNameInContext, LLVM.library), LLVM.Module, (Cstring, Ptr{Cvoid}), "julia", inside)
    shared = ccall((:LLVMOrcCreateNewThreadSafeModule, LLVM.library), Ptr{Cvoid}, (LLVM.Module, Ptr{Cvoid}), m, context)
    ccall((:LLVMOrcDisposeThreadSafeContext, LLVM.library), Cvoid, (Ptr{Cvoid},), context)
    shared
end

function native(instance::Core.MethodInstance)
    options = (track_allocations = false, code_coverage = false, prefer_specsig = true, gnu_pubnames = false, debug_info_kind = Cint(2))
    # The state of the task is asked for, not handed on in a register.
    params = Base.CodegenParams(; options..., (:gcstack_arg in fieldnames(Base.CodegenParams) ? (gcstack_arg = false,) : NamedTuple())...)
    # Policy "extern", no image, no linkage between images.
    handle = ccall(:jl_create_native, Ptr{Cvoid}, (Vector{Core.MethodInstance}, Ptr{Cvoid}, Ref{Base.CodegenParams}, Cint, Cint, Cint, Csize_t),
        Core.MethodInstance[instance], shared_module(), params, 1, 0, 0, world_age())
    Native(handle, inner_module(ccall(:jl_get_llvm_module, Ptr{Cvoid}, (Ptr{Cvoid},), handle)))
end

"The symbol of a method's code with unboxed parameters; empty if the module has none."
function symbol(native::Native, code::Core.CodeInstance)
    boxed, special = Ref{Int32}(-1), Ref{Int32}(-1)
    ccall(:jl_get_function_id, Cvoid, (Ptr{Cvoid}, Any, Ptr{Int32}, Ptr{Int32}), native.handle, code, boxed, special)
    special[] < 1 && return ""
    found = ccall(:jl_get_llvm_function, Ptr{Cvoid}, (Ptr{Cvoid}, UInt32), native.handle, special[] - 1)
    found == C_NULL ? "" : LLVM.name(found)
end

"All specialisations of a method: none, one, or a list with holes."
function specializations(m::Method)
    all = m.specializations
    all isa Core.MethodInstance ? Core.MethodInstance[all] : Core.MethodInstance[i for i in all if i isa Core.MethodInstance]
end

"""
Runs passes of Julia's own. Their names are known to a PassBuilder that Julia has filled, which LLVM's C interface has no way to make: libLLVMExtra of
LLVM.jl has one.
"""
function passes!(m::LLVM.Module, names::String)
    extra = findlast(p -> startswith(basename(p), "libLLVMExtra"), Libdl.dllist())
    extra === nothing && error("Enzyme: Julia's passes can't be run: load LLVM.jl before the first derivative")
    library = Libdl.dlopen(Libdl.dllist()[extra])
    entry(name) = Libdl.dlsym(library, name)
    extensions = ccall(entry(:LLVMCreatePassBuilderExtensions), Ptr{Cvoid}, ())
    ccall(entry(:LLVMPassBuilderExtensionsSetRegistrationCallback), Cvoid, (Ptr{Cvoid}, Ptr{Cvoid}), extensions, cglobal(:jl_register_passbuilder_callbacks))
    options = ccall((:LLVMCreatePassBuilderOptions, LLVM.library), Ptr{Cvoid}, ())
    failed = ccall(entry(:LLVMRunJuliaPasses), Ptr{Cvoid}, (LLVM.Module, Cstring, Ptr{Cvoid}, Ptr{Cvoid}, Ptr{Cvoid}), m, names, C_NULL, options, extensions)
    ccall((:LLVMDisposePassBuilderOptions, LLVM.library), Cvoid, (Ptr{Cvoid},), options)
    ccall(entry(:LLVMDisposePassBuilderExtensions), Cvoid, (Ptr{Cvoid},), extensions)
    failed == C_NULL || error("Enzyme: internal: Julia's passes failed")
end

"Julia's passes, as far as the lowering of its own intrinsics."
optimise!(m::LLVM.Module) = passes!(m, "julia<level=2;no_lower_intrinsics>")

strip_address_spaces!(m::LLVM.Module) = passes!(m, "RemoveJuliaAddrspaces")

"Whether a function has methods."
has_methods(@nospecialize(f)) = !isempty(methods(f))

is_mutable(@nospecialize(T)) = T isa DataType && Base.ismutabletype(T)

"So many fields are set by all constructors."
initialized(@nospecialize(T)) = fieldcount(T) - T.name.n_uninitialized

"Whether a function of this type has methods with keywords: methods of Core.kwcall."
has_keywords(@nospecialize(F)) = !isempty(methods(Core.kwcall, Tuple{Any,F,Vararg}))

"Defines a method anew, with its code as `change!` leaves it."
function redefine!(change!, m::Method)
    code = copy(Base.uncompressed_ir(m))
    change!(code)
    variables, signature = Any[], m.sig
    while signature isa UnionAll
        push!(variables, signature.var)
        signature = signature.body
    end
    head = Core.svec(Core.svec(signature.parameters...), Core.svec(variables...), LineNumberNode(Int(m.line), m.file))
    ccall(:jl_method_def, Any, (Any, Ptr{Cvoid}, Any, Any), head, C_NULL, code, m.module)
end

"Offsets in the header of an array (1.10, as 1.5)."
const ARRAY = (data = 0, length = 8, flags = 16, element = 18, offset = 20, rows = 24)

"Bytes of the header of an array of so many dimensions."
array_header(dimensions::Int) = 24 + 8 * max(dimensions, 2)

end
