//! Which conversions are made for which types.

use crate::ids::TypeId;
use crate::module::Module;
use crate::op::CastOp;
use crate::types::Type;

/// Number of lanes of a vector and whether it is scalable.
pub(super) type Lanes = Option<(u32, bool)>;

/// Lanes, and the type of a lane or of the scalar itself. The type must be in range.
pub(super) fn split(module: &Module, ty: TypeId) -> (Lanes, TypeId) {
    match &module.ctx.types[ty] {
        Type::Vector { elem, len, scalable } => (Some((*len, *scalable)), *elem),
        _ => (None, ty),
    }
}

/// Bits of a lane or scalar.
pub(super) fn lane_bits(module: &Module, ty: TypeId) -> Option<u32> {
    match &module.ctx.types[split(module, ty).1] {
        Type::Int(bits) => Some(*bits),
        Type::Float(kind) => Some(kind.bits()),
        Type::Ptr(space) => Some(module.ctx.layout.pointer_bits(*space)),
        _ => None,
    }
}

/// Whether `op` converts `from` to `to`.
pub(super) fn cast_fits(module: &Module, op: CastOp, from: TypeId, to: TypeId) -> bool {
    let (from_lanes, from_lane) = split(module, from);
    let (to_lanes, to_lane) = split(module, to);
    let same_lanes = from_lanes == to_lanes;
    let types = &module.ctx.types;
    let is_int = |t: TypeId| matches!(types[t], Type::Int(_));
    let is_float = |t: TypeId| matches!(types[t], Type::Float(_));
    let is_ptr = |t: TypeId| matches!(types[t], Type::Ptr(_));
    let (narrows, widens) = match (lane_bits(module, from), lane_bits(module, to)) {
        (Some(a), Some(b)) => (a > b, a < b),
        _ => (false, false),
    };
    match op {
        CastOp::Trunc => same_lanes && is_int(from_lane) && is_int(to_lane) && narrows,
        CastOp::ZExt | CastOp::SExt => same_lanes && is_int(from_lane) && is_int(to_lane) && widens,
        CastOp::FPToUI | CastOp::FPToSI => same_lanes && is_float(from_lane) && is_int(to_lane),
        CastOp::UIToFP | CastOp::SIToFP => same_lanes && is_int(from_lane) && is_float(to_lane),
        CastOp::FPTrunc => same_lanes && is_float(from_lane) && is_float(to_lane) && narrows,
        CastOp::FPExt => same_lanes && is_float(from_lane) && is_float(to_lane) && widens,
        CastOp::PtrToInt | CastOp::PtrToAddr => same_lanes && is_ptr(from_lane) && is_int(to_lane),
        CastOp::IntToPtr => same_lanes && is_int(from_lane) && is_ptr(to_lane),
        CastOp::AddrSpaceCast => same_lanes && is_ptr(from_lane) && is_ptr(to_lane) && from_lane != to_lane,
        CastOp::BitCast => {
            let whole = |t: TypeId, lanes: Lanes| {
                let (len, scalable) = lanes.unwrap_or((1, false));
                Some((u64::from(lane_bits(module, t)?) * u64::from(len), scalable))
            };
            let size = whole(from, from_lanes);
            // AMX tiles have no lanes that could be counted.
            let is_tile = |t: TypeId| matches!(types[t], Type::X86Amx);
            let same_size = size.is_some() && size == whole(to, to_lanes);
            let same_kind = if is_ptr(from_lane) { from_lane == to_lane } else { !is_ptr(to_lane) };
            is_tile(from) || is_tile(to) || same_size && same_kind
        }
    }
}
