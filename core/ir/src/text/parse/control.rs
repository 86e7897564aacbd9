//! Parses calls, exception pads and terminators.

use super::Res;
use super::Tok;
use super::body::{Body, Draft};
use crate::func::FuncAttrs;
use crate::ids::{BlockId, TypeId, ValueId};
use crate::op::{CallInfo, Clause, Op, TailKind};
use crate::types::Type;

/// Words that begin instructions; they end the attributes of a call before them.
fn is_opcode(word: &str) -> bool {
    matches!(
        word,
        "fneg"
            | "icmp"
            | "fcmp"
            | "phi"
            | "select"
            | "freeze"
            | "alloca"
            | "load"
            | "store"
            | "getelementptr"
            | "fence"
            | "cmpxchg"
            | "atomicrmw"
            | "call"
            | "tail"
            | "musttail"
            | "notail"
            | "va_arg"
            | "extractelement"
            | "insertelement"
            | "shufflevector"
            | "extractvalue"
            | "insertvalue"
            | "landingpad"
            | "cleanuppad"
            | "catchpad"
            | "ret"
            | "br"
            | "switch"
            | "indirectbr"
            | "invoke"
            | "callbr"
            | "resume"
            | "unreachable"
            | "cleanupret"
            | "catchret"
            | "catchswitch"
            | "uselistorder"
            | "uselistorder_bb"
            | "to"
    ) || super::words_of_expressions(word)
}

