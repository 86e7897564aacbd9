//! Decodes one instruction at a time. Vector operations become one step per lane.

use super::code::{Arg, BitCast, Cast, CmpXchg, Code, Gep, Reg, Rmw, Switch};
use super::decode::Decoder;
use super::shape::{Scalar, join};
use super::trap::Trap;
use crate::func::Inst;
use crate::ids::{BlockId, ConstId, TypeId};
use crate::op::{BinOp, CastOp, Op};
use crate::types::{FloatKind, Type};

/// 64 minus a width of at most 64.
pub(super) fn unused(bits: u32) -> u8 {
    (64u32.saturating_sub(bits)) as u8
}

impl Decoder<'_, '_> {
    /// Appends the steps of an instruction.
    pub fn instruction(&mut self, inst: &Inst) -> Result<(), Trap> {
        match &inst.op {
            Op::FNeg => self.per_lane(inst, 1, |s, d, r| {
                Ok(match s {
                    Scalar::Float(FloatKind::Double) => Code::FNeg64 { d, a: r[0] },
                    Scalar::Float(kind) => Code::FNeg { kind, d, a: r[0] },
                    Scalar::Int(_) | Scalar::Ptr => return Err(Trap::fault("fneg of what is no float")),
                })
            }),
            Op::Binary(op) => self.per_lane(inst, 2, |s, d, r| binary(*op, s, d, r[0], r[1])),
            Op::ICmp(pred) => self.per_lane(inst, 2, |s, d, r| {
                let (pred, a, b) = (*pred, r[0], r[1]);
                Ok(match s.bits() {
                    bits @ 0..=64 => Code::ICmp { pred, d, a, b, sh: unused(bits) },
                    bits => Code::ICmpWide { pred, bits: bits as u8, d, a, b },
                })
            }),
            Op::FCmp(pred) => self.per_lane(inst, 2, |s, d, r| {
                let (pred, a, b) = (*pred, r[0], r[1]);
                Ok(match s {
                    Scalar::Float(FloatKind::Double) => Code::FCmp64 { pred, d, a, b },
                    Scalar::Float(kind) => Code::FCmp { pred, kind, d, a, b },
                    Scalar::Int(_) | Scalar::Ptr => return Err(Trap::fault("fcmp of what is no float")),
                })
            }),
            Op::Cast(op) => self.cast(*op, inst),
            // Phis are moves on the edges.
            Op::Phi(_) => Ok(()),
            Op::Select => self.select(inst),
            Op::Freeze => {
                let a = self.operand(inst, 0)?;
                let d = self.result(inst)?;
                self.moves(d, a.reg, a.words);
                Ok(())
            }
            Op::Alloca { elem, .. } => {
                let size = self.interp.shapes.size_of(*elem)?;
                let (d, count) = (self.result(inst)?, self.operand(inst, 0)?.reg);
                self.push(Code::Alloca { d, count, size });
                Ok(())
            }
            Op::Load(_) => {
                let (d, a) = (self.result(inst)?, self.operand(inst, 0)?.reg);
                self.load(d, a, inst.ty)
            }
            Op::Store(_) => {
                let (value, a) = (self.operand(inst, 0)?, self.operand(inst, 1)?.reg);
                self.store(value, a)
            }
            Op::Gep { elem, .. } => self.address(*elem, inst),
            Op::Fence(_) => Ok(()),
            Op::CmpXchg { .. } => {
                let (addr, expected) = (self.operand(inst, 0)?.reg, self.operand(inst, 1)?);
                let (new, d) = (self.operand(inst, 2)?.reg, self.result(inst)?);
                let flat = self.interp.shapes.flat(expected.ty)?;
                self.push(Code::CmpXchg(Box::new(CmpXchg { d, addr, expected: expected.reg, new, flat })));
                Ok(())
            }
            Op::AtomicRmw(op, _) => {
                let (addr, value, d) = (self.operand(inst, 0)?.reg, self.operand(inst, 1)?, self.result(inst)?);
                let flat = self.interp.shapes.flat(value.ty)?;
                let (_, scalar) = self.lanes(value.ty)?;
                self.push(Code::Rmw(Box::new(Rmw { op: *op, d, addr, value: value.reg, flat, scalar })));
                Ok(())
            }
            Op::Call(info) => self.call(inst, info),
            Op::VaArg => Err(Trap::unsupported("va_arg")),
            Op::ExtractElement => self.extract_element(inst),
            Op::InsertElement => self.insert_element(inst),
            Op::ShuffleVector(mask) => self.shuffle(inst, mask),
            Op::ExtractValue(path) => {
                let (a, d) = (self.operand(inst, 0)?, self.result(inst)?);
                let (skipped, ty) = self.interp.shapes.element(a.ty, path)?;
                let words = self.interp.shapes.flat(ty)?.words;
                self.moves(d, a.reg + skipped, words);
                Ok(())
            }
            Op::InsertValue(path) => {
                let (a, v, d) = (self.operand(inst, 0)?, self.operand(inst, 1)?, self.result(inst)?);
                let (skipped, _) = self.interp.shapes.element(a.ty, path)?;
                self.moves(d, a.reg, a.words);
                self.moves(d + skipped, v.reg, v.words);
                Ok(())
            }
            Op::LandingPad { .. } | Op::CleanupPad | Op::CatchPad => Err(Trap::unsupported("unwinding")),
            Op::Ret => {
                let (a, n) = match inst.args.first() {
                    Some(v) => {
                        let arg = self.value(*v)?;
                        (arg.reg, arg.words)
                    }
                    None => (0, 0),
                };
                self.push(Code::Ret { a, n });
                Ok(())
            }
            Op::Br(to) => {
                let to = self.edge(*to);
                self.push(Code::Jump(to));
                Ok(())
            }
            Op::CondBr { then_to, else_to } => {
                let c = self.operand(inst, 0)?.reg;
                let (then_to, else_to) = (self.edge(*then_to), self.edge(*else_to));
                self.push(Code::CondBr { c, then_to, else_to });
                Ok(())
            }
            Op::Switch { default, cases } => self.switch(inst, *default, cases),
            Op::IndirectBr(targets) => self.indirect_branch(inst, targets),
            Op::Invoke { call, normal, .. } => {
                self.call(inst, call)?;
                let to = self.edge(*normal);
                self.push(Code::Jump(to));
                Ok(())
            }
            Op::CallBr { .. } => Err(Trap::unsupported("callbr")),
            Op::Resume | Op::CleanupRet(_) | Op::CatchRet(_) | Op::CatchSwitch { .. } => {
                Err(Trap::unsupported("unwinding"))
            }
            Op::Unreachable => Err(Trap::fault("reached an instruction marked unreachable")),
        }
    }

