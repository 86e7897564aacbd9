# What the first derivative in a process needs of this package, inferred when the package is precompiled. Functions that are given types are called
# with signatures that inference does not see, so each is named.

for mode in (typeof(Forward), typeof(ForwardWithPrimal), typeof(Reverse), typeof(ReverseWithPrimal)), n in 1:2
    expression = mode <: ForwardMode ? forward_expression : reverse_expression
    precompile(expression, (mode, Type, Type, Type, NTuple{n,DataType}))
    precompile(describe, (mode, Type, NTuple{n,DataType}))
    precompile(plan_of, (Symbol, Parts, Int, mode, String))
end
for n in 1:2, start in (Expr, Nothing)
    precompile(parts_of, (Type, NTuple{n,DataType}, Type, Int, start))
end
for value in (Symbol, Expr)
    precompile(refs_of, (value, Type, Int, Int))
end
precompile(joint_width, (Vector{DataType},))
precompile(check_reverse, (Type, Int))
precompile(check_forward, (Type, Int))
precompile(call_expression, (Plan, Parts, Expr))
precompile(without_collector, (Expr,))
precompile(has_inline_floats, (Type,))
precompile(may_differentiate, (Type,))
precompile(renew!, (Cached, Plan))
precompile(compile, (Plan, Core.MethodInstance, UInt))
precompile(contents, (Plan,))
precompile(thunk_text, (Plan, String))
precompile(Rules.age, ())
precompile(Rules.keep_calls!, ())
precompile(Rules.given, (Function, Int))
precompile(Rules.having, (Emit.Native, Function, UInt))
precompile(Rules.install!, (Emit.Native, Plan, UInt))
precompile(Emit.native, (Core.MethodInstance,))
precompile(Emit.method_instance, (Type, UInt))
precompile(Normalise.mark_mathematics!, (Emit.Native, UInt))
precompile(Normalise.is_method, (Emit.Native, Function, Tuple{DataType}, String, UInt))
precompile(Normalise.rewrite!, (LLVM.Module, String))
precompile(Models.use!, (Emit.Native, UInt))
precompile(Statements.add!, (LLVM.Module, LLVM.Value, Vector{Any}))
precompile(Statements.content!, (Statements.Writer, String, Type, Vector{Any}))
precompile(Statements.object!, (Statements.Writer, String, Type, Vector{Any}))
precompile(Statements.floats, (Type,))
precompile(Library.load, ())
