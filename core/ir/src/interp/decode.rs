//! Decodes a function into [`Compiled`] form: registers, blocks, edges.
//!
//! An instruction that cannot be decoded becomes a step that raises its trap, so that what is never run is never
//! missed. Branch targets are first edges (predecessor, successor); when all blocks stand, an edge becomes either
//! the start of its successor or a landing of moves for the phis there. The moves of an edge happen at once (LLVM
//! LangRef, "phi"): where one would overwrite the source of another, all sources go through spare registers.

use std::collections::HashMap;
use std::rc::Rc;

use super::Interp;
use super::code::{Arg, Code, Compiled, ParamSlot, Reg};
use super::shape::Scalar;
use super::trap::Trap;
use crate::func::{Func, Inst, ValueDef};
use crate::ids::{BlockId, FuncId, InstId, TypeId, ValueId};
use crate::op::Op;
use crate::types::{FloatKind, Type};

/// Most registers of one frame.
const MAX_WORDS: u64 = 1 << 26;

/// A function half decoded.
pub(super) struct Decoder<'a, 'm> {
    pub interp: &'a mut Interp<'m>,
    pub func: &'m Func,
    /// Block that is being decoded.
    pub block: BlockId,
    inst: Option<InstId>,
    regs: HashMap<ValueId, Result<Reg, Trap>>,
    /// First register after the parameters, and what stands from there on.
    first_constant: u32,
    constants: Vec<u64>,
    words: u64,
    pub code: Vec<Code>,
    insts: Vec<Option<InstId>>,
    edges: Vec<(BlockId, BlockId)>,
}

impl<'m> Interp<'m> {
    /// The function in decoded form; a declaration becomes a call of what is known by its name.
    pub(super) fn compile(&mut self, id: FuncId) -> Result<Rc<Compiled>, Trap> {
        let func = self.module.funcs.get(id).ok_or_else(|| Trap::fault("a function of another module"))?;
        let (ret, param_types, variadic) = self.module.signature(id);
        let mut params = Vec::new();
        let mut param_words = 0usize;
        for (i, ty) in param_types.iter().enumerate() {
            let words = self.shapes.flat(*ty)?.words;
            let byval = match func.param_attrs.get(i).and_then(|a| a.byval) {
                Some(inner) => Some(self.shapes.size_of(inner)?),
                None => None,
            };
            let in_vector = matches!(
                self.shapes.ty(*ty),
                Type::Float(
                    FloatKind::Half | FloatKind::BFloat | FloatKind::Float | FloatKind::Double | FloatKind::Fp128
                ) | Type::Vector { .. }
            );
            params.push(ParamSlot { words, in_vector, byval });
            param_words += words as usize;
        }
        let is_void = matches!(self.shapes.ty(ret), Type::Void);
        let ret_words = if is_void { 0 } else { self.shapes.flat(ret)?.words };
        let mut decoder = Decoder {
            interp: self,
            func,
            block: cranelift_entity::EntityRef::new(0),
            inst: None,
            regs: HashMap::new(),
            first_constant: param_words as u32,
            constants: Vec::new(),
            words: param_words as u64,
            code: Vec::new(),
            insts: Vec::new(),
            edges: Vec::new(),
        };
        if func.is_declaration() {
            decoder.stub(&param_types, ret, ret_words, variadic)?;
        } else {
            decoder.body(&param_types)?;
        }
        if decoder.words > MAX_WORDS {
            return Err(Trap::unsupported(format!("the function `{}` with too many values", func.name)));
        }
        Ok(Rc::new(Compiled {
            id,
            code: decoder.code,
            insts: decoder.insts,
            params,
            param_words,
            variadic,
            constants: decoder.constants,
            words: decoder.words as usize,
            ret_words,
        }))
    }
}

impl Decoder<'_, '_> {
    fn stub(&mut self, params: &[TypeId], ret: TypeId, ret_words: u32, variadic: bool) -> Result<(), Trap> {
        let mut args = Vec::new();
        let mut next = 0;
        for ty in params {
            let arg = self.arg_at(next, *ty)?;
            next += arg.words;
            args.push(arg);
        }
        let d = self.fresh(ret_words.max(1));
        let name = &self.func.name;
        if let Err(trap) = self.external(name, &args, d, ret, variadic) {
            self.push(Code::Trap(Box::new(trap)));
        }
        self.push(Code::Ret { a: d, n: ret_words });
        Ok(())
    }