    /// Appends what `make` gives for each lane: it gets the lane type of the first operand, the result register
    /// and those of the operands.
    fn per_lane(
        &mut self,
        inst: &Inst,
        operands: usize,
        make: impl Fn(Scalar, Reg, [Reg; 2]) -> Result<Code, Trap>,
    ) -> Result<(), Trap> {
        let a = self.operand(inst, 0)?;
        let b = if operands > 1 { self.operand(inst, 1)? } else { a };
        let (count, scalar) = self.lanes(a.ty)?;
        let (_, out) = self.lanes(inst.ty)?;
        let d = self.result(inst)?;
        for lane in 0..count {
            let at = lane * scalar.words();
            let code = make(scalar, d + lane * out.words(), [a.reg + at, b.reg + at])?;
            self.push(code);
        }
        Ok(())
    }

    fn cast(&mut self, op: CastOp, inst: &Inst) -> Result<(), Trap> {
        let (arg, d) = (self.operand(inst, 0)?, self.result(inst)?);
        if op == CastOp::BitCast {
            let (from, to) = (self.interp.shapes.flat(arg.ty)?, self.interp.shapes.flat(inst.ty)?);
            let same = |(x, y): (&super::shape::Lane, &super::shape::Lane)| x.scalar.bits() == y.scalar.bits();
            if from.lanes.len() == to.lanes.len() && from.lanes.iter().zip(&to.lanes).all(same) {
                self.moves(d, arg.reg, arg.words);
            } else {
                self.push(Code::BitCast(Box::new(BitCast { d, a: arg.reg, from, to })));
            }
            return Ok(());
        }
        let (count, from) = self.lanes(arg.ty)?;
        let (_, to) = self.lanes(inst.ty)?;
        for lane in 0..count {
            let (d, a) = (d + lane * to.words(), arg.reg + lane * from.words());
            let small = from.bits() <= 64 && to.bits() <= 64;
            let code = match op {
                CastOp::Trunc | CastOp::PtrToInt | CastOp::PtrToAddr if small => {
                    Code::ZExt { d, a, sh: unused(to.bits()) }
                }
                CastOp::ZExt | CastOp::IntToPtr | CastOp::AddrSpaceCast if small => Code::Mov { d, a },
                CastOp::SExt if small => Code::SExt { d, a, from_sh: unused(from.bits()), to_sh: unused(to.bits()) },
                CastOp::SIToFP if small && to == Scalar::Float(FloatKind::Double) => {
                    Code::SToF64 { d, a, sh: unused(from.bits()) }
                }
                _ => Code::Cast(Box::new(Cast { op, d, a, from, to })),
            };
            self.push(code);
        }
        Ok(())
    }

