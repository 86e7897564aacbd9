//! Constants: their words, and the memory of global variables.
//!
//! Constant expressions are computed by the functions that run instructions. Undefined values are zero.

use super::shape::{Flat, Scalar, cut, join};
use super::trap::Trap;
use super::{Interp, arith, cast};
use crate::consts::{Const, ConstOp};
use crate::ids::{ConstId, TypeId};
use crate::op::CastOp;
use crate::types::Type;

/// Deepest nesting of aggregates and expressions.
const MAX_DEPTH: u32 = 256;

/// A constant of known words.
struct Known {
    /// Lane type and number of lanes; `None` for aggregates.
    lanes: Option<(u32, Scalar)>,
    words: Vec<u64>,
}

impl Known {
    /// One lane, the same for all lanes of a scalar.
    fn lane(&self, lane: u32) -> Result<(u128, Scalar), Trap> {
        let (count, scalar) = self.lanes.ok_or_else(|| Trap::unsupported("arithmetic on a constant aggregate"))?;
        let step = scalar.words();
        let first = if count == 1 { 0 } else { lane as usize * step as usize };
        let words = self.words.get(first..first + step as usize).unwrap_or(&[]);
        Ok((join(words), scalar))
    }
}

/// Appends one scalar.
fn push(scalar: Scalar, value: u128, out: &mut Vec<u64>) {
    let value = cut(value, scalar.bits());
    out.push(value as u64);
    if scalar.words() > 1 {
        out.push((value >> 64) as u64);
    }
}