    fn body(&mut self, params: &[TypeId]) -> Result<(), Trap> {
        let func = self.func;
        let mut next = 0;
        for (param, ty) in func.params.iter().zip(params) {
            self.regs.insert(*param, Ok(next));
            next += self.interp.shapes.flat(*ty)?.words;
        }
        let placed: Vec<(BlockId, InstId)> = func.placed().collect();
        for (_, id) in &placed {
            for v in &func.insts[*id].args {
                self.gather_constant(*v);
            }
        }
        for (_, id) in &placed {
            let inst = &func.insts[*id];
            if let Some(result) = inst.result {
                let words = self.interp.shapes.flat(inst.ty).map(|f| f.words);
                let reg = words.map(|w| self.fresh(w));
                self.regs.insert(result, reg);
            }
        }
        let mut starts = HashMap::new();
        for block in &func.layout {
            self.block = *block;
            starts.insert(*block, self.code.len() as u32);
            for id in &func.blocks[*block].insts {
                self.inst = Some(*id);
                if let Err(trap) = self.instruction(&func.insts[*id]) {
                    self.push(Code::Trap(Box::new(trap)));
                }
            }
            // Only a block without a terminator falls through to here.
            if func.terminator(*block).is_none() {
                self.push(Code::Trap(Box::new(Trap::fault("a block without an end"))));
            }
        }
        self.resolve_edges(&starts)
    }

    fn gather_constant(&mut self, v: ValueId) {
        let Some(value) = self.func.values.get(v).copied() else { return };
        let ValueDef::Const(c) = value.def else { return };
        if self.regs.contains_key(&v) {
            return;
        }
        let start = self.constants.len();
        let reg = match self.interp.push_const(c, value.ty, 0, &mut self.constants) {
            Ok(()) => Ok(self.first_constant + start as u32),
            Err(trap) => {
                self.constants.truncate(start);
                Err(trap)
            }
        };
        self.words = u64::from(self.first_constant) + self.constants.len() as u64;
        self.regs.insert(v, reg);
    }

    /// Appends a step of the current instruction.
    pub fn push(&mut self, code: Code) {
        self.code.push(code);
        self.insts.push(self.inst);
    }

    /// New registers.
    pub fn fresh(&mut self, words: u32) -> Reg {
        let reg = self.words;
        self.words += u64::from(words);
        // A frame that grows over the limit is refused at the end.
        u32::try_from(reg).unwrap_or(0)
    }

    /// A new register that holds `value` when the step pushed here is run.
    pub fn fresh_value(&mut self, value: u64) -> Reg {
        let d = self.fresh(1);
        self.push(Code::Set { d, value });
        d
    }

    /// The first register of a value.
    pub fn reg(&self, v: ValueId) -> Result<Reg, Trap> {
        match self.regs.get(&v) {
            Some(reg) => reg.clone(),
            None => Err(Trap::fault(format!("use of {v}, which nothing defines"))),
        }
    }

    /// Operand `i` of an instruction.
    pub fn operand(&self, inst: &Inst, i: usize) -> Result<Arg, Trap> {
        let v = *inst.args.get(i).ok_or_else(|| Trap::fault("an instruction with too few operands"))?;
        self.value(v)
    }

    /// A value with its registers and type.
    pub fn value(&self, v: ValueId) -> Result<Arg, Trap> {
        let ty = self.func.values.get(v).ok_or_else(|| Trap::fault("an operand that does not exist"))?.ty;
        self.arg_at(self.reg(v)?, ty)
    }

    /// A value of `ty` in registers from `reg` on.
    pub fn arg_at(&self, reg: Reg, ty: TypeId) -> Result<Arg, Trap> {
        let words = self.interp.shapes.flat(ty)?.words;
        Ok(Arg { reg, words, ty, scalar: self.interp.shapes.scalar(ty) })
    }