    fn select(&mut self, inst: &Inst) -> Result<(), Trap> {
        let (c, a, b) = (self.operand(inst, 0)?, self.operand(inst, 1)?, self.operand(inst, 2)?);
        let d = self.result(inst)?;
        let (count, words) = match self.interp.shapes.ty(c.ty) {
            Type::Vector { .. } => {
                let (count, scalar) = self.interp.shapes.lanes(a.ty)?;
                (count, scalar.words())
            }
            _ => (1, a.words),
        };
        for lane in 0..count {
            let at = lane * words;
            let (d, c, a, b) = (d + at, c.reg + lane, a.reg + at, b.reg + at);
            self.push(match words {
                1 => Code::Select { d, c, a, b },
                n => Code::SelectN(Box::new([d, c, a, b, n])),
            });
        }
        Ok(())
    }

    /// Reads a value of `ty` at the address in `a`.
    pub fn load(&mut self, d: Reg, a: Reg, ty: TypeId) -> Result<(), Trap> {
        let flat = self.interp.shapes.flat(ty)?;
        let code = match (self.interp.shapes.scalar(ty), flat.bytes) {
            (Some(s), 8) if s.bits() == 64 => Code::Load8 { d, a },
            (Some(s), 4) if s.bits() == 32 => Code::Load4 { d, a },
            (Some(s), 1) => Code::Load1 { d, a, sh: unused(s.bits()) },
            _ => Code::LoadFlat(Box::new((d, a, flat))),
        };
        self.push(code);
        Ok(())
    }

    /// Writes a value at the address in `a`.
    pub fn store(&mut self, value: Arg, a: Reg) -> Result<(), Trap> {
        let flat = self.interp.shapes.flat(value.ty)?;
        let v = value.reg;
        let code = match (value.scalar, flat.bytes) {
            (Some(_), 8) => Code::Store8 { a, v },
            (Some(_), 4) => Code::Store4 { a, v },
            (Some(_), 1) => Code::Store1 { a, v },
            _ => Code::StoreFlat(Box::new((v, a, flat))),
        };
        self.push(code);
        Ok(())
    }

