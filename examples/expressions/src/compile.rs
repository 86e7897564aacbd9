//! Expressions to code: a function of LLVM by inkwell, its gradient by the engine, both by inkwell's JIT.

use enzyme_core::{Named, Options};
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::execution_engine::ExecutionEngine;
use inkwell::intrinsics::Intrinsic;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::types::FloatType;
use inkwell::values::{FloatValue, FunctionValue, PointerValue};
use inkwell::{AddressSpace, FloatPredicate, OptimizationLevel};

use crate::Error;
use crate::parse::Expression;

/// The function's symbol; the engine appends `_gradient`.
const NAME: &str = "f";

/// An expression as code that can be called.
pub struct Code<'ctx> {
    engine: ExecutionEngine<'ctx>,
    variables: usize,
}

impl Code<'_> {
    /// Value and gradient at a point, if that has as many numbers as there are variables.
    pub fn value_and_gradient(&self, x: &[f64]) -> Result<(f64, Vec<f64>), Error> {
        if x.len() != self.variables {
            return Err(Error::Point { given: x.len(), wanted: self.variables });
        }
        type Gradient = unsafe extern "C" fn(*const f64, *mut f64) -> f64;
        let name = format!("{NAME}_gradient");
        // SAFETY: `compile` has asked for a gradient with its value, of a function of one pointer: that has this signature.
        let gradient = unsafe { self.engine.get_function::<Gradient>(&name) };
        let gradient = gradient.map_err(|error| Error::Llvm(error.to_string()))?;
        // Derivatives are added to what is there.
        let mut dx = vec![0.0; x.len()];
        // SAFETY: the code reads `x` and adds to `dx`, for each variable of the expression; both have so many elements.
        let value = unsafe { gradient.call(x.as_ptr(), dx.as_mut_ptr()) };
        Ok((value, dx))
    }
}

/// Compiles an expression of so many variables.
pub fn compile<'ctx>(context: &'ctx Context, expression: &Expression, variables: usize) -> Result<Code<'ctx>, Error> {
    let module = context.create_module("expression");
    write(context, &module, expression)?;

    // What an expression is to the engine: bitcode in, bitcode with the gradient out.
    let wanted = Named { value: true, ..Named::gradient(NAME) };
    let bitcode = module.write_bitcode_to_memory();
    let derived = enzyme_core::derive(bitcode.as_slice(), &[wanted], &Options::default())?;

    let buffer = MemoryBuffer::create_from_memory_range_copy(&derived, "derivatives");
    let module = Module::parse_bitcode_from_buffer(&buffer, context).map_err(llvm)?;
    let engine = module.create_jit_execution_engine(OptimizationLevel::Default).map_err(llvm)?;
    Ok(Code { engine, variables })
}

fn llvm(error: impl ToString) -> Error {
    Error::Llvm(error.to_string())
}

/// Writes `double f(double *x)` into the module.
fn write<'ctx>(context: &'ctx Context, module: &Module<'ctx>, expression: &Expression) -> Result<(), Error> {
    let float = context.f64_type();
    let address = context.ptr_type(AddressSpace::default());
    let function = module.add_function(NAME, float.fn_type(&[address.into()], false), None);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "start"));
    let x = function.get_first_param().ok_or_else(|| llvm("the function has no parameter"))?.into_pointer_value();
    let mut writer = Writer { context, module, builder, function, float, x, counters: Vec::new() };
    let value = writer.value(expression)?;
    writer.builder.build_return(Some(&value)).map_err(llvm)?;
    module.verify().map_err(llvm)
}

struct Writer<'a, 'ctx> {
    context: &'ctx Context,
    module: &'a Module<'ctx>,
    builder: Builder<'ctx>,
    function: FunctionValue<'ctx>,
    float: FloatType<'ctx>,
    x: PointerValue<'ctx>,
    counters: Vec<FloatValue<'ctx>>,
}