    /// The result registers of an instruction.
    pub fn result(&self, inst: &Inst) -> Result<Reg, Trap> {
        match inst.result {
            Some(v) => self.reg(v),
            None => Err(Trap::fault("an instruction without a result")),
        }
    }

    /// The word of a constant of at most 64 bits in register `reg`, if one stands there.
    pub fn constant_word(&self, reg: Reg) -> Option<u64> {
        self.constants.get(reg.checked_sub(self.first_constant)? as usize).copied()
    }

    /// An edge from the current block, to be put where a target stands.
    pub fn edge(&mut self, to: BlockId) -> u32 {
        self.edges.push((self.block, to));
        self.edges.len() as u32 - 1
    }

    /// Moves registers.
    pub fn moves(&mut self, d: Reg, a: Reg, n: u32) {
        match n {
            0 => {}
            1 => self.push(Code::Mov { d, a }),
            n => self.push(Code::MovN { d, a, n }),
        }
    }

    fn resolve_edges(&mut self, starts: &HashMap<BlockId, u32>) -> Result<(), Trap> {
        let body = self.code.len();
        let mut landings = Vec::new();
        for (from, to) in std::mem::take(&mut self.edges) {
            let Some(start) = starts.get(&to).copied() else {
                return Err(Trap::fault(format!("a branch to {to}, which is not in the function")));
            };
            let landing = self.code.len() as u32;
            self.inst = self.func.blocks[from].insts.last().copied();
            if let Err(trap) = self.phi_moves(from, to) {
                self.push(Code::Trap(Box::new(trap)));
            }
            if self.code.len() as u32 == landing {
                landings.push(start);
            } else {
                self.push(Code::Jump(start));
                landings.push(landing);
            }
        }
        let find = |edge: &mut u32| *edge = landings.get(*edge as usize).copied().unwrap_or(u32::MAX);
        for code in self.code.iter_mut().take(body) {
            match code {
                Code::Jump(to) => find(to),
                Code::CondBr { then_to, else_to, .. } => {
                    find(then_to);
                    find(else_to);
                }
                Code::Switch(switch) => {
                    find(&mut switch.default);
                    switch.cases.iter_mut().for_each(|(_, to)| find(to));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn phi_moves(&mut self, from: BlockId, to: BlockId) -> Result<(), Trap> {
        let func = self.func;
        let mut moves: Vec<(Reg, Reg, u32)> = Vec::new();
        for id in &func.blocks[to].insts {
            let inst = &func.insts[*id];
            let Op::Phi(blocks) = &inst.op else { break };
            let position = blocks.iter().position(|b| *b == from);
            let source = position.and_then(|p| inst.args.get(p));
            let source = source.ok_or_else(|| Trap::fault(format!("a phi of {to} without a value for {from}")))?;
            let (d, arg) = (self.result(inst)?, self.value(*source)?);
            if d != arg.reg {
                moves.push((d, arg.reg, arg.words));
            }
        }
        let overlap = |(d, _, n): &(Reg, Reg, u32), (_, a, m): &(Reg, Reg, u32)| *d < a + m && *a < d + n;
        let conflict = moves.iter().enumerate().any(|(i, m)| moves.iter().skip(i + 1).any(|later| overlap(m, later)));
        if !conflict {
            moves.iter().for_each(|(d, a, n)| self.moves(*d, *a, *n));
            return Ok(());
        }
        let spare: Vec<Reg> = moves.iter().map(|(_, _, n)| self.fresh(*n)).collect();
        for ((_, a, n), s) in moves.iter().zip(&spare) {
            self.moves(*s, *a, *n);
        }
        for ((d, _, n), s) in moves.iter().zip(&spare) {
            self.moves(*d, *s, *n);
        }
        Ok(())
    }

    /// Lane count and lane type of a value, all lanes at most 128 bits wide.
    pub fn lanes(&self, ty: TypeId) -> Result<(u32, Scalar), Trap> {
        let (count, scalar) = self.interp.shapes.lanes(ty)?;
        if scalar.bits() > 128 {
            return Err(Trap::unsupported(format!("arithmetic on integers of {} bits", scalar.bits())));
        }
        Ok((count, scalar))
    }
}
