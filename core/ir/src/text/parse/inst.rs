//! Parses instructions but calls, pads and terminators.

use super::body::{Body, Draft};
use super::meta::Attached;
use super::{Res, Tok};
use crate::ids::TypeId;
use crate::op::{Access, CastOp, FastMath, FloatPred, IntFlags, IntPred, Op, Ordering, RmwOp};
use crate::text::words;
use crate::types::Type;

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

    pub(super) fn flags(&mut self, d: &mut Draft<'a>) -> Res<()> {
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
                (d.ty, d.op) = if is_extract { (part, Op::ExtractValue(path)) } else { (ty, Op::InsertValue(path)) };
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
}
