# Derivatives against central differences, for tests of users: along a random direction, in all that a function returns and leaves in its arguments.

"All floats of a value, in a fixed order."
floats(x) = (out = Float64[]; map_floats(v -> (push!(out, v); v), x); out)

"A value of the shape of `x` with these floats."
function with_floats(x, values)
    n = 0
    map_floats(_ -> values[n += 1], x)
end

# Numbers that look random and are the same each time.
direction(x, start) = (n = start; map_floats(_ -> (n += 1; 0.3 + 0.7 * sin(1.7n + 0.3n^2)), x))

"A step for differences: of a function of `Float32`s rounding is larger."
step_of(args) = any(a -> has_single(typeof(a[1])), args) ? 2.0^-8 : 1e-6
has_single(T) = T === Float32 || T isa DataType && (T <: Array ? has_single(eltype(T)) : isconcretetype(T) && any(F -> F !== T && has_single(F), fieldtypes(T)))
tolerance(args) = any(a -> has_single(typeof(a[1])), args) ? 1e-3 : 1e-6

inner(a, b) = reduce(+, floats(a) .* floats(b); init = 0.0)

moved(x, d, h) = with_floats(x, floats(x) .+ h .* floats(d))

# What only calls the function is not compiled for each.

"The arguments, moved by so much along their directions."
moved_all(@nospecialize(args), @nospecialize(along), h) =
    Any[d === nothing ? map_floats(identity, a[1]) : moved(a[1], d, h) for (a, d) in zip(args, along)]

"The result and what is left in the arguments, times the seeds."
function seeded(@nospecialize(f), @nospecialize(RA), @nospecialize(seeds), xs)
    r = f(xs...)
    sum = RA <: Active ? Float64(r) : 0.0
    for (x, s) in zip(xs, seeds)
        s === nothing || (sum += inner(s, x))
    end
    sum
end

"The floats of the result and of what is left in the arguments."
function floats_after(@nospecialize(f), @nospecialize(RA), @nospecialize(along), xs)
    r = f(xs...)
    out = RA <: Const ? Float64[] : floats(r)
    for (x, d) in zip(xs, along)
        d === nothing || append!(out, floats(x))
    end
    out
end

function compare(what, got, expected, rtol, atol)
    isapprox(got, expected; rtol = rtol, atol = atol) && return true
    error("$what: the derivative is $got, differences give $expected")
end

split_pair(a::Tuple) = a
split_pair(a) = (a, Const)

"""
    test_reverse(f, result activity, (value, activity)...; rtol, atol)

Compares reverse mode with central differences; the activity of an argument is a type (`Const` for a bare value). Arguments that the function overwrites
take part with adjoints of their own. `true`, or an error that says what differs.
"""
function test_reverse(f, RA, pairs...; rtol = nothing, atol = nothing, mode = ReverseWithPrimal)
    args = map(split_pair, pairs)
    step = step_of(args)
    rtol, atol = something(rtol, tolerance(args)), something(atol, tolerance(args) / 10)
    seeds = map(((n, (x, A)),) -> A <: Duplicated ? direction(x, 40n) : nothing, Tuple(enumerate(args)))
    along = map(((n, (x, A)),) -> A <: Const ? nothing : direction(x, 100 + 40n), Tuple(enumerate(args)))
    total(h) = seeded(f, RA, seeds, moved_all(args, along, h))
    expected = (total(step) - total(-step)) / 2step
    given = map(args, seeds) do (x, A), s
        x = map_floats(identity, x)
        A <: Active ? Active(x) : A <: Duplicated ? Duplicated(x, map_floats(identity, s)) : A <: MixedDuplicated ? MixedDuplicated(x, Ref(make_zero(x))) : Const(x)
    end
    out = autodiff(mode, Const(f), RA, given...)
    RA <: Active && compare("$f, value", out[2], f(map(a -> map_floats(identity, a[1]), args)...), rtol, atol)
    got = 0.0
    for (annotation, derivative, d) in zip(given, out[1], along)
        d === nothing || (got += inner(derivative_of(annotation, derivative), d))
    end
    compare("$f, reverse mode", got, expected, rtol, atol)
end

"""
    test_forward(f, result activity, (value, activity)...; rtol, atol)

As `test_reverse`, for forward mode: the tangents of the result and of all that the function leaves in `Duplicated` arguments.
"""
function test_forward(f, RA, pairs...; rtol = nothing, atol = nothing)
    args = map(split_pair, pairs)
    step = step_of(args)
    rtol, atol = something(rtol, tolerance(args)), something(atol, tolerance(args) / 10)
    along = map(((n, (x, A)),) -> A <: Const ? nothing : direction(x, 100 + 40n), Tuple(enumerate(args)))
    all_floats(h) = floats_after(f, RA, along, moved_all(args, along, h))
    expected = (all_floats(step) .- all_floats(-step)) ./ 2step
    given = map(args, along) do (x, A), d
        d === nothing ? Const(map_floats(identity, x)) : Duplicated(map_floats(identity, x), map_floats(identity, d))
    end
    out = autodiff(ForwardWithPrimal, Const(f), RA, given...)
    RA <: Const || compare("$f, value", floats(out[2]), floats(f(map(a -> map_floats(identity, a[1]), args)...)), rtol, atol)
    got = [RA <: Const ? Float64[] : floats(out[1]); reduce(vcat, [floats(a.dval) for a in given if a isa Duplicated]; init = Float64[])]
    # What the function only reads has its own tangent.
    compare("$f, forward mode", got, expected, rtol, atol)
end