impl Interp<'_> {
    /// Appends the words of constant `c` of type `ty`.
    pub(super) fn push_const(&self, c: ConstId, ty: TypeId, depth: u32, out: &mut Vec<u64>) -> Result<(), Trap> {
        if depth > MAX_DEPTH {
            return Err(Trap::limit("nesting of constants"));
        }
        match &self.module.ctx.consts[c] {
            Const::Int { ty, words } => {
                let wanted = self.shapes.flat(*ty)?.words as usize;
                out.extend(words.iter().copied().chain(std::iter::repeat(0)).take(wanted));
            }
            Const::Float { ty, bits } => {
                let scalar = self.shapes.scalar(*ty).ok_or_else(|| Trap::fault("a float constant of another type"))?;
                push(scalar, *bits, out);
            }
            Const::Zero(ty) | Const::Undef(ty) | Const::Poison(ty) => {
                out.resize(out.len() + self.shapes.flat(*ty)?.words as usize, 0);
            }
            Const::Aggregate { ty, elems } => {
                let children = self.module.ctx.types.children(*ty);
                let kinds = children.iter().flat_map(|(c, n)| std::iter::repeat_n(*c, *n as usize));
                for (elem, ty) in elems.iter().zip(kinds) {
                    self.push_const(*elem, ty, depth + 1, out)?;
                }
            }
            Const::Data { ty, bytes } => {
                let flat = self.shapes.flat(*ty)?;
                let mut at = 0usize;
                for lane in &flat.lanes {
                    let size = lane.scalar.bytes() as usize;
                    let part = bytes.get(at..at + size).unwrap_or(&[]);
                    let value = part.iter().rev().fold(0u128, |v, b| (v << 8) | u128::from(*b));
                    push(lane.scalar, value, out);
                    at += size;
                }
            }
            Const::Global(g) => out.push(self.global_address(*g)),
            Const::Func(f) => out.push(self.function_address(*f)),
            Const::BlockAddress { func, block } => out.push(self.function_address(*func) + 1 + u64::from(*block)),
            Const::Expr { ty, op, args } => self.push_expr(*ty, op, args, depth + 1, out)?,
            Const::TokenNone | Const::Metadata(_) => out.push(0),
            Const::Opaque { text, .. } => {
                let _ = ty;
                return Err(Trap::unsupported(format!("the constant `{text}`")));
            }
        }
        Ok(())
    }

    /// The type of a constant; `None` for addresses, which are pointers.
    fn const_type(&self, c: ConstId) -> Option<TypeId> {
        match &self.module.ctx.consts[c] {
            Const::Int { ty, .. }
            | Const::Float { ty, .. }
            | Const::Aggregate { ty, .. }
            | Const::Data { ty, .. }
            | Const::Expr { ty, .. }
            | Const::Opaque { ty, .. }
            | Const::Zero(ty)
            | Const::Undef(ty)
            | Const::Poison(ty) => Some(*ty),
            Const::Global(_) | Const::Func(_) | Const::BlockAddress { .. } | Const::TokenNone | Const::Metadata(_) => {
                None
            }
        }
    }

    fn known(&self, c: ConstId, depth: u32) -> Result<Known, Trap> {
        let ty = self.const_type(c);
        let mut words = Vec::new();
        // The type of an address is not looked at.
        self.push_const(c, ty.unwrap_or_else(|| cranelift_entity::EntityRef::new(0)), depth, &mut words)?;
        let lanes = match ty {
            Some(ty) => self.shapes.lanes(ty).ok(),
            None => Some((1, Scalar::Ptr)),
        };
        Ok(Known { lanes, words })
    }

    fn push_expr(
        &self,
        ty: TypeId,
        op: &ConstOp,
        args: &[ConstId],
        depth: u32,
        out: &mut Vec<u64>,
    ) -> Result<(), Trap> {
        let known = args.iter().map(|a| self.known(*a, depth)).collect::<Result<Vec<_>, _>>()?;
        let arg = |i: usize| known.get(i).ok_or_else(|| Trap::fault("a constant expression with too few operands"));
        let (lanes, scalar) = self.shapes.lanes(ty)?;
        match op {
            ConstOp::Cast(CastOp::BitCast) => {
                let from = match args.first().and_then(|a| self.const_type(*a)) {
                    Some(ty) => self.shapes.flat(ty)?,
                    None => std::rc::Rc::new(pointer_flat()),
                };
                let to = self.shapes.flat(ty)?;
                let mut bytes = vec![0; from.bytes.max(to.bytes) as usize];
                let start = out.len();
                out.resize(start + to.words as usize, 0);
                let target = out.get_mut(start..).unwrap_or(&mut []);
                from.write(&arg(0)?.words, &mut bytes)
                    .and_then(|()| to.read(&bytes, target))
                    .ok_or_else(|| Trap::fault("a bit cast between different sizes"))?;
            }
            ConstOp::Cast(op) => {
                for lane in 0..lanes {
                    let (value, from) = arg(0)?.lane(lane)?;
                    push(scalar, cast::cast(*op, from, scalar, value)?, out);
                }
            }
            ConstOp::Binary(op) => {
                for lane in 0..lanes {
                    let (a, b) = (arg(0)?.lane(lane)?.0, arg(1)?.lane(lane)?.0);
                    push(scalar, arith::binary(*op, scalar.bits(), a, b).map_err(Trap::fault)?, out);
                }
            }
            ConstOp::Gep(elem, _) => {
                for lane in 0..lanes {
                    let mut address = arg(0)?.lane(lane)?.0 as u64;
                    let mut current = *elem;
                    for (position, index) in known.iter().skip(1).enumerate() {
                        let (value, kind) = index.lane(lane)?;
                        let index = arith::signed(value, kind.bits()) as i64;
                        let (offset, next) = self.step(current, index, position == 0)?;
                        address = address.wrapping_add(offset as u64);
                        current = next;
                    }
                    out.push(address);
                }
            }
            ConstOp::ExtractElement => {
                let index = arg(1)?.lane(0)?.0;
                push(scalar, arg(0)?.lane(u32::try_from(index).unwrap_or(u32::MAX / 4))?.0, out);
            }
            ConstOp::InsertElement => {
                let index = arg(2)?.lane(0)?.0;
                for lane in 0..lanes {
                    let from = if u128::from(lane) == index { (1, 0) } else { (0, lane) };
                    push(scalar, arg(from.0)?.lane(from.1)?.0, out);
                }
            }
            ConstOp::Shuffle(mask) => {
                let count = arg(0)?.lanes.map_or(1, |l| l.0);
                for lane in mask {
                    let value = match u32::try_from(*lane) {
                        Ok(l) if l < count => arg(0)?.lane(l)?.0,
                        Ok(l) => arg(1)?.lane(l - count)?.0,
                        Err(_) => 0,
                    };
                    push(scalar, value, out);
                }
            }
        }
        Ok(())
    }

    /// Offset in bytes, and type, of element `index` of `ty`, or of the `index`-th `ty` if `over` (the first
    /// index of address arithmetic).
    pub(super) fn step(&self, ty: TypeId, index: i64, over: bool) -> Result<(i64, TypeId), Trap> {
        if over {
            return Ok((index.wrapping_mul(self.shapes.size_of(ty)? as i64), ty));
        }
        let bad = || Trap::fault("address arithmetic into a type without such an element");
        match self.shapes.ty(ty) {
            Type::Struct(_) => {
                let (types, layout) = (&self.module.ctx.types, &self.module.ctx.layout);
                let index = u64::try_from(index).map_err(|_| bad())?;
                let (offset, elem) = layout.element(types, ty, index).ok_or_else(bad)?;
                Ok((offset as i64, elem))
            }
            Type::Array { elem, .. } | Type::Vector { elem, .. } => {
                Ok((index.wrapping_mul(self.shapes.size_of(*elem)? as i64), *elem))
            }
            _ => Err(bad()),
        }
    }

    /// Writes constant `c` of type `ty` to memory that is still zero.
    pub(super) fn write_const(&mut self, address: u64, c: ConstId, ty: TypeId, depth: u32) -> Result<(), Trap> {
        let module = self.module;
        if depth > MAX_DEPTH {
            return Err(Trap::limit("nesting of constants"));
        }
        match &module.ctx.consts[c] {
            Const::Zero(_) | Const::Undef(_) | Const::Poison(_) => Ok(()),
            Const::Data { ty, bytes } if !matches!(self.shapes.ty(*ty), Type::Vector { .. }) => {
                self.memory.bytes_mut(address, bytes.len())?.copy_from_slice(bytes);
                Ok(())
            }
            Const::Aggregate { elems, .. } if !matches!(self.shapes.ty(ty), Type::Vector { .. }) => {
                for (i, elem) in elems.iter().enumerate() {
                    let (offset, elem_ty) = self.step(ty, i as i64, false)?;
                    self.write_const(address.wrapping_add(offset as u64), *elem, elem_ty, depth + 1)?;
                }
                Ok(())
            }
            _ => {
                let mut words = Vec::new();
                self.push_const(c, ty, depth, &mut words)?;
                let flat = self.shapes.flat(ty)?;
                let bytes = self.memory.bytes_mut(address, flat.bytes as usize)?;
                flat.write(&words, bytes).ok_or_else(|| Trap::fault("an initialiser of another type than its global"))
            }
        }
    }
}

fn pointer_flat() -> Flat {
    Flat { lanes: vec![super::shape::Lane { word: 0, bit: 0, scalar: Scalar::Ptr }], words: 1, bytes: 8 }
}
