//! The steps that are rare or long enough to stand outside of the loop.

use super::code::{CmpXchg, Code, Host, Masked, Rmw};
use super::exec::{Frame, copy_regs, read, write};
use super::memory::Kind;
use super::shape::{Scalar, cut, scalar_value};
use super::trap::Trap;
use super::value::Val;
use super::{Interp, arith, cast, floats};
use crate::op::{BinOp, RmwOp};

/// The registers from `reg` on that a value takes.
fn part(regs: &[u64], reg: u32, words: u32) -> &[u64] {
    regs.get(reg as usize..reg as usize + words as usize).unwrap_or(&[])
}

fn part_mut(regs: &mut [u64], reg: u32, words: u32) -> &mut [u64] {
    regs.get_mut(reg as usize..reg as usize + words as usize).unwrap_or(&mut [])
}

fn bad_shape() -> Trap {
    Trap::fault("a value of another size than its place")
}

impl Interp<'_> {
    /// Runs a step that the main loop does not know.
    pub(super) fn rare_step(&mut self, step: &Code, frame: &mut Frame) -> Result<(), Trap> {
        let regs = frame.regs.as_mut_slice();
        let word = |regs: &[u64], r: u32| regs.get(r as usize).copied().unwrap_or(0);
        match step {
            Code::FNeg { kind, d, a } => {
                let value = floats::negate(*kind, read(regs, *a, kind.bits()));
                write(regs, *d, kind.bits(), value);
            }
            Code::FCmp { pred, kind, d, a, b } => {
                let (x, y) = (read(regs, *a, kind.bits()), read(regs, *b, kind.bits()));
                write(regs, *d, 1, u128::from(floats::compare(*kind, *pred, x, y)));
            }
            Code::Cast(c) => {
                let value = cast::cast(c.op, c.from, c.to, read(regs, c.a, c.from.bits()))?;
                write(regs, c.d, c.to.bits(), value);
            }
            Code::BitCast(c) => {
                let mut bytes = vec![0u8; c.from.bytes.max(c.to.bytes) as usize];
                c.from
                    .write(part(regs, c.a, c.from.words), &mut bytes)
                    .and_then(|()| c.to.read(&bytes, part_mut(regs, c.d, c.to.words)))
                    .ok_or_else(bad_shape)?;
            }
            Code::SelectN(s) => {
                let [d, c, a, b, n] = **s;
                let from = if word(regs, c) & 1 == 1 { a } else { b };
                copy_regs(regs, d, from, n);
            }
            Code::ExtractLane { d, a, b, n, len } => {
                let lane = word(regs, *b);
                if lane < u64::from(*len) {
                    copy_regs(regs, *d, *a + lane as u32 * n, *n);
                } else {
                    part_mut(regs, *d, *n).fill(0);
                }
            }
            Code::InsertLane { d, a, b, n, len } => {
                let lane = word(regs, *b);
                if lane < u64::from(*len) {
                    copy_regs(regs, *d + lane as u32 * n, *a, *n);
                }
            }
            Code::LoadFlat(load) => {
                let (d, a, flat) = &**load;
                let bytes = self.memory.bytes(word(regs, *a), flat.bytes as usize)?;
                flat.read(bytes, part_mut(regs, *d, flat.words)).ok_or_else(bad_shape)?;
            }
            Code::StoreFlat(store) => {
                let (v, a, flat) = &**store;
                let bytes = self.memory.bytes_mut(word(regs, *a), flat.bytes as usize)?;
                flat.write(part(regs, *v, flat.words), bytes).ok_or_else(bad_shape)?;
            }
            Code::Gep(gep) => {
                let mut address = word(regs, gep.a).wrapping_add_signed(gep.by);
                for (reg, sh, scale) in &gep.terms {
                    let index = ((word(regs, *reg) << (sh & 63)) as i64) >> (sh & 63);
                    address = address.wrapping_add_signed(index.wrapping_mul(*scale));
                }
                write(regs, gep.d, 64, u128::from(address));
            }
            Code::CmpXchg(c) => self.compare_exchange(c, regs)?,
            Code::Rmw(r) => self.read_modify_write(r, regs)?,
            Code::Copy { to, from, len, len_sh } => {
                let len = word(regs, *len) & (u64::MAX >> len_sh);
                self.memory.copy(word(regs, *to), word(regs, *from), len)?;
            }
            Code::Fill { to, byte, len, len_sh } => {
                let len = word(regs, *len) & (u64::MAX >> len_sh);
                if len > 0 {
                    let value = word(regs, *byte) as u8;
                    let count = usize::try_from(len).unwrap_or(usize::MAX);
                    self.memory.bytes_mut(word(regs, *to), count)?.fill(value);
                }
            }
            Code::Masked(m) => self.masked(m, regs)?,
            Code::Math1 { kind, d, a, f } => {
                let value = f.apply(*kind, read(regs, *a, kind.bits()));
                write(regs, *d, kind.bits(), value);
            }
            Code::Math2 { kind, d, a, b, f } => {
                let value = f.apply(*kind, read(regs, *a, kind.bits()), read(regs, *b, kind.bits()));
                write(regs, *d, kind.bits(), value);
            }
            Code::Fma { kind, d, a, b, c, fused } => {
                let bits = kind.bits();
                let (x, y, z) = (read(regs, *a, bits), read(regs, *b, bits), read(regs, *c, bits));
                let value = if *fused {
                    floats::fma(*kind, x, y, z)
                } else {
                    floats::binary(*kind, BinOp::FAdd, floats::binary(*kind, BinOp::FMul, x, y), z)
                };
                write(regs, *d, bits, value);
            }
            Code::MathInt { f, kind, d, a, i, sh } => {
                let n = ((word(regs, *i) << (sh & 63)) as i64) >> (sh & 63);
                let value = f.apply(*kind, read(regs, *a, kind.bits()), n);
                write(regs, *d, kind.bits(), value);
            }
            Code::ToInt { f, kind, bits, d, a } => {
                let value = f.apply(*kind, u32::from(*bits), read(regs, *a, kind.bits()));
                write(regs, *d, u32::from(*bits), value);
            }
            Code::SatInt { signed, kind, bits, d, a } => {
                let value = floats::to_int(*kind, *signed, u32::from(*bits), read(regs, *a, kind.bits()), true);
                write(regs, *d, u32::from(*bits), value);
            }
            Code::Split { f, kind, bits, d, e, a } => {
                let (first, second) = f.apply(*kind, u32::from(*bits), read(regs, *a, kind.bits()));
                write(regs, *d, kind.bits(), first);
                write(regs, *e, u32::from(*bits), second);
            }
            Code::FpClass { kind, d, a, mask } => {
                let class = floats::class(*kind, read(regs, *a, kind.bits()));
                let wanted = word(regs, *mask) & u64::from(class) != 0;
                write(regs, *d, 1, u128::from(wanted));
            }
            Code::IntUnary { op, bits, d, a } => {
                let bits = u32::from(*bits);
                write(regs, *d, bits, arith::unary(*op, bits, read(regs, *a, bits)));
            }
            Code::IntPair { op, bits, out_bits, d, a, b } => {
                let (bits, out) = (u32::from(*bits), u32::from(*out_bits));
                let value = arith::pair(*op, bits, read(regs, *a, bits), read(regs, *b, bits));
                write(regs, *d, out, cut(value, out));
            }
            Code::Overflow { op, signed, bits, d, e, a, b } => {
                let bits = u32::from(*bits);
                let (value, flag) = arith::overflowing(*op, *signed, bits, read(regs, *a, bits), read(regs, *b, bits));
                write(regs, *d, bits, value);
                write(regs, *e, 1, u128::from(flag));
            }
            Code::Funnel(f) => {
                let [x, y, z] = [f.a, f.b, f.c].map(|r| read(regs, r, f.bits));
                write(regs, f.d, f.bits, arith::funnel(f.left, f.bits, x, y, z));
            }
            Code::StackSave { d } => write(regs, *d, 64, self.stack.len() as u128),
            Code::StackRestore { a } => {
                let mark = usize::try_from(word(regs, *a)).unwrap_or(usize::MAX).max(frame.stack_mark);
                self.release_stack(mark);
            }
            Code::VaStart { a } => self.start_varargs(word(regs, *a), frame)?,
            // The main loop has run these itself.
            Code::Mov { .. }
            | Code::MovN { .. }
            | Code::Set { .. }
            | Code::Jump(_)
            | Code::CondBr { .. }
            | Code::Switch(_)
            | Code::Ret { .. }
            | Code::Trap(_)
            | Code::Add { .. }
            | Code::Sub { .. }
            | Code::Mul { .. }
            | Code::And { .. }
            | Code::Or { .. }
            | Code::Xor { .. }
            | Code::Shl { .. }
            | Code::LShr { .. }
            | Code::AShr { .. }
            | Code::Int { .. }
            | Code::ICmp { .. }
            | Code::ICmpWide { .. }
            | Code::FAdd64 { .. }
            | Code::FSub64 { .. }
            | Code::FMul64 { .. }
            | Code::FDiv64 { .. }
            | Code::FNeg64 { .. }
            | Code::FMulAdd64 { .. }
            | Code::FCmp64 { .. }
            | Code::Float { .. }
            | Code::ZExt { .. }
            | Code::SExt { .. }
            | Code::SToF64 { .. }
            | Code::Select { .. }
            | Code::Alloca { .. }
            | Code::Load8 { .. }
            | Code::Load4 { .. }
            | Code::Load1 { .. }
            | Code::Store8 { .. }
            | Code::Store4 { .. }
            | Code::Store1 { .. }
            | Code::Offset { .. }
            | Code::Index { .. }
            | Code::Call(_)
            | Code::Host(_) => return Err(Trap::fault("a step out of its place")),
        }
        Ok(())
    }

    fn compare_exchange(&mut self, c: &CmpXchg, regs: &mut [u64]) -> Result<(), Trap> {
        let (address, words) = (regs.get(c.addr as usize).copied().unwrap_or(0), c.flat.words);
        let mut old = vec![0u64; words as usize];
        let bytes = self.memory.bytes_mut(address, c.flat.bytes as usize)?;
        c.flat.read(bytes, &mut old).ok_or_else(bad_shape)?;
        let equal = old == part(regs, c.expected, words);
        if equal {
            c.flat.write(part(regs, c.new, words), bytes).ok_or_else(bad_shape)?;
        }
        part_mut(regs, c.d, words).iter_mut().zip(&old).for_each(|(to, from)| *to = *from);
        write(regs, c.d + words, 1, u128::from(equal));
        Ok(())
    }

    fn read_modify_write(&mut self, r: &Rmw, regs: &mut [u64]) -> Result<(), Trap> {
        let (address, words, bits) = (regs.get(r.addr as usize).copied().unwrap_or(0), r.flat.words, r.scalar.bits());
        let mut old = vec![0u64; words as usize];
        let bytes = self.memory.bytes_mut(address, r.flat.bytes as usize)?;
        r.flat.read(bytes, &mut old).ok_or_else(bad_shape)?;
        let mut stored = vec![0u64; words as usize];
        let step = r.scalar.words();
        for lane in 0..words / step.max(1) {
            let (a, b) = (read(&old, lane * step, bits), read(regs, r.value + lane * step, bits));
            let value = match r.scalar {
                Scalar::Float(kind) => float_update(r.op, kind, a, b)?,
                Scalar::Int(_) | Scalar::Ptr => arith::read_modify_write(r.op, bits, a, b).map_err(Trap::fault)?,
            };
            write(&mut stored, lane * step, bits, value);
        }
        r.flat.write(&stored, bytes).ok_or_else(bad_shape)?;
        let target = part_mut(regs, r.d, words);
        target.iter_mut().zip(&old).for_each(|(to, from)| *to = *from);
        Ok(())
    }

    fn masked(&mut self, m: &Masked, regs: &mut [u64]) -> Result<(), Trap> {
        let words = m.lane.words;
        let mut dense = 0;
        for lane in 0..m.lanes {
            let reg = m.value + lane * words;
            let active = regs.get((m.mask + lane) as usize).copied().unwrap_or(0) & 1 == 1;
            if !active {
                if !m.store {
                    copy_regs(regs, reg, m.other + lane * words, words);
                }
                continue;
            }
            let position = if m.dense { dense } else { u64::from(lane) };
            dense += 1;
            let base = regs.get((m.addr + if m.many { lane } else { 0 }) as usize).copied().unwrap_or(0);
            let address = if m.many { base } else { base.wrapping_add(position * m.step) };
            if m.store {
                let bytes = self.memory.bytes_mut(address, m.step as usize)?;
                m.lane.write(part(regs, reg, words), bytes).ok_or_else(bad_shape)?;
            } else {
                let bytes = self.memory.bytes(address, m.step as usize)?;
                m.lane.read(bytes, part_mut(regs, reg, words)).ok_or_else(bad_shape)?;
            }
        }
        Ok(())
    }

    /// Calls a function of the interpreter or its user.
    pub(super) fn host(&mut self, host: &Host, frame: &mut Frame) -> Result<(), Trap> {
        let mut args: smallvec::SmallVec<[Val; 6]> = smallvec::SmallVec::new();
        for arg in &host.args {
            let words = part(&frame.regs, arg.reg, arg.words);
            args.push(match arg.scalar {
                Some(scalar) => scalar_value(scalar, words),
                None => self.shapes.take_value(arg.ty, &mut &*words)?,
            });
        }
        if host.forward {
            args.extend(frame.varargs.iter().cloned());
        }
        let result = self.call_host(host.index, &args)?;
        let Some(ty) = host.ret else { return Ok(()) };
        let result = result.ok_or_else(|| Trap::fault("an external function without its result"))?;
        let mut words = Vec::new();
        self.shapes.push_words(&result, ty, &mut words)?;
        let target = part_mut(&mut frame.regs, host.d, words.len() as u32);
        target.iter_mut().zip(&words).for_each(|(to, from)| *to = *from);
        Ok(())
    }

    /// Fills the `va_list` of x86-64 Linux at `list` (System V ABI, AMD64 supplement, 3.5.7).
    fn start_varargs(&mut self, list: u64, frame: &Frame) -> Result<(), Trap> {
        let (mut ints, mut vectors) = (0u64, 0u64);
        for param in &frame.code.params {
            match (param.in_vector, param.byval) {
                (_, Some(_)) => {}
                (true, None) => vectors += 1,
                (false, None) => ints += u64::from(param.words),
            }
        }
        let (mut ints, mut vectors) = (ints.min(6), vectors.min(8));
        let (first_int, first_vector) = (ints, vectors);
        let saved = self.memory.allocate(176, Kind::Stack)?;
        self.stack.push(saved);
        let mut overflow: Vec<u8> = Vec::new();
        for value in &frame.varargs {
            match value {
                Val::F64(x) if vectors < 8 => {
                    self.memory.store(saved + 48 + 16 * vectors, x.to_le_bytes())?;
                    vectors += 1;
                }
                Val::F64(x) => overflow.extend(x.to_le_bytes()),
                Val::Float(_, bits) => {
                    overflow.resize(overflow.len().next_multiple_of(16), 0);
                    overflow.extend(bits.to_le_bytes());
                }
                other => {
                    let word = other.as_u64().ok_or_else(|| Trap::unsupported("an aggregate in `...`"))?;
                    if ints < 6 {
                        self.memory.store(saved + 8 * ints, word.to_le_bytes())?;
                        ints += 1;
                    } else {
                        overflow.extend(word.to_le_bytes());
                    }
                }
            }
        }
        let rest = self.memory.allocate(overflow.len() as u64, Kind::Stack)?;
        self.stack.push(rest);
        self.memory.bytes_mut(rest, overflow.len())?.copy_from_slice(&overflow);
        self.memory.store(list, (8 * first_int as u32).to_le_bytes())?;
        self.memory.store(list + 4, (48 + 16 * first_vector as u32).to_le_bytes())?;
        self.memory.store(list + 8, rest.to_le_bytes())?;
        self.memory.store(list + 16, saved.to_le_bytes())
    }
}

