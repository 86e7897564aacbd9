//! Parses instructions.

use super::body::{Body, Draft};
use super::meta::Attached;
use super::{Res, Tok};
use crate::func::FuncAttrs;
use crate::ids::{BlockId, TypeId, ValueId};
use crate::op::{Access, CallInfo, CastOp, Clause, FastMath, FloatPred, IntFlags, IntPred, Op, Ordering, RmwOp, TailKind};
use crate::text::words;
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
    /// An instruction after its name, before its attachments.
    pub(super) fn operation(&mut self) -> Res<Draft<'a>> {
        let Some(word) = self.p.word() else { return self.p.unexpected("an instruction") };
        if let Some(op) = words::find_bin_op(word) {
            self.p.bump();
            let mut d = self.draft(Op::Binary(op));
            self.flags(&mut d)?;
            d.ty = self.two_operands(&mut d)?;
            return Ok(d);
        }
        if let Some(op) = words::find_cast_op(word) {
            self.p.bump();
            return self.cast(op);
        }
        let tail = words::find_tail_kind(word);
        match word {
            "call" | "tail" | "musttail" | "notail" => {
                self.p.bump();
                if tail.is_some() {
                    self.p.expect_word("call")?;
                }
                let mut d = self.draft(Op::Unreachable);
                let call = self.call(&mut d, tail.unwrap_or_default())?;
                d.op = Op::Call(Box::new(call));
                Ok(d)
            }
            "alloca" | "load" | "store" | "getelementptr" | "fence" | "cmpxchg" | "atomicrmw" => {
                self.p.bump();
                self.memory(word)
            }
            "landingpad" | "cleanuppad" | "catchpad" => {
                self.p.bump();
                self.pad(word)
            }
            "fneg" | "icmp" | "fcmp" | "phi" | "select" | "freeze" | "va_arg" | "extractelement" | "insertelement"
            | "shufflevector" | "extractvalue" | "insertvalue" => {
                self.p.bump();
                self.simple(word)
            }
            _ => self.terminator(word),
        }
    }

    /// What follows an instruction after commas: alignment is taken into `op`, metadata returned.
    pub(super) fn attachments(&mut self, op: &mut Op) -> Res<Attached> {
        let mut out = Attached::default();
        while self.p.is(b',') {
            self.p.bump();
            match self.p.peek() {
                Tok::Meta => {
                    let found = self.p.skip_attachment()?;
                    out.loc = found.loc.or(out.loc);
                    if found.mem != Default::default() {
                        out.mem = found.mem;
                    }
                }
                Tok::Word if self.p.is_word("align") => {
                    self.p.bump();
                    let align = self.p.alignment()?;
                    match op {
                        Op::Load(a) | Op::Store(a) | Op::AtomicRmw(_, a) | Op::CmpXchg { access: a, .. } => {
                            a.align = align;
                        }
                        Op::Alloca { align: a, .. } => *a = align,
                        _ => return self.p.fail("this instruction has no alignment"),
                    }
                }
                _ => return self.p.unexpected("alignment or metadata"),
            }
        }
        Ok(out)
    }

    fn flags(&mut self, d: &mut Draft<'a>) -> Res<()> {
        while let Some(word) = self.p.word() {
            if word == "fast" {
                d.fast = FastMath::all();
            } else if let Some((flag, _)) = words::FAST_MATH.iter().find(|f| f.1 == word) {
                d.fast |= *flag;
            } else if let Some((flag, _)) = words::INT_FLAGS.iter().find(|f| f.1 == word) {
                d.ints |= *flag;
            } else {
                break;
            }
            self.p.bump();
        }
        let (has_fast, ints) = match &d.op {
            Op::Binary(op) => {
                use crate::op::BinOp::{AShr, Add, FAdd, FDiv, FMul, FRem, FSub, LShr, Mul, Or, SDiv, Shl, Sub, UDiv};
                match op {
                    FAdd | FSub | FMul | FDiv | FRem => (true, IntFlags::empty()),
                    Add | Sub | Mul | Shl => (false, IntFlags::NUW | IntFlags::NSW),
                    UDiv | SDiv | LShr | AShr => (false, IntFlags::EXACT),
                    Or => (false, IntFlags::DISJOINT),
                    _ => (false, IntFlags::empty()),
                }
            }
            Op::Cast(op) => match op {
                CastOp::Trunc => (false, IntFlags::NUW | IntFlags::NSW),
                CastOp::ZExt => (false, IntFlags::NNEG),
                CastOp::UIToFP => (true, IntFlags::NNEG),
                CastOp::FPTrunc | CastOp::FPExt | CastOp::SIToFP => (true, IntFlags::empty()),
                _ => (false, IntFlags::empty()),
            },
            Op::ICmp(_) => (false, IntFlags::SAMESIGN),
            _ => (true, IntFlags::empty()),
        };
        if (!has_fast && !d.fast.is_empty()) || !ints.contains(d.ints) {
            return self.p.fail("flag that this instruction does not have");
        }
        Ok(())
    }

    /// `type a, b`.
    fn two_operands(&mut self, d: &mut Draft<'a>) -> Res<TypeId> {
        let ty = self.typed_operand(d)?;
        self.p.expect(b',')?;
        self.operand(d, ty)?;
        Ok(ty)
    }

    fn cast(&mut self, op: CastOp) -> Res<Draft<'a>> {
        let mut d = self.draft(Op::Cast(op));
        self.flags(&mut d)?;
        self.typed_operand(&mut d)?;
        self.p.expect_word("to")?;
        d.ty = self.p.value_type()?;
        Ok(d)
    }

    /// `i1`, or a vector of them where `ty` is a vector.
    fn bool_like(&mut self, ty: TypeId) -> Res<TypeId> {
        let i1 = self.p.intern_type(Type::Int(1))?;
        match self.p.module.ctx.types[ty] {
            Type::Vector { len, scalable, .. } => self.p.intern_type(Type::Vector { elem: i1, len, scalable }),
            _ => Ok(i1),
        }
    }

    fn simple(&mut self, word: &str) -> Res<Draft<'a>> {
        let mut d = self.draft(Op::FNeg);
        match word {
            "fneg" => {
                self.flags(&mut d)?;
                d.ty = self.typed_operand(&mut d)?;
            }
            "icmp" => {
                d.op = Op::ICmp(IntPred::Eq);
                self.flags(&mut d)?;
                let Some(pred) = self.p.word().and_then(words::find_int_pred) else {
                    return self.p.unexpected("a predicate");
                };
                self.p.bump();
                d.op = Op::ICmp(pred);
                let ty = self.two_operands(&mut d)?;
                d.ty = self.bool_like(ty)?;
            }
            "fcmp" => {
                d.op = Op::FCmp(FloatPred::True);
                self.flags(&mut d)?;
                let Some(pred) = self.p.word().and_then(words::find_float_pred) else {
                    return self.p.unexpected("a predicate");
                };
                self.p.bump();
                d.op = Op::FCmp(pred);
                let ty = self.two_operands(&mut d)?;
                d.ty = self.bool_like(ty)?;
            }
            "phi" => {
                self.flags(&mut d)?;
                d.ty = self.p.value_type()?;
                let mut from = Vec::new();
                loop {
                    self.p.expect(b'[')?;
                    let ty = d.ty;
                    self.operand(&mut d, ty)?;
                    self.p.expect(b',')?;
                    from.push(self.bare_label()?);
                    self.p.expect(b']')?;
                    // A comma may also begin metadata.
                    if !self.p.is(b',') || self.p.peek_at(1).tok != Tok::Punct(b'[') {
                        break;
                    }
                    self.p.bump();
                }
                d.op = Op::Phi(from);
            }
            "select" => {
                d.op = Op::Select;
                self.flags(&mut d)?;
                self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                d.ty = self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                self.typed_operand(&mut d)?;
            }
            "freeze" => {
                d.op = Op::Freeze;
                d.ty = self.typed_operand(&mut d)?;
            }
            "va_arg" => {
                d.op = Op::VaArg;
                self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                d.ty = self.p.value_type()?;
            }
            "extractelement" | "insertelement" => {
                let is_extract = word == "extractelement";
                d.op = if is_extract { Op::ExtractElement } else { Op::InsertElement };
                let at = self.p.at;
                let ty = self.typed_operand(&mut d)?;
                for _ in 0..if is_extract { 1 } else { 2 } {
                    self.p.expect(b',')?;
                    self.typed_operand(&mut d)?;
                }
                d.ty = match self.p.module.ctx.types[ty] {
                    Type::Vector { elem, .. } if is_extract => elem,
                    Type::Vector { .. } => ty,
                    _ => return self.p.fail_at(at, "expected a vector"),
                };
            }
            "shufflevector" => {
                let ty = self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                let (mask, scalable) = self.p.mask()?;
                d.ty = self.p.shuffle_type(ty, mask.len() as u32, scalable)?;
                d.op = Op::ShuffleVector(mask);
            }
            _ => {
                let at = self.p.at;
                let ty = self.typed_operand(&mut d)?;
                let is_extract = word == "extractvalue";
                if !is_extract {
                    self.p.expect(b',')?;
                    self.typed_operand(&mut d)?;
                }
                let mut path: Vec<u32> = Vec::new();
                while self.p.is(b',') && self.p.peek_at(1).tok == Tok::Int {
                    self.p.bump();
                    path.push(self.p.number()?);
                }
                let Some(part) = self.p.module.ctx.types.at_path(ty, &path).filter(|_| !path.is_empty()) else {
                    return self.p.fail_at(at, "the aggregate has no such part");
                };
                (d.ty, d.op) =
                    if is_extract { (part, Op::ExtractValue(path)) } else { (ty, Op::InsertValue(path)) };
            }
        }
        Ok(d)
    }

    fn ordering(&mut self) -> Res<Ordering> {
        if self.p.eat_word("syncscope") {
            self.p.expect(b'(')?;
            self.p.string()?;
            self.p.expect(b')')?;
        }
        match self.p.word().and_then(words::find_ordering) {
            Some(ordering) if ordering != Ordering::NotAtomic => {
                self.p.bump();
                Ok(ordering)
            }
            _ => self.p.unexpected("an ordering"),
        }
    }

    fn memory(&mut self, word: &str) -> Res<Draft<'a>> {
        let mut d = self.draft(Op::Unreachable);
        let mut access = Access::default();
        let atomic = matches!(word, "load" | "store") && self.p.eat_word("atomic");
        let weak = word == "cmpxchg" && self.p.eat_word("weak");
        if matches!(word, "load" | "store" | "cmpxchg" | "atomicrmw") {
            access.volatile = self.p.eat_word("volatile");
        }
        match word {
            "alloca" => {
                while matches!(self.p.word(), Some("inalloca" | "swifterror")) {
                    self.p.bump();
                }
                let elem = self.p.value_type()?;
                d.op = Op::Alloca { elem, align: 0 };
                let (mut space, mut count) = (0, false);
                while self.p.is(b',') && self.p.peek_at(1).tok != Tok::Meta {
                    self.p.bump();
                    if self.p.eat_word("addrspace") {
                        space = self.p.number_in_parentheses()?;
                    } else if self.p.eat_word("align") {
                        d.op = Op::Alloca { elem, align: self.p.alignment()? };
                    } else if !count {
                        self.typed_operand(&mut d)?;
                        count = true;
                    } else {
                        return self.p.unexpected("alignment or address space");
                    }
                }
                if !count {
                    let i32 = self.p.intern_type(Type::Int(32))?;
                    let one = self.p.module.ctx.int(i32, 1);
                    d.args.push(self.func.constant(one, i32));
                }
                d.ty = self.p.intern_type(Type::Ptr(space))?;
            }
            "load" => {
                d.ty = self.p.value_type()?;
                self.p.expect(b',')?;
                self.typed_operand(&mut d)?;
                if atomic {
                    access.ordering = self.ordering()?;
                }
                d.op = Op::Load(access);
            }
            "store" => {
                self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                self.typed_operand(&mut d)?;
                if atomic {
                    access.ordering = self.ordering()?;
                }
                d.op = Op::Store(access);
            }
            "getelementptr" => {
                let flags = self.p.gep_flags()?;
                let elem = self.p.value_type()?;
                d.op = Op::Gep { elem, flags };
                let mut types = Vec::new();
                while self.p.is(b',') && self.p.peek_at(1).tok != Tok::Meta {
                    self.p.bump();
                    types.push(self.typed_operand(&mut d)?);
                }
                d.ty = self.p.gep_type(&types)?;
            }
            "fence" => d.op = Op::Fence(self.ordering()?),
            "cmpxchg" => {
                self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                let ty = self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                self.typed_operand(&mut d)?;
                let success = self.ordering()?;
                let failure = self.ordering()?;
                let i1 = self.p.intern_type(Type::Int(1))?;
                d.ty = self.p.module.ctx.types.tuple(vec![ty, i1]);
                d.op = Op::CmpXchg { success, failure, weak, access };
            }
            _ => {
                let Some(op) = self.p.word().and_then(words::find_rmw_op) else {
                    return self.p.unexpected("an operation");
                };
                let op: RmwOp = op;
                self.p.bump();
                self.typed_operand(&mut d)?;
                self.p.expect(b',')?;
                d.ty = self.typed_operand(&mut d)?;
                access.ordering = self.ordering()?;
                d.op = Op::AtomicRmw(op, access);
            }
        }
        Ok(d)
    }

    /// A call after its word; operands and type go into `d`.
    fn call(&mut self, d: &mut Draft<'a>, tail: TailKind) -> Res<CallInfo> {
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

    fn pad(&mut self, word: &str) -> Res<Draft<'a>> {
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

    fn terminator(&mut self, word: &str) -> Res<Draft<'a>> {
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
