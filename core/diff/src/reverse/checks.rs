//! What the forward sweep checks when it runs: that what was read is what it was taken for, where several things may lie.

use enzyme_ir::{InstId, Op, ValueId};

use super::Reverse;
use super::forward::place_of;
use crate::copies::{hiding_pointers, taken_for_integer};
use crate::emit::Emit;
use crate::keys::Subject;
use crate::refusal::Refusal;

impl Reverse<'_, '_> {
    /// Checks `r`, which `i` has read.
    pub fn check_read(&mut self, i: InstId, r: ValueId) -> Result<(), Refusal> {
        self.check_character(i, r)?;
        self.check_double(i, r)?;
        self.check_number(i);
        Ok(())
    }

    /// An integer that is read as it is and taken for a character: no piece of a pointer that leads to active memory.
    fn check_character(&mut self, i: InstId, r: ValueId) -> Result<(), Refusal> {
        let inst = &self.s.func.insts[i];
        let (Op::Load(_), Some(p)) = (&inst.op, inst.args.first().copied()) else { return Ok(()) };
        if !self.s.is_active(r) || !taken_for_integer(&self.s, r, p) {
            return Ok(());
        }
        let ctx = &self.e.module.ctx;
        let size = ctx.layout.store_size(&ctx.types, inst.ty).unwrap_or(0);
        let (at, bytes) = (self.forward_shadow(p)?, self.e.b().i64(size));
        let place = place_of(self.e.module, self.s.func, i);
        let primal = self.forward_value(p);
        let tells = self.s.unit.memory.tells_characters(p, Some(size));
        require_text(&mut self.e, tells, [at, primal], bytes, &place);
        Ok(())
    }

    /// A double that is read to be moved: no pointer that leads to active memory.
    fn check_double(&mut self, i: InstId, r: ValueId) -> Result<(), Refusal> {
        let inst = &self.s.func.insts[i];
        let (Op::Load(_), Some(p)) = (&inst.op, inst.args.first().copied()) else { return Ok(()) };
        let Some(bytes) = hiding_pointers(self.e.module, &self.s, i, r, p) else { return Ok(()) };
        let (shadow, primal, bytes) = (self.forward_shadow(p)?, self.forward_value(p), self.e.b().i64(bytes));
        let place = place_of(self.e.module, self.s.func, i);
        crate::words::require_doubles(&mut self.e, shadow, primal, bytes, &place);
        Ok(())
    }

    /// An integer that becomes a number: no bits of a float.
    fn check_number(&mut self, i: InstId) {
        if let Some(number) = counted(&self.s, i).filter(|_| self.lane == 0) {
            let (v, place) = (self.forward_value(number), place_of(self.e.module, self.s.func, i));
            crate::words::require_counts(&mut self.e, v, &place);
        }
    }
}

/// What becomes a number by `i`, or after it, if it may be bits in active memory.
pub fn counted(s: &Subject<'_>, i: InstId) -> Option<ValueId> {
    let number = s.unit.numbers.get(&i)?;
    let mut places = number.loads.iter().filter_map(|load| s.func.insts[*load].args.first());
    places.any(|p| s.has_shadow(*p)).then_some(number.value)
}

/// Ends the program unless `bytes` of shadow memory at `shadow` show that those at `primal` are characters; `tells` whether it is told
/// word by word what lies there.
pub fn require_text(e: &mut Emit<'_>, tells: bool, [shadow, primal]: [ValueId; 2], bytes: ValueId, place: &str) {
    match tells {
        true => crate::words::require_text(e, shadow, Some(primal), bytes, place),
        false => crate::runtime::require_zero(e, shadow, bytes, place),
    }
}
