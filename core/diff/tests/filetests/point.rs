//! Arguments of a call as a point: the floats in them by number, and the memory they point to.

use enzyme_ir::interp::{Interp, Trap, Val};
use enzyme_ir::{Func, Module, Type, TypeId};

use crate::directive::Written;

/// A scalar in memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Double(f64),
    Float(f32),
    Int(u32, i128),
    Pointer(usize),
}

/// Memory passed to a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub shadowed: bool,
    pub cells: Vec<(u64, Cell)>,
    pub bytes: u64,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// By value; active or not.
    Value(Val, bool),
    /// An integer that holds a `double`.
    Bits(f64),
    /// Address of memory, and an offset.
    Pointer(usize, u64, bool),
}

/// The arguments of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    pub args: Vec<Arg>,
    pub memory: Vec<Memory>,
}

/// What is held by cells or values besides the primal: tangents or adjoints.
pub struct Placed {
    pub primal: Vec<u64>,
    pub shadow: Vec<u64>,
}

/// A pattern for integers in shadow memory, which nobody may rely on.
const NO_INTEGER: u64 = 0x7171_7171_7171_7171;

impl Point {
    /// The arguments of `func` as written.
    pub fn new(module: &Module, func: &Func, written: &[Written]) -> Result<Point, String> {
        if written.len() != func.params.len() {
            return Err(format!("{} arguments for {} parameters", written.len(), func.params.len()));
        }
        let mut out = Point::default();
        for (w, p) in written.iter().zip(&func.params) {
            let arg = out.argument(module, func.ty(*p), w, false)?;
            out.args.push(arg);
        }
        Ok(out)
    }

    fn argument(&mut self, module: &Module, ty: TypeId, written: &Written, constant: bool) -> Result<Arg, String> {
        Ok(match written {
            Written::Const(inner) => return self.argument(module, ty, inner, true),
            Written::Same(n, offset) => match self.args.get(*n) {
                Some(Arg::Pointer(m, at, _)) => Arg::Pointer(*m, at + offset, constant),
                _ => return Err(format!("argument {n} is no pointer before this one")),
            },
            Written::Memory(cells) => Arg::Pointer(self.allocate(cells, !constant)?, 0, constant),
            Written::Null => Arg::Value(Val::Ptr(0), false),
            Written::Bits(x) => Arg::Bits(*x),
            Written::Float(_) | Written::Float32(_) | Written::Int(..) | Written::Aggregate(_) => {
                let float = module.ctx.types.contains_float(ty);
                Arg::Value(value(module, ty, written)?, float && !constant)
            }
        })
    }

    fn allocate(&mut self, cells: &[Written], shadowed: bool) -> Result<usize, String> {
        let mut out = Memory { shadowed, cells: Vec::new(), bytes: 0 };
        for c in cells {
            let (cell, size) = match c {
                Written::Float(x) => (Cell::Double(*x), 8),
                Written::Float32(x) => (Cell::Float(*x as f32), 4),
                Written::Int(bits, n) => (Cell::Int(*bits, *n), u64::from(bits / 8)),
                Written::Memory(inner) => (Cell::Pointer(self.allocate(inner, shadowed)?), 8),
                other => return Err(format!("{other:?} in memory")),
            };
            let at = out.bytes.next_multiple_of(size);
            out.cells.push((at, cell));
            out.bytes = at + size;
        }
        self.memory.push(out);
        Ok(self.memory.len() - 1)
    }

    /// All active floats: those of arguments by value, then those in memory with a shadow.
    pub fn floats(&self) -> Vec<f64> {
        let mut out = Vec::new();
        for a in &self.args {
            match a {
                Arg::Value(v, true) => floats_of(v, &mut out),
                Arg::Bits(x) => out.push(*x),
                Arg::Value(_, false) | Arg::Pointer(..) => {}
            }
        }
        for (_, cell) in self.memory.iter().filter(|m| m.shadowed).flat_map(|m| &m.cells) {
            match cell {
                Cell::Double(x) => out.push(*x),
                Cell::Float(x) => out.push(f64::from(*x)),
                Cell::Int(..) | Cell::Pointer(_) => {}
            }
        }
        out
    }

    /// How many of the floats belong to arguments by value.
    pub fn scalars(&self) -> usize {
        self.floats().len() - self.cells()
    }

    /// How many of the floats are in memory.
    pub fn cells(&self) -> usize {
        let shadowed = self.memory.iter().filter(|m| m.shadowed).flat_map(|m| &m.cells);
        shadowed.filter(|(_, c)| matches!(c, Cell::Double(_) | Cell::Float(_))).count()
    }

    /// The same point with other floats.
    pub fn with(&self, floats: &[f64]) -> Point {
        let mut out = self.clone();
        let mut next = floats.iter().copied();
        for a in &mut out.args {
            match a {
                Arg::Value(v, true) => set_floats(v, &mut next),
                Arg::Bits(x) => *x = next.next().unwrap_or(0.0),
                Arg::Value(_, false) | Arg::Pointer(..) => {}
            }
        }
        for (_, cell) in out.memory.iter_mut().filter(|m| m.shadowed).flat_map(|m| &mut m.cells) {
            match cell {
                Cell::Double(x) => *x = next.next().unwrap_or(0.0),
                Cell::Float(x) => *x = next.next().unwrap_or(0.0) as f32,
                Cell::Int(..) | Cell::Pointer(_) => {}
            }
        }
        out
    }

