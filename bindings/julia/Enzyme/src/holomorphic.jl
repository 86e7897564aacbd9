# Reverse mode of holomorphic functions: the gradient of the real part, conjugated (Cauchy and Riemann).

function autodiff(mode::HolomorphicMode, f::Annotation, ::Type{RA}, args::Vararg{Annotation,N}) where {RA<:Annotation,N}
    RA <: Active || throw(ArgumentError("autodiff(ReverseHolomorphic, ...): the result is a complex number: use Active"))
    plain = set_strong_zero(set_runtime_activity(ReverseWithPrimal, runtime_activity(mode)), strong_zero(mode))
    own = map(with_own_shadow, args)
    part(annotations...) = real(f.val(annotations...))
    derivatives, _ = autodiff(plain, Const(part), Active, own...)
    foreach(add_conjugate!, args, own)
    out = map(d -> d === nothing ? nothing : conj(d), derivatives)
    needs_primal(mode) ? (out, f.val(map(a -> a.val, args)...)) : (out,)
end
autodiff(mode::HolomorphicMode, f::Annotation, args::Vararg{Annotation,N}) where {N} = autodiff(mode, f, Active, args...)

with_own_shadow(a::Union{Const,Active}) = a
with_own_shadow(a::Duplicated{<:Array}) = Duplicated(a.val, make_zero(a.val))
with_own_shadow(a) = throw(ArgumentError("autodiff(ReverseHolomorphic, ...): a $(typeof(a)): arguments are Const, Active, or Duplicated arrays"))

add_conjugate!(a, own) = nothing
add_conjugate!(a::Duplicated, own) = (a.dval .+= conj.(own.dval); nothing)