    fn address(&mut self, elem: TypeId, inst: &Inst) -> Result<(), Trap> {
        let (base, d) = (self.operand(inst, 0)?, self.result(inst)?);
        let indices = (1..inst.args.len()).map(|i| self.operand(inst, i)).collect::<Result<Vec<_>, _>>()?;
        let (count, _) = self.lanes(inst.ty)?;
        for lane in 0..count {
            let pick = |arg: &Arg, words: u32| arg.reg + if arg.words > words { lane * words } else { 0 };
            let (mut by, mut terms, mut current) = (0i64, Vec::new(), elem);
            for (position, index) in indices.iter().enumerate() {
                let (_, scalar) = self.lanes(index.ty)?;
                let reg = pick(index, scalar.words());
                let sh = unused(scalar.bits());
                let over = position == 0;
                if let Some(word) = self.constant_word(reg) {
                    let (offset, next) = self.interp.step(current, ((word << sh) as i64) >> sh, over)?;
                    by = by.wrapping_add(offset);
                    current = next;
                } else {
                    if !over && matches!(self.interp.shapes.ty(current), Type::Struct(_)) {
                        return Err(Trap::fault("a field of a structure chosen by a variable"));
                    }
                    let (scale, next) = self.interp.step(current, 1, over)?;
                    terms.push((reg, sh, scale));
                    current = next;
                }
            }
            let (d, a) = (d + lane, pick(&base, 1));
            let code = match (terms.as_slice(), i32::try_from(by)) {
                ([], _) => Code::Offset { d, a, by },
                ([(i, sh, scale)], Ok(by)) if u32::try_from(*scale).is_ok() => {
                    Code::Index { d, a, i: *i, scale: *scale as u32, by, sh: *sh }
                }
                _ => Code::Gep(Box::new(Gep { d, a, by, terms })),
            };
            self.push(code);
        }
        Ok(())
    }

    fn extract_element(&mut self, inst: &Inst) -> Result<(), Trap> {
        let (a, i, d) = (self.operand(inst, 0)?, self.operand(inst, 1)?, self.result(inst)?);
        let (len, scalar) = self.interp.shapes.lanes(a.ty)?;
        let n = scalar.words();
        match self.constant_word(i.reg) {
            Some(lane) if lane < u64::from(len) => self.moves(d, a.reg + lane as u32 * n, n),
            _ => self.push(Code::ExtractLane { d, a: a.reg, b: i.reg, n, len }),
        }
        Ok(())
    }

    fn insert_element(&mut self, inst: &Inst) -> Result<(), Trap> {
        let (a, v, i) = (self.operand(inst, 0)?, self.operand(inst, 1)?, self.operand(inst, 2)?);
        let d = self.result(inst)?;
        let (len, scalar) = self.interp.shapes.lanes(a.ty)?;
        let n = scalar.words();
        self.moves(d, a.reg, a.words);
        match self.constant_word(i.reg) {
            Some(lane) if lane < u64::from(len) => self.moves(d + lane as u32 * n, v.reg, n),
            _ => self.push(Code::InsertLane { d, a: v.reg, b: i.reg, n, len }),
        }
        Ok(())
    }

    fn shuffle(&mut self, inst: &Inst, mask: &[i32]) -> Result<(), Trap> {
        let (a, b, d) = (self.operand(inst, 0)?, self.operand(inst, 1)?, self.result(inst)?);
        let (len, scalar) = self.interp.shapes.lanes(a.ty)?;
        let n = scalar.words();
        let (out, _) = self.interp.shapes.lanes(inst.ty)?;
        // A scalable mask is a splat; it is written once.
        let last = mask.last().copied().unwrap_or(-1);
        let lanes = mask.iter().copied().chain(std::iter::repeat(last)).take(out as usize);
        for (to, from) in lanes.enumerate() {
            let to = d + to as u32 * n;
            match u32::try_from(from) {
                Ok(lane) if lane < len => self.moves(to, a.reg + lane * n, n),
                Ok(lane) if lane < 2 * len => self.moves(to, b.reg + (lane - len) * n, n),
                Ok(_) => return Err(Trap::fault("a shuffle of a lane that does not exist")),
                Err(_) => (0..n).for_each(|w| self.push(Code::Set { d: to + w, value: 0 })),
            }
        }
        Ok(())
    }