    /// Puts the memory into an interpreter, and beside it shadow memory that holds `beside`.
    pub fn place(&self, interp: &mut Interp<'_>, beside: &[f64]) -> Result<Placed, Trap> {
        let mut placed = Placed { primal: Vec::new(), shadow: Vec::new() };
        let mut next = beside.iter().copied();
        for m in &self.memory {
            placed.primal.push(interp.alloc(m.bytes)?);
            placed.shadow.push(if m.shadowed { interp.alloc(m.bytes)? } else { 0 });
        }
        for (n, m) in self.memory.iter().enumerate() {
            if !m.shadowed {
                placed.shadow[n] = placed.primal[n];
            }
        }
        for (n, m) in self.memory.iter().enumerate() {
            for (at, cell) in &m.cells {
                let (p, s) = (placed.primal[n] + at, placed.shadow[n] + at);
                let write = |interp: &mut Interp<'_>, primal: &[u8], shadow: &[u8]| {
                    interp.write_bytes(p, primal)?;
                    if m.shadowed { interp.write_bytes(s, shadow) } else { Ok(()) }
                };
                let mut beside = || if m.shadowed { next.next().unwrap_or(0.0) } else { 0.0 };
                match cell {
                    Cell::Double(x) => write(interp, &x.to_le_bytes(), &beside().to_le_bytes())?,
                    Cell::Float(x) => write(interp, &x.to_le_bytes(), &(beside() as f32).to_le_bytes())?,
                    Cell::Int(bits, v) => {
                        let size = *bits as usize / 8;
                        write(interp, &v.to_le_bytes()[..size], &u128::from(NO_INTEGER).to_le_bytes()[..size])?;
                    }
                    Cell::Pointer(to) => {
                        write(interp, &placed.primal[*to].to_le_bytes(), &placed.shadow[*to].to_le_bytes())?;
                    }
                }
            }
        }
        Ok(placed)
    }

    /// The floats in memory with a shadow, read from primal or shadow memory.
    pub fn read(&self, interp: &Interp<'_>, blocks: &[u64]) -> Result<Vec<f64>, Trap> {
        let mut out = Vec::new();
        for (m, base) in self.memory.iter().zip(blocks).filter(|(m, _)| m.shadowed) {
            for (at, cell) in &m.cells {
                match cell {
                    Cell::Double(_) => out.extend(interp.read_f64s(base + at, 1)?),
                    Cell::Float(_) => out.extend(interp.read_f32s(base + at, 1)?.into_iter().map(f64::from)),
                    Cell::Int(..) | Cell::Pointer(_) => {}
                }
            }
        }
        Ok(out)
    }

    /// All bytes of primal memory but those of pointers.
    pub fn image(&self, interp: &Interp<'_>, blocks: &[u64]) -> Result<Vec<u8>, Trap> {
        let mut out = Vec::new();
        for (m, base) in self.memory.iter().zip(blocks) {
            for (at, cell) in &m.cells {
                let size = match cell {
                    Cell::Double(_) => 8,
                    Cell::Float(_) => 4,
                    Cell::Int(bits, _) => *bits as usize / 8,
                    Cell::Pointer(_) => continue,
                };
                out.extend(interp.read_bytes(base + at, size)?);
            }
        }
        Ok(out)
    }
}

fn value(module: &Module, ty: TypeId, written: &Written) -> Result<Val, String> {
    let bad = || Err(format!("{written:?} for another type"));
    Ok(match (written, &module.ctx.types[ty]) {
        (Written::Float(x), Type::Float(kind)) => Val::float(*kind, *x),
        (Written::Int(_, n), Type::Int(_)) => Val::int(*n),
        (Written::Aggregate(list), Type::Vector { elem, .. } | Type::Array { elem, .. }) => {
            Val::Agg(list.iter().map(|w| value(module, *elem, w)).collect::<Result<_, _>>()?)
        }
        (Written::Aggregate(list), Type::Struct(s)) => {
            let Some(fields) = &s.fields else { return bad() };
            let values = list.iter().zip(fields).map(|(w, f)| value(module, *f, w));
            Val::Agg(values.collect::<Result<_, _>>()?)
        }
        _ => return bad(),
    })
}

/// Appends the floats in `v`.
pub fn floats_of(v: &Val, out: &mut Vec<f64>) {
    match (v.as_f64(), v.elements()) {
        (Some(x), _) => out.push(x),
        (None, Some(elements)) => elements.iter().for_each(|e| floats_of(e, out)),
        (None, None) => {}
    }
}

/// Replaces the floats in `v`.
pub fn set_floats(v: &mut Val, next: &mut impl Iterator<Item = f64>) {
    match v {
        Val::F32(x) => *x = next.next().unwrap_or(0.0) as f32,
        Val::F64(x) => *x = next.next().unwrap_or(0.0),
        Val::Float(kind, _) => *v = Val::float(*kind, next.next().unwrap_or(0.0)),
        Val::Agg(elements) => elements.iter_mut().for_each(|e| set_floats(e, next)),
        Val::Int(_) | Val::Wide(_) | Val::Ptr(_) => {}
    }
}