impl<'a> Body<'_, 'a> {
    /// A call after its word; operands and type go into `d`.
    pub(super) fn call(&mut self, d: &mut Draft<'a>, tail: TailKind) -> Res<CallInfo> {
        // Any call may have fast-math flags here; the verifier knows which may not.
        d.op = Op::Select;
        self.flags(d)?;
        let conv = self.p.convention()?.unwrap_or(0);
        self.p.param_attrs()?;
        let space = if self.p.eat_word("addrspace") { self.p.number_in_parentheses()? } else { 0 };
        let mut sig = self.p.ty()?;
        let callee = self.p.at;
        let ptr = self.p.intern_type(Type::Ptr(space))?;
        // An intrinsic that is not declared is known only after its arguments.
        let is_name = self.p.peek() == Tok::Global;
        if is_name {
            self.p.bump();
            d.args.push(ValueId::from_u32(0));
        } else {
            self.operand(d, ptr)?;
        }
        let arg_types = self.arguments(d)?;
        if !matches!(self.p.module.ctx.types[sig], Type::Func { .. }) {
            sig = self.p.intern_type(Type::Func { ret: sig, params: arg_types.clone(), variadic: false })?;
        }
        let Type::Func { ret, params, variadic } = &self.p.module.ctx.types[sig] else {
            return self.p.fail_at(callee, "not a function type");
        };
        let agrees = arg_types.starts_with(params) && (*variadic || arg_types.len() == params.len());
        d.ty = *ret;
        if !agrees {
            return self.p.fail_at(callee, "arguments do not agree with the function type");
        }
        if is_name {
            let name = self.p.name_of(self.p.token(callee));
            self.p.declare_intrinsic(&name, sig);
            let back = std::mem::replace(&mut self.p.at, callee);
            let c = self.p.constant(ptr)?;
            self.p.at = back;
            d.args[0] = self.func.constant(c, ptr);
        }
        let mut attrs = FuncAttrs::default();
        while self.p.word().is_none_or(|w| !is_opcode(w)) && self.p.func_attr(&mut attrs)? {}
        if self.p.eat(b'[') {
            self.bundles(d)?;
        }
        Ok(CallInfo { sig, num_args: arg_types.len() as u32, tail, conv })
    }

    fn arguments(&mut self, d: &mut Draft<'a>) -> Res<Vec<TypeId>> {
        let mut types = Vec::new();
        self.p.expect(b'(')?;
        while !self.p.is(b')') {
            if self.p.peek() == Tok::Dots {
                // `musttail` calls of variadic functions forward the rest.
                self.p.bump();
                break;
            }
            let ty = self.p.value_type()?;
            if !matches!(self.p.module.ctx.types[ty], Type::Metadata) {
                self.p.param_attrs()?;
            }
            self.operand(d, ty)?;
            types.push(ty);
            if !self.p.eat(b',') {
                break;
            }
        }
        self.p.expect(b')')?;
        Ok(types)
    }

    /// `"tag"(operands), ...]`.
    fn bundles(&mut self, d: &mut Draft<'a>) -> Res<()> {
        while !self.p.is(b']') {
            self.p.string()?;
            self.p.expect(b'(')?;
            while !self.p.is(b')') {
                self.typed_operand(d)?;
                if !self.p.eat(b',') {
                    break;
                }
            }
            self.p.expect(b')')?;
            if !self.p.eat(b',') {
                break;
            }
        }
        self.p.expect(b']')
    }

    pub(super) fn pad(&mut self, word: &str) -> Res<Draft<'a>> {
        let mut d = self.draft(Op::CleanupPad);
        if word == "landingpad" {
            d.ty = self.p.value_type()?;
            let cleanup = self.p.eat_word("cleanup");
            let mut clauses = Vec::new();
            loop {
                if self.p.eat_word("catch") {
                    clauses.push(Clause::Catch);
                } else if self.p.eat_word("filter") {
                    clauses.push(Clause::Filter);
                } else {
                    break;
                }
                self.typed_operand(&mut d)?;
            }
            d.op = Op::LandingPad { cleanup, clauses };
            return Ok(d);
        }
        let token = self.p.intern_type(Type::Token)?;
        d.ty = token;
        if word == "catchpad" {
            d.op = Op::CatchPad;
        }
        self.p.expect_word("within")?;
        self.operand(&mut d, token)?;
        self.p.expect(b'[')?;
        while !self.p.is(b']') {
            self.typed_operand(&mut d)?;
            if !self.p.eat(b',') {
                break;
            }
        }
        self.p.expect(b']')?;
        Ok(d)
    }

    fn labels(&mut self) -> Res<Vec<BlockId>> {
        let mut out = Vec::new();
        self.p.expect(b'[')?;
        while !self.p.is(b']') {
            out.push(self.label()?);
            if !self.p.eat(b',') {
                break;
            }
        }
        self.p.expect(b']')?;
        Ok(out)
    }

    /// `unwind to caller` or `unwind label %b`.
    fn unwind_to(&mut self) -> Res<Option<BlockId>> {
        self.p.expect_word("unwind")?;
        if self.p.eat_word("to") {
            self.p.expect_word("caller")?;
            return Ok(None);
        }
        Ok(Some(self.label()?))
    }

    pub(super) fn terminator(&mut self, word: &str) -> Res<Draft<'a>> {
        let mut d = self.draft(Op::Unreachable);
        let known = ["ret", "br", "switch", "indirectbr", "invoke", "callbr", "resume", "unreachable", "cleanupret"];
        if !known.contains(&word) && word != "catchret" && word != "catchswitch" {
            return self.p.unexpected("an instruction");
        }
        self.p.bump();
        match word {
            "ret" => {
                d.op = Op::Ret;
                if !self.p.eat_word("void") {
                    self.typed_operand(&mut d)?;
                }
            }
            "br" if self.p.is_word("label") => d.op = Op::Br(self.label()?),
            "br" => {
                self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                let then_to = self.label()?;
                self.p.expect(b',')?;
                d.op = Op::CondBr { then_to, else_to: self.label()? };
            }
            "switch" => {
                let ty = self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                let default = self.label()?;
                let mut cases = Vec::new();
                self.p.expect(b'[')?;
                while !self.p.is(b']') {
                    let at = self.p.at;
                    let (found, c) = self.p.typed_constant()?;
                    if found != ty {
                        return self.p.fail_at(at, "case of another type than the operand");
                    }
                    self.p.expect(b',')?;
                    cases.push((c, self.label()?));
                }
                self.p.expect(b']')?;
                d.op = Op::Switch { default, cases };
            }
            "indirectbr" => {
                self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                d.op = Op::IndirectBr(self.labels()?);
            }
            "invoke" | "callbr" => {
                let call = Box::new(self.call(&mut d, TailKind::None)?);
                self.p.expect_word("to")?;
                let first = self.label()?;
                if word == "callbr" {
                    d.op = Op::CallBr { call, default: first, indirect: self.labels()? };
                } else {
                    self.p.expect_word("unwind")?;
                    d.op = Op::Invoke { call, normal: first, unwind: self.label()? };
                }
            }
            "resume" => {
                self.typed_operand(&mut d)?;
                d.op = Op::Resume;
            }
            "cleanupret" | "catchret" => {
                let token = self.p.intern_type(Type::Token)?;
                self.p.expect_word("from")?;
                self.operand(&mut d, token)?;
                if word == "cleanupret" {
                    d.op = Op::CleanupRet(self.unwind_to()?);
                } else {
                    self.p.expect_word("to")?;
                    d.op = Op::CatchRet(self.label()?);
                }
            }
            "catchswitch" => {
                let token = self.p.intern_type(Type::Token)?;
                d.ty = token;
                self.p.expect_word("within")?;
                self.operand(&mut d, token)?;
                let handlers = self.labels()?;
                d.op = Op::CatchSwitch { handlers, unwind: self.unwind_to()? };
            }
            _ => {}
        }
        Ok(d)
    }
}
