//! Decodes calls: of functions with a body, of addresses, of external functions by name, of intrinsics.

use super::code::{Arg, Call, Code, Host, Reg, Target};
use super::decode::Decoder;
use super::math;
use super::shape::Scalar;
use super::trap::Trap;
use crate::consts::Const;
use crate::func::Inst;
use crate::ids::TypeId;
use crate::op::CallInfo;
use crate::types::{FloatKind, Type};

impl Decoder<'_, '_> {
    /// Appends the steps of a call.
    pub fn call(&mut self, inst: &Inst, info: &CallInfo) -> Result<(), Trap> {
        let module = self.interp.module;
        let callee = *inst.args.first().ok_or_else(|| Trap::fault("a call without a callee"))?;
        let ret = match self.interp.shapes.ty(info.sig) {
            Type::Func { ret, .. } => *ret,
            _ => inst.ty,
        };
        let d = match inst.result {
            Some(v) => self.reg(v)?,
            None => 0,
        };
        if let Some(c) = self.func.as_const(callee)
            && let Const::Opaque { text, .. } = &module.ctx.consts[c]
        {
            // Assembly without instructions or result is a barrier for the optimiser.
            if text.starts_with("asm") && text.contains("\"\"") && inst.result.is_none() {
                return Ok(());
            }
            return Err(Trap::unsupported(format!("a call of `{text}`")));
        }
        let direct = module.as_func(self.func, callee).and_then(|f| Some((f, module.funcs.get(f)?)));
        let is_intrinsic = direct.is_some_and(|(_, f)| f.name.starts_with("llvm."));
        let mut args = Vec::new();
        for i in 1..=info.num_args as usize {
            match self.operand(inst, i) {
                Ok(arg) => args.push(arg),
                // Metadata has no value; the intrinsics that take it ignore it.
                Err(_) if is_intrinsic => break,
                Err(trap) => return Err(trap),
            }
        }
        match direct {
            Some((_, f)) if is_intrinsic => {
                let base = f.name.strip_prefix("llvm.").unwrap_or(&f.name);
                self.intrinsic(base, &args, d, ret)
            }
            Some((_, f)) if f.is_declaration() => self.external(&f.name, &args, d, ret, false),
            Some((id, _)) => self.framed(Target::Func(id), args, d, ret),
            None => {
                let address = self.reg(callee)?;
                self.framed(Target::Address(address), args, d, ret)
            }
        }
    }

    fn framed(&mut self, target: Target, args: Vec<Arg>, d: Reg, ret: TypeId) -> Result<(), Trap> {
        let words = match self.interp.shapes.ty(ret) {
            Type::Void => 0,
            _ => self.interp.shapes.flat(ret)?.words,
        };
        self.push(Code::Call(Box::new(Call { target, args, d, words })));
        Ok(())
    }

    /// Appends a call of a function without a body: one that the user registered, a mathematical function, or one
    /// of the C library, in this order.
    pub fn external(&mut self, name: &str, args: &[Arg], d: Reg, ret: TypeId, forward: bool) -> Result<(), Trap> {
        let is_registered = self.interp.is_registered(name);
        if !is_registered
            && let Some(function) = math::find(name)
            && let Some(code) = self.math_call(function, args, d, ret)
        {
            self.push(code);
            return Ok(());
        }
        let index = self.interp.host_index(name).ok_or_else(|| {
            Trap::unsupported(format!("a call of `{name}`, which has no body and is not a known external function"))
        })?;
        let ret = (!matches!(self.interp.shapes.ty(ret), Type::Void)).then_some(ret);
        self.push(Code::Host(Box::new(Host { index, args: args.to_vec(), forward, d, ret })));
        Ok(())
    }

    /// A scalar mathematical function; `None` if the types are not those of C's.
    pub fn math_call(&self, function: math::Function, args: &[Arg], d: Reg, ret: TypeId) -> Option<Code> {
        let ret = self.interp.shapes.scalar(ret);
        scalar_math(function, args, d, ret?)
    }
}

/// The step that computes a mathematical function on scalars.
pub(super) fn scalar_math(function: math::Function, args: &[Arg], d: Reg, ret: Scalar) -> Option<Code> {
    let float = |i: usize| match args.get(i)?.scalar? {
        Scalar::Float(kind) => Some((kind, args.get(i)?.reg)),
        Scalar::Int(_) | Scalar::Ptr => None,
    };
    let same = |kind: FloatKind| ret == Scalar::Float(kind);
    let int = |i: usize| match args.get(i)?.scalar? {
        Scalar::Int(bits @ 1..=64) => Some((args.get(i)?.reg, super::decode_inst::unused(bits))),
        _ => None,
    };
    match function {
        math::Function::One(f) => {
            let (kind, a) = float(0).filter(|(k, _)| args.len() == 1 && same(*k))?;
            Some(Code::Math1 { kind, d, a, f })
        }
        math::Function::Two(f) => {
            let (kind, a) = float(0).filter(|(k, _)| args.len() == 2 && same(*k))?;
            // `nexttoward` and its like mix formats and are not meant here.
            let (_, b) = float(1).filter(|(k, _)| *k == kind)?;
            Some(Code::Math2 { kind, d, a, b, f })
        }
        math::Function::Fma => {
            let (kind, a) = float(0).filter(|(k, _)| args.len() == 3 && same(*k))?;
            let (_, b) = float(1).filter(|(k, _)| *k == kind)?;
            let (_, c) = float(2).filter(|(k, _)| *k == kind)?;
            Some(Code::Fma { kind, d, a, b, c, fused: true })
        }
        math::Function::WithInt(f, int_first) => {
            let (at_float, at_int) = if int_first { (1, 0) } else { (0, 1) };
            let (kind, a) = float(at_float).filter(|(k, _)| args.len() == 2 && same(*k))?;
            let (i, sh) = int(at_int)?;
            Some(Code::MathInt { f, kind, d, a, i, sh })
        }
        math::Function::ToInt(f) => {
            let (kind, a) = float(0).filter(|_| args.len() == 1)?;
            let Scalar::Int(bits @ 1..=128) = ret else { return None };
            Some(Code::ToInt { f, kind, bits: bits as u8, d, a })
        }
    }
}