impl<'ctx> Writer<'_, 'ctx> {
    fn value(&mut self, expression: &Expression) -> Result<FloatValue<'ctx>, Error> {
        match expression {
            Expression::Number(number) => Ok(self.float.const_float(*number)),
            Expression::Variable(n) => {
                let index = self.context.i64_type().const_int(*n as u64, false);
                // SAFETY: who calls the code passes an element for each variable.
                let place = unsafe { self.builder.build_in_bounds_gep(self.float, self.x, &[index], "place") };
                let value = self.builder.build_load(self.float, place.map_err(llvm)?, "x").map_err(llvm)?;
                Ok(value.into_float_value())
            }
            Expression::Counter(depth) => {
                self.counters.get(*depth).copied().ok_or_else(|| llvm("a counter outside of its sum"))
            }
            Expression::Binary(sign, sides) => {
                let (a, b) = (self.value(&sides[0])?, self.value(&sides[1])?);
                match sign {
                    '+' => self.builder.build_float_add(a, b, "sum"),
                    '-' => self.builder.build_float_sub(a, b, "difference"),
                    '*' => self.builder.build_float_mul(a, b, "product"),
                    '/' => self.builder.build_float_div(a, b, "quotient"),
                    _ => return self.call("pow", &[a, b]),
                }
                .map_err(llvm)
            }
            Expression::Call(function, argument) => {
                let argument = self.value(argument)?;
                self.call(function, &[argument])
            }
            Expression::If(parts) => self.branches(parts),
            Expression::Sum(parts) => self.sum(parts),
        }
    }

    /// Calls LLVM's intrinsic of this name.
    fn call(&self, name: &str, arguments: &[FloatValue<'ctx>]) -> Result<FloatValue<'ctx>, Error> {
        let intrinsic = Intrinsic::find(&format!("llvm.{name}"));
        let declared = intrinsic.and_then(|i| i.get_declaration(self.module, &[self.float.into()]));
        let declared = declared.ok_or_else(|| llvm(format!("LLVM has no function {name}")))?;
        let arguments: Vec<_> = arguments.iter().map(|argument| (*argument).into()).collect();
        let call = self.builder.build_call(declared, &arguments, name).map_err(llvm)?;
        let value = call.try_as_basic_value().basic().ok_or_else(|| llvm(format!("{name} returns nothing")))?;
        Ok(value.into_float_value())
    }

    fn branches(&mut self, parts: &[Expression; 3]) -> Result<FloatValue<'ctx>, Error> {
        let condition = self.value(&parts[0])?;
        let zero = self.float.const_zero();
        let above = self.builder.build_float_compare(FloatPredicate::OGT, condition, zero, "above").map_err(llvm)?;
        let [first, second, behind] = ["first", "second", "behind"].map(|name| self.block(name));
        self.builder.build_conditional_branch(above, first, second).map_err(llvm)?;
        let mut ends = Vec::new();
        for (block, part) in [(first, &parts[1]), (second, &parts[2])] {
            self.builder.position_at_end(block);
            let value = self.value(part)?;
            let end = self.builder.get_insert_block().ok_or_else(|| llvm("no block"))?;
            ends.push((value, end));
            self.builder.build_unconditional_branch(behind).map_err(llvm)?;
        }
        self.builder.position_at_end(behind);
        let joined = self.builder.build_phi(self.float, "joined").map_err(llvm)?;
        for (value, end) in &ends {
            joined.add_incoming(&[(value, *end)]);
        }
        Ok(joined.as_basic_value().into_float_value())
    }

    fn sum(&mut self, parts: &[Expression; 3]) -> Result<FloatValue<'ctx>, Error> {
        let (first, last) = (self.value(&parts[0])?, self.value(&parts[1])?);
        let before = self.builder.get_insert_block().ok_or_else(|| llvm("no block"))?;
        let [head, body, behind] = ["head", "body", "behind"].map(|name| self.block(name));
        self.builder.build_unconditional_branch(head).map_err(llvm)?;
        self.builder.position_at_end(head);
        let counter = self.builder.build_phi(self.float, "counter").map_err(llvm)?;
        let total = self.builder.build_phi(self.float, "total").map_err(llvm)?;
        let value = counter.as_basic_value().into_float_value();
        let so_far = total.as_basic_value().into_float_value();
        let goes_on = self.builder.build_float_compare(FloatPredicate::OLE, value, last, "goes_on").map_err(llvm)?;
        self.builder.build_conditional_branch(goes_on, body, behind).map_err(llvm)?;
        self.builder.position_at_end(body);
        self.counters.push(value);
        let term = self.value(&parts[2])?;
        self.counters.pop();
        let next = self.builder.build_float_add(value, self.float.const_float(1.0), "next").map_err(llvm)?;
        let more = self.builder.build_float_add(so_far, term, "more").map_err(llvm)?;
        let end = self.builder.get_insert_block().ok_or_else(|| llvm("no block"))?;
        self.builder.build_unconditional_branch(head).map_err(llvm)?;
        counter.add_incoming(&[(&first, before), (&next, end)]);
        total.add_incoming(&[(&self.float.const_zero(), before), (&more, end)]);
        self.builder.position_at_end(behind);
        Ok(so_far)
    }

    fn block(&self, name: &str) -> inkwell::basic_block::BasicBlock<'ctx> {
        self.context.append_basic_block(self.function, name)
    }
}