    fn switch(&mut self, inst: &Inst, default: BlockId, cases: &[(ConstId, BlockId)]) -> Result<(), Trap> {
        let value = self.operand(inst, 0)?;
        self.lanes(value.ty)?;
        let mut found = Vec::new();
        for (case, to) in cases {
            let mut words = Vec::new();
            self.interp.push_const(*case, value.ty, 0, &mut words)?;
            found.push((join(&words), self.edge(*to)));
        }
        found.sort_by_key(|c| c.0);
        let default = self.edge(default);
        self.push(Code::Switch(Box::new(Switch { value: value.reg, words: value.words, cases: found, default })));
        Ok(())
    }

    /// A block's address is that of its function, plus one, plus its position.
    fn indirect_branch(&mut self, inst: &Inst, targets: &[BlockId]) -> Result<(), Trap> {
        let value = self.operand(inst, 0)?.reg;
        let func = self.func;
        let own = self.interp.module.find_func(&func.name).ok_or_else(|| Trap::fault("a function without a name"))?;
        let base = self.interp.function_address(own) + 1;
        let mut cases = Vec::new();
        for to in targets {
            let position = func.layout.iter().position(|b| b == to).unwrap_or(0) as u64;
            cases.push((u128::from(base + position), self.edge(*to)));
        }
        let Some(first) = targets.first() else { return Err(Trap::fault("a branch to nowhere")) };
        cases.sort_by_key(|c| c.0);
        let default = self.edge(*first);
        self.push(Code::Switch(Box::new(Switch { value, words: 1, cases, default })));
        Ok(())
    }
}

fn binary(op: BinOp, scalar: Scalar, d: Reg, a: Reg, b: Reg) -> Result<Code, Trap> {
    let float = matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FRem);
    Ok(match (scalar, op) {
        (Scalar::Float(FloatKind::Double), BinOp::FAdd) => Code::FAdd64 { d, a, b },
        (Scalar::Float(FloatKind::Double), BinOp::FSub) => Code::FSub64 { d, a, b },
        (Scalar::Float(FloatKind::Double), BinOp::FMul) => Code::FMul64 { d, a, b },
        (Scalar::Float(FloatKind::Double), BinOp::FDiv) => Code::FDiv64 { d, a, b },
        (Scalar::Float(kind), _) if float => Code::Float { op, kind, d, a, b },
        (Scalar::Int(bits @ 1..=64), BinOp::Add) => Code::Add { d, a, b, sh: unused(bits) },
        (Scalar::Int(bits @ 1..=64), BinOp::Sub) => Code::Sub { d, a, b, sh: unused(bits) },
        (Scalar::Int(bits @ 1..=64), BinOp::Mul) => Code::Mul { d, a, b, sh: unused(bits) },
        (Scalar::Int(1..=64), BinOp::And) => Code::And { d, a, b },
        (Scalar::Int(1..=64), BinOp::Or) => Code::Or { d, a, b },
        (Scalar::Int(1..=64), BinOp::Xor) => Code::Xor { d, a, b },
        (Scalar::Int(bits @ 1..=64), BinOp::Shl) => Code::Shl { d, a, b, sh: unused(bits) },
        (Scalar::Int(1..=64), BinOp::LShr) => Code::LShr { d, a, b },
        (Scalar::Int(bits @ 1..=64), BinOp::AShr) => Code::AShr { d, a, b, sh: unused(bits) },
        (Scalar::Int(bits), _) if !float => Code::Int { op, bits: bits as u8, d, a, b },
        _ => return Err(Trap::fault(format!("{op:?} of operands of another kind"))),
    })
}