fn float_update(op: RmwOp, kind: crate::FloatKind, old: u128, new: u128) -> Result<u128, Trap> {
    let row = |name| match super::math::find(name) {
        Some(super::math::Function::Two(row)) => Ok(row.apply(kind, old, new)),
        _ => Err(Trap::fault("an atomic operation without its function")),
    };
    match op {
        RmwOp::Xchg => Ok(new),
        RmwOp::FAdd => Ok(floats::binary(kind, BinOp::FAdd, old, new)),
        RmwOp::FSub => Ok(floats::binary(kind, BinOp::FSub, old, new)),
        RmwOp::FMax => row("fmax"),
        RmwOp::FMin => row("fmin"),
        RmwOp::FMaximum => row("fmaximum"),
        RmwOp::FMinimum => row("fminimum"),
        RmwOp::Add
        | RmwOp::Sub
        | RmwOp::And
        | RmwOp::Nand
        | RmwOp::Or
        | RmwOp::Xor
        | RmwOp::Max
        | RmwOp::Min
        | RmwOp::UMax
        | RmwOp::UMin
        | RmwOp::UIncWrap
        | RmwOp::UDecWrap
        | RmwOp::USubCond
        | RmwOp::USubSat => Err(Trap::fault("an integer operation on float memory")),
    }
}
