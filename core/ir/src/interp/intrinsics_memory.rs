//! Decodes the intrinsics that touch memory, the stack or whole vectors.

use super::code::{Arg, Code, Masked, Reg};
use super::decode::Decoder;
use super::decode_inst::unused;
use super::intrinsics::arg;
use super::trap::Trap;
use crate::ids::TypeId;
use crate::types::Type;

impl Decoder<'_, '_> {
    /// Whether the steps of an intrinsic were appended.
    pub(super) fn memory_intrinsic(&mut self, base: &str, args: &[Arg], d: Reg, ret: TypeId) -> Result<bool, Trap> {
        match base {
            "memcpy" | "memmove" | "memcpy.inline" => {
                let (to, from, len) = (arg(args, 0)?.reg, arg(args, 1)?.reg, arg(args, 2)?);
                let len_sh = unused(self.lanes(len.ty)?.1.bits());
                self.push(Code::Copy { to, from, len: len.reg, len_sh });
            }
            "memset" | "memset.inline" => {
                let (to, byte, len) = (arg(args, 0)?.reg, arg(args, 1)?.reg, arg(args, 2)?);
                let len_sh = unused(self.lanes(len.ty)?.1.bits());
                self.push(Code::Fill { to, byte, len: len.reg, len_sh });
            }
            // Values handed through.
            "expect"
            | "expect.with.probability"
            | "ssa.copy"
            | "annotation"
            | "ptr.annotation"
            | "launder.invariant.group"
            | "strip.invariant.group"
            | "preserve.array.access.index"
            | "invariant.start"
            | "threadlocal.address"
            | "arithmetic.fence" => {
                // The result of `invariant.start` is read by nothing but `invariant.end`.
                let from = if base == "invariant.start" { arg(args, 1)? } else { arg(args, 0)? };
                self.moves(d, from.reg, from.words);
            }
            "ptrmask" => {
                let (a, b) = (arg(args, 0)?.reg, arg(args, 1)?.reg);
                (0..self.vector_len(ret)).for_each(|l| self.push(Code::And { d: d + l, a: a + l, b: b + l }));
            }
            "objectsize" => {
                // Unknown: -1, or 0 where the smallest size is asked for.
                let smallest = self.constant_word(arg(args, 1)?.reg) == Some(1);
                let unknown = if smallest { 0 } else { u64::MAX >> unused(self.lanes(ret)?.1.bits()) };
                self.push(Code::Set { d, value: unknown });
            }
            "is.constant" | "eh.typeid.for" => self.push(Code::Set { d, value: 0 }),
            "get.rounding" | "flt.rounds" | "vscale" | "allow.runtime.check" | "allow.ubsan.check" => {
                self.push(Code::Set { d, value: 1 });
            }
            "readcyclecounter" | "readsteadycounter" => {
                let index = self.interp.host_index("clock").ok_or_else(|| Trap::unsupported("clock"))?;
                let host = super::code::Host { index, args: Vec::new(), forward: false, d, ret: Some(ret) };
                self.push(Code::Host(Box::new(host)));
            }
            "stacksave" => self.push(Code::StackSave { d }),
            "stackrestore" => {
                let a = arg(args, 0)?.reg;
                self.push(Code::StackRestore { a });
            }
            "va_start" => {
                let a = arg(args, 0)?.reg;
                self.push(Code::VaStart { a });
            }
            "va_copy" => {
                // The list of x86-64 takes 24 bytes.
                let (to, from) = (arg(args, 0)?.reg, arg(args, 1)?.reg);
                let len = self.fresh_value(24);
                self.push(Code::Copy { to, from, len, len_sh: 0 });
            }
            "trap" | "debugtrap" | "ubsantrap" => {
                self.push(Code::Trap(Box::new(Trap::fault(format!("the program called llvm.{base}")))));
            }
            "masked.load" | "masked.gather" | "masked.expandload" => self.masked_load(base, args, d, ret)?,
            "masked.store" | "masked.scatter" | "masked.compressstore" => self.masked_store(base, args)?,
            "vector.insert" => {
                let (whole, part, at) = (arg(args, 0)?, arg(args, 1)?, arg(args, 2)?);
                let words = self.lanes(part.ty)?.1.words();
                let first = self.constant_word(at.reg).unwrap_or(0).min(u64::from(self.vector_len(whole.ty))) as u32;
                let room = whole.words.saturating_sub(first * words);
                self.moves(d, whole.reg, whole.words);
                self.moves(d + first * words, part.reg, part.words.min(room));
            }
            "vector.extract" => {
                let (whole, at) = (arg(args, 0)?, arg(args, 1)?);
                let (count, scalar) = self.lanes(ret)?;
                let words = count * scalar.words();
                let first = self.constant_word(at.reg).unwrap_or(0).saturating_mul(u64::from(scalar.words()));
                if first + u64::from(words) > u64::from(whole.words) {
                    return Err(Trap::fault("a part of a vector that lies outside of it"));
                }
                self.moves(d, whole.reg + first as u32, words);
            }
            "vector.reverse" => {
                let a = arg(args, 0)?;
                let (count, scalar) = self.lanes(a.ty)?;
                let w = scalar.words();
                (0..count).for_each(|l| self.moves(d + l * w, a.reg + (count - 1 - l) * w, w));
            }
            "vector.splice" | "vector.splice.left" => {
                let (a, b, at) = (arg(args, 0)?, arg(args, 1)?, arg(args, 2)?);
                let (count, scalar) = self.lanes(a.ty)?;
                let w = scalar.words();
                let (_, index) = self.lanes(at.ty)?;
                let sh = unused(index.bits());
                let by = ((self.constant_word(at.reg).unwrap_or(0) << sh) as i64) >> sh;
                let start = if by < 0 { i64::from(count) + by } else { by };
                let start = u32::try_from(start).ok().filter(|s| *s <= count);
                let start = start.ok_or_else(|| Trap::fault("a splice outside of its vectors"))?;
                for l in 0..count {
                    let from = start + l;
                    let reg = if from < count { a.reg + from * w } else { b.reg + (from - count) * w };
                    self.moves(d + l * w, reg, w);
                }
            }
            "stepvector" => {
                (0..self.vector_len(ret)).for_each(|l| self.push(Code::Set { d: d + l, value: u64::from(l) }));
            }
            "get.active.lane.mask" => {
                let (from, to) = (arg(args, 0)?, arg(args, 1)?.reg);
                let sh = unused(self.lanes(from.ty)?.1.bits());
                for l in 0..self.vector_len(ret) {
                    let (one, i) = (self.fresh_value(u64::from(l)), self.fresh(1));
                    self.push(Code::Add { d: i, a: from.reg, b: one, sh });
                    self.push(Code::ICmp { pred: crate::op::IntPred::Ult, d: d + l, a: i, b: to, sh });
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Byte distance of lanes; lanes that are not whole bytes are not handled.
    fn lane_step(&self, ty: TypeId) -> Result<(std::rc::Rc<super::shape::Flat>, u64, u32), Trap> {
        let Type::Vector { elem, len, .. } = self.interp.shapes.ty(ty) else {
            return Err(Trap::fault("a masked access of what is no vector"));
        };
        let lane = self.interp.shapes.flat(*elem)?;
        let bits = self.lanes(ty)?.1.bits();
        if !bits.is_multiple_of(8) {
            return Err(Trap::unsupported(format!("a masked access of lanes of {bits} bits")));
        }
        Ok((lane, u64::from(bits / 8), *len))
    }

    /// The last two operands are mask and pass-through, whether or not an alignment precedes them.
    fn masked_load(&mut self, base: &str, args: &[Arg], d: Reg, ret: TypeId) -> Result<(), Trap> {
        let last = args.len();
        let (addr, mask, other) =
            (arg(args, 0)?, arg(args, last.wrapping_sub(2))?.reg, arg(args, last.wrapping_sub(1))?.reg);
        let (lane, step, lanes) = self.lane_step(ret)?;
        let (many, dense) = (base == "masked.gather", base == "masked.expandload");
        let masked = Masked { store: false, value: d, other, addr: addr.reg, many, dense, mask, lanes, lane, step };
        self.push(Code::Masked(Box::new(masked)));
        Ok(())
    }

    fn masked_store(&mut self, base: &str, args: &[Arg]) -> Result<(), Trap> {
        let (value, addr) = (arg(args, 0)?, arg(args, 1)?);
        let mask = arg(args, args.len().wrapping_sub(1))?.reg;
        let (lane, step, lanes) = self.lane_step(value.ty)?;
        let (many, dense) = (base == "masked.scatter", base == "masked.compressstore");
        let masked =
            Masked { store: true, value: value.reg, other: 0, addr: addr.reg, many, dense, mask, lanes, lane, step };
        self.push(Code::Masked(Box::new(masked)));
        Ok(())
    }
}
