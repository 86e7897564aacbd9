//! State: what passes from the forward sweep to the reverse sweep.
//!
//! How the rows of a loop's cache lie: where the number of iterations is known before the loop, the rows of one entry of
//! the loop are a *chunk* in which each column is an array indexed by iteration, so that both sweeps read and write vectors.
//! The chunk of the entry after `base` rows begins `base * row` bytes into the buffer; column `c` of a chunk of `n` rows
//! begins `n * before(c)` bytes into it. Where the number is not known, one row follows the other.

use std::collections::BTreeMap;

use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BinOp, FloatKind, IntPred, MemClass, Type, TypeId, ValueId};

use super::Reverse;
use crate::carried::Carried;
use crate::keys::Key;
use crate::plan::Rows;
use crate::refusal::Refusal;
use crate::request::Mode;

/// What a guess of the size of a cache may ask for at once; beyond it the cache grows. Untouched memory costs nothing.
const GUESS_BYTES: u64 = 64 << 20;

/// Rows of a loop that takes them one by one, to begin with, in memory of an arena: those of few iterations are never copied.
const FEWEST_ROWS: u64 = 4;

/// Slots of the cache of one loop.
#[derive(Clone, Debug)]
pub(crate) struct CacheSlots {
    /// One buffer for the columns of each kind (floats of one format, pointers, integers): so that what a buffer holds is
    /// known where a derivative is differentiated again.
    pub buffers: Vec<Buffer>,
    /// Number of rows allocated.
    pub rows: ValueId,
    /// Number of rows that there will be if every loop is entered as often as it can be, where that is known.
    pub expected: Option<ValueId>,
    /// The first of the columns of each key: shadows have one for each lane.
    pub first: Vec<usize>,
    /// Byte size of each column.
    pub sizes: Vec<u64>,
    /// Bytes of a row before each column.
    pub before: Vec<u64>,
    /// The buffer of each column.
    pub of: Vec<usize>,
    /// Type in which each column is stored.
    pub types: Vec<TypeId>,
}

/// A buffer with rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    /// Slot of the pointer to the rows.
    pub slot: ValueId,
    /// Bytes of a row.
    pub row: u64,
}

/// Slots of the cache of loads that are the same throughout a loop.
#[derive(Clone, Debug)]
pub(crate) struct SteadySlots {
    /// The cache.
    pub cache: CacheSlots,
    /// Rows used by earlier entries of the loop, if there may be any.
    pub base: Option<ValueId>,
    /// Rows of the entry at hand.
    pub chunk: ValueId,
    /// Rows from one iteration of the loop to the next: none where the loads are the same.
    pub step: Option<ValueId>,
    /// Rows from one iteration to the next of the loops in which they vary, from the second one outwards.
    pub strides: Vec<ValueId>,
}

/// A row of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Row {
    /// That of the iteration at hand, so many rows further on.
    Iteration(u64),
    /// One of those before that of the first iteration.
    Front(u64),
}

/// All slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// Values outside of loops, with their lanes.
    pub cells: BTreeMap<(Key, usize), (ValueId, TypeId)>,
    /// Caches of loops.
    pub caches: BTreeMap<LoopId, CacheSlots>,
    /// Rows used by earlier entries of a nested loop.
    pub bases: BTreeMap<LoopId, ValueId>,
    /// Rows of the entry at hand of a nested loop whose number of iterations is known on entry.
    pub chunks: BTreeMap<LoopId, ValueId>,
    /// Caches of loads that are the same throughout a loop, in the order of the plan.
    pub steady: Vec<SteadySlots>,
    /// Address of the arena, which begins with the list of memory to free at the end of the outermost derivative.
    pub deferred: Option<ValueId>,
    /// The address of the list of tapes of products.
    pub products: Option<ValueId>,
    /// Everything above in order, with types: the content of the tape.
    pub all: Vec<(ValueId, TypeId)>,
}

impl State {
    /// The slots that hold the addresses of all caches with rows.
    pub fn buffers(&self) -> Vec<ValueId> {
        let caches = self.caches.values().chain(self.steady.iter().map(|s| &s.cache));
        caches.flat_map(|c| &c.buffers).map(|b| b.slot).collect()
    }
}

impl Reverse<'_, '_> {
    /// Type of the value that `key` stands for.
    pub fn key_type(&mut self, key: Key) -> TypeId {
        match key {
            Key::Primal(v) | Key::Shadow(v) | Key::Column(v) => self.s.func.ty(v),
            Key::Entered(_) => self.e.module.ctx.types.int(32),
            Key::Count(_) | Key::Latest(_) => self.e.module.ctx.types.int(64),
            Key::Tape(_) => self.e.module.ctx.types.ptr(),
        }
    }

    /// Type in which a cache stores values of `ty`: bits one to a byte.
    fn stored_type(&mut self, ty: TypeId) -> TypeId {
        match self.e.module.ctx.types[ty] {
            Type::Int(1) => self.e.module.ctx.types.int(8),
            _ => ty,
        }
    }

    /// Creates all slots.
    pub fn make_state(&mut self) {
        let (ptr, i64) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.int(64));
        let mut state = State::default();
        for key in &self.plan.cells {
            let ty = self.key_type(*key);
            let memory = match key {
                Key::Primal(v) | Key::Shadow(v) => {
                    self.s.func.def_inst(*v).filter(|i| self.plan.heap_slots.contains(i))
                }
                Key::Count(_) | Key::Entered(_) | Key::Tape(_) | Key::Column(_) | Key::Latest(_) => None,
            };
            let lanes = if matches!(key, Key::Shadow(_)) { self.shadows.len() } else { 1 };
            for lane in 0..lanes {
                let none = memory.map(|_| self.e.at_entry().zero(ty));
                let slot = self.e.slot(ty, none);
                state.cells.insert((*key, lane), (slot, ty));
                state.all.push((slot, ty));
            }
        }
        for (l, cache) in &self.plan.loops {
            let none = self.e.at_entry().i64(0);
            let slots = self.cache_slots(&cache.keys);
            state.all.extend(slots.buffers.iter().map(|b| (b.slot, ptr)).chain([(slots.rows, i64)]));
            state.caches.insert(*l, slots);
            if self.s.scope(Key::Count(*l)).is_some() {
                let base = self.e.slot(i64, Some(none));
                state.bases.insert(*l, base);
                state.all.push((base, i64));
            }
            if matches!(cache.rows, Rows::PerEntry(..)) {
                let chunk = self.e.slot(i64, Some(none));
                state.chunks.insert(*l, chunk);
            }
        }
        for cache in &self.plan.steady {
            let none = self.e.at_entry().i64(0);
            let slots = self.cache_slots(&cache.keys);
            state.all.extend(slots.buffers.iter().map(|b| (b.slot, ptr)).chain([(slots.rows, i64)]));
            let base = (cache.place.over != cache.outermost).then(|| self.e.slot(i64, Some(none)));
            state.all.extend(base.map(|b| (b, i64)));
            let chunk = self.e.slot(i64, Some(none));
            let step = cache.place.condition.map(|_| self.e.slot(i64, Some(none)));
            let strides = cache.place.per.iter().skip(1).map(|_| self.e.slot(i64, Some(none))).collect();
            state.steady.push(SteadySlots { cache: slots, base, chunk, step, strides });
        }
        state.deferred = match self.s.key.mode {
            // One list serves the whole derivative: what a callee frees may still be read by its callers' reverse sweeps.
            Mode::Augmented => self.sig.deferred.and_then(|n| self.e.func.params.get(n)).copied(),
            Mode::Combined
                if !self.plan.frees.deferred.is_empty()
                    || !self.s.activity.calls.is_empty()
                    || self.plan.loops.values().any(|c| c.rows == Rows::PerIteration) =>
            {
                Some(crate::arena::make(&mut self.e))
            }
            Mode::Combined | Mode::Gradient | Mode::Forward => None,
        };
        state.products = match self.s.key.mode {
            Mode::Augmented => self.sig.products.and_then(|n| self.e.func.params.get(n)).copied(),
            Mode::Combined if self.s.key.products && !self.s.activity.calls.is_empty() => {
                let null = self.e.at_entry().zero(ptr);
                Some(self.e.slot(ptr, Some(null)))
            }
            Mode::Combined | Mode::Gradient | Mode::Forward => None,
        };
        self.state = state;
    }

    fn cache_slots(&mut self, keys: &[Key]) -> CacheSlots {
        let (ptr, i64) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.int(64));
        let none = self.e.at_entry().i64(0);
        let rows = self.e.slot(i64, Some(none));
        let (mut types, mut first): (Vec<TypeId>, Vec<usize>) = (Vec::new(), Vec::new());
        for k in keys {
            let ty = self.key_type(*k);
            let ty = self.stored_type(ty);
            first.push(types.len());
            types.extend(vec![ty; if matches!(k, Key::Shadow(_)) { self.shadows.len() } else { 1 }]);
        }
        let layout = &self.e.module.ctx.layout;
        let sizes: Vec<u64> =
            types.iter().map(|t| layout.size_of(&self.e.module.ctx.types, *t).unwrap_or(64)).collect();
        let mut kinds: Vec<Option<Result<FloatKind, ()>>> = Vec::new();
        let mut of = Vec::new();
        for ty in &types {
            let types = &self.e.module.ctx.types;
            let kind = types.float_kind(*ty).map(Ok).or_else(|| types.contains_pointer(*ty).then_some(Err(())));
            let n = kinds.iter().position(|k| *k == kind).unwrap_or(kinds.len());
            if n == kinds.len() {
                kinds.push(kind);
            }
            of.push(n);
        }
        // Wide columns first keep every column aligned.
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|n| (std::cmp::Reverse(alignment(sizes[*n])), *n));
        let mut before = vec![0; sizes.len()];
        let (mut row, mut align) = (vec![0u64; kinds.len()], vec![1; kinds.len()]);
        for n in order {
            before[n] = row[of[n]];
            row[of[n]] += sizes[n];
            align[of[n]] = align[of[n]].max(alignment(sizes[n]));
        }
        let mut buffers = Vec::new();
        for (row, align) in row.into_iter().zip(align) {
            let null = self.e.at_entry().zero(ptr);
            let slot = self.e.slot(ptr, Some(null));
            buffers.push(Buffer { slot, row: row.next_multiple_of(u64::from(align)) });
        }
        CacheSlots { buffers, rows, expected: None, first, sizes, before, of, types }
    }

    /// Stores the value of `key` in the forward sweep, if it is cached; `index` is the iteration of its scope.
    pub fn keep(&mut self, key: Key, mut value: ValueId) {
        if !self.plan.choice.cached.contains(&key) {
            return;
        }
        if let Some((slot, _)) = self.state.cells.get(&(key, self.lane_of(key))).copied() {
            self.e.b().store(value, slot, 0, MemClass::Unknown);
            return;
        }
        let place = match self.plan.steady_row(key) {
            Some((n, column)) => {
                value = self.unless_again(key, value, n);
                self.steady_address(n, column)
            }
            None => self.plan.row_of(&self.s, key).and_then(|(l, column)| {
                let row = match key {
                    Key::Column(_) => Row::Iteration(self.front(l)),
                    _ => Row::Iteration(0),
                };
                self.column_address(l, column, row)
            }),
        };
        if let Some((address, ty, align)) = place {
            let value = self.widen(value, ty);
            self.e.b().store(value, address, align, MemClass::Tape);
        }
    }

    /// Reads `key` from where it was kept.
    pub fn recall(&mut self, key: Key) -> Option<ValueId> {
        if let Some((slot, ty)) = self.state.cells.get(&(key, self.lane_of(key))).copied() {
            return Some(self.e.b().load(ty, slot, 0, MemClass::Unknown));
        }
        let (address, ty, align) = match self.plan.steady_row(key) {
            Some((n, column)) => self.steady_address(n, column)?,
            None => {
                let (l, column) = self.plan.row_of(&self.s, key)?;
                self.column_address(l, column, Row::Iteration(0))?
            }
        };
        let v = self.e.b().load(ty, address, align, MemClass::Tape);
        let wanted = self.key_type(key);
        Some(if ty == wanted { v } else { self.e.to_int(v, wanted) })
    }

    /// Reads what a column holds of an earlier iteration.
    pub fn recall_carried(&mut self, carried: Carried) -> Option<ValueId> {
        let (l, column) = self.plan.row_of(&self.s, Key::Column(carried.leading))?;
        let row = Row::Iteration(self.front(l).checked_sub(carried.distance)?);
        let (address, ty, align) = self.column_address(l, column, row)?;
        Some(self.e.b().load(ty, address, align, MemClass::Tape))
    }

    /// Stores what phis start from in the columns of what they carry on, before `l`.
    pub fn keep_starts(&mut self, l: LoopId) {
        let Some(cache) = self.plan.loops.get(&l) else { return };
        for (column, key) in cache.keys.iter().enumerate() {
            let Key::Column(leading) = key else { continue };
            let starts = self.s.shape.carried.starts.get(leading).map_or(&[][..], Vec::as_slice);
            for (row, start) in (0..cache.front).rev().zip(starts) {
                let value = self.forward_value(*start);
                if let Some((address, _, align)) = self.column_address(l, column, Row::Front(row)) {
                    self.e.b().store(value, address, align, MemClass::Tape);
                }
            }
        }
    }

    /// Rows of one entry of `l` that come before that of the first iteration.
    fn front(&self, l: LoopId) -> u64 {
        self.plan.loops.get(&l).map_or(0, |c| c.front)
    }

    /// Rows of an entry of `l` with so many iterations.
    pub fn with_front(&mut self, l: LoopId, iterations: ValueId) -> ValueId {
        match self.front(l) {
            0 => iterations,
            front => {
                let front = self.e.b().i64(front);
                self.e.b().add(iterations, front)
            }
        }
    }

    fn widen(&mut self, value: ValueId, ty: TypeId) -> ValueId {
        if self.e.ty(value) == ty { value } else { self.e.to_int(value, ty) }
    }

    /// The iteration at hand.
    pub fn iteration(&mut self, l: LoopId) -> ValueId {
        let i64 = self.e.module.ctx.types.int(64);
        let Some(counter) = self.counters.get(&l).copied() else { return self.e.b().i64(0) };
        self.e.b().load(i64, counter, 0, MemClass::Unknown)
    }

    /// Number of the row at hand: iteration plus the rows of earlier entries.
    fn row_index(&mut self, l: LoopId) -> ValueId {
        let i64 = self.e.module.ctx.types.int(64);
        let iteration = self.iteration(l);
        match self.state.bases.get(&l).copied() {
            Some(base) => {
                let base = self.e.b().load(i64, base, 0, MemClass::Unknown);
                self.e.b().add(base, iteration)
            }
            None => iteration,
        }
    }

    /// Address, type and alignment of the element of a column in a row. The module comment says how rows lie.
    fn column_address(&mut self, l: LoopId, column: usize, at: Row) -> Option<(ValueId, TypeId, u32)> {
        let (ptr, i64) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.int(64));
        let slots = self.state.caches.get(&l)?.clone();
        let column = slots.first.get(column)? + self.lane_of(*self.plan.loops.get(&l)?.keys.get(column)?);
        let ty = *slots.types.get(column)?;
        let (size, before) = (*slots.sizes.get(column)?, *slots.before.get(column)?);
        let rows = match (&self.plan.loops.get(&l)?.rows, self.state.chunks.get(&l).copied()) {
            (Rows::Exact(_), _) => Some(slots.rows),
            (Rows::PerEntry(..), chunk) => chunk,
            (Rows::PerIteration, _) => None,
        };
        let of = *slots.buffers.get(*slots.of.get(column)?)?;
        let buffer = self.e.b().load(ptr, of.slot, 0, MemClass::Unknown);
        let (row, before) = (self.e.b().i64(of.row), self.e.b().i64(before));
        let address = match rows {
            Some(rows) => {
                let mut start = buffer;
                if let Some(base) = self.state.bases.get(&l).copied() {
                    let base = self.e.b().load(i64, base, 0, MemClass::Unknown);
                    let offset = self.e.b().binary(BinOp::Mul, base, row);
                    start = self.e.b().byte_offset(start, offset);
                }
                if !self.e.b().is_zero(before) {
                    let rows = self.e.b().load(i64, rows, 0, MemClass::Unknown);
                    let offset = self.e.b().binary(BinOp::Mul, rows, before);
                    start = self.e.b().byte_offset(start, offset);
                }
                let row = match at {
                    Row::Front(row) => self.e.b().i64(row),
                    Row::Iteration(_) => self.iteration(l),
                };
                let address = self.e.b().gep(ty, start, &[row]);
                match at {
                    Row::Iteration(front) if front > 0 => {
                        let front = self.e.b().i64(front);
                        self.e.b().gep(ty, address, &[front])
                    }
                    Row::Iteration(_) | Row::Front(_) => address,
                }
            }
            None => {
                let index = self.row_index(l);
                let offset = self.e.b().binary(BinOp::Mul, index, row);
                let start = self.e.b().byte_offset(buffer, offset);
                self.e.b().byte_offset(start, before)
            }
        };
        Some((address, ty, alignment(size)))
    }

    /// The same for loads that are the same throughout a loop.
    fn steady_address(&mut self, n: usize, column: usize) -> Option<(ValueId, TypeId, u32)> {
        let (ptr, i64) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.int(64));
        let SteadySlots { cache, base, chunk, step, strides } = self.state.steady.get(n)?.clone();
        let place = self.plan.steady.get(n)?.place.clone();
        let column = cache.first.get(column)? + self.lane_of(*self.plan.steady.get(n)?.keys.get(column)?);
        let (ty, size, before) = (*cache.types.get(column)?, *cache.sizes.get(column)?, *cache.before.get(column)?);
        let of = *cache.buffers.get(*cache.of.get(column)?)?;
        let mut start = self.e.b().load(ptr, of.slot, 0, MemClass::Unknown);
        if let Some(base) = base {
            let (base, row) = (self.e.b().load(i64, base, 0, MemClass::Unknown), self.e.b().i64(of.row));
            let offset = self.e.b().binary(BinOp::Mul, base, row);
            start = self.e.b().byte_offset(start, offset);
        }
        if before > 0 {
            let (rows, before) = (self.e.b().load(i64, chunk, 0, MemClass::Unknown), self.e.b().i64(before));
            let offset = self.e.b().binary(BinOp::Mul, rows, before);
            start = self.e.b().byte_offset(start, offset);
        }
        if let Some(step) = step {
            let step = self.e.b().load(i64, step, 0, MemClass::Unknown);
            let turn = self.iteration(place.over);
            let skipped = self.e.b().binary(BinOp::Mul, turn, step);
            start = self.e.b().gep(ty, start, &[skipped]);
        }
        for (n, (l, _)) in place.per.iter().enumerate().rev() {
            let mut index = self.iteration(*l);
            if let Some(stride) = n.checked_sub(1).and_then(|n| strides.get(n)) {
                let stride = self.e.b().load(i64, *stride, 0, MemClass::Unknown);
                index = self.e.b().binary(BinOp::Mul, index, stride);
            }
            start = self.e.b().gep(ty, start, &[index]);
        }
        Some((start, ty, alignment(size)))
    }

    /// The value of `key`, which is stored to the cache `n`, and of which is said in which iterations it is there already.
    fn unless_again(&mut self, key: Key, value: ValueId, n: usize) -> ValueId {
        let (Some(slots), Some(cache)) = (self.state.steady.get(n), self.plan.steady.get(n)) else { return value };
        let (step, place) = (slots.step, cache.place.clone());
        let kind = match self.e.module.ctx.types[self.e.func.ty(value)] {
            Type::Float(kind) => Some(kind),
            _ => None,
        };
        let Some(kind) = kind.filter(|_| crate::steady::is_filled_at_once(&self.s, key, &place)) else { return value };
        let (i64, none) = (self.e.module.ctx.types.int(64), self.e.b().i64(0));
        let turn = self.iteration(place.over);
        let mut again = self.e.b().icmp(IntPred::Ne, turn, none);
        if let Some(step) = step {
            let step = self.e.b().load(i64, step, 0, MemClass::Unknown);
            let stays = self.e.b().icmp(IntPred::Eq, step, none);
            again = self.e.b().binary(BinOp::And, again, stays);
        }
        let same = crate::runtime::again(self.e.module, kind);
        self.e.call_func(same, &[value, again])
    }

    /// Sets how many rows an entry of a loop has in the cache `n`, which keeps what is the same throughout it: from the
    /// condition, if there is one, and the backedge counts.
    pub fn begin_steady(
        &mut self,
        n: usize,
        condition: Option<ValueId>,
        (per, guards): (&[ValueId], &[(ValueId, bool)]),
        over: Option<ValueId>,
    ) {
        let Some(slots) = self.state.steady.get(n).cloned() else { return };
        let (one, none) = (self.e.b().i64(1), self.e.b().i64(0));
        let times = crate::runtime::times(self.e.module);
        let mut once = one;
        for (depth, count) in per.iter().enumerate() {
            let count = self.e.to_i64(*count);
            let mut turns = self.e.b().add(count, one);
            for (guard, value) in guards {
                let (yes, no) = if *value { (turns, none) } else { (none, turns) };
                turns = self.e.choose(*guard, yes, no);
            }
            once = match depth.checked_sub(1).and_then(|d| slots.strides.get(d)) {
                None => turns,
                Some(stride) => {
                    self.e.b().store(once, *stride, 0, MemClass::Unknown);
                    self.e.call_func(times, &[once, turns])
                }
            };
        }
        let mut chunk = once;
        if let (Some(condition), Some(step)) = (condition, slots.step) {
            let turns = match over {
                Some(count) => {
                    let count = self.e.to_i64(count);
                    self.e.b().add(count, one)
                }
                None => one,
            };
            let all = self.e.call_func(times, &[once, turns]);
            chunk = self.e.choose(condition, once, all);
            let by = self.e.choose(condition, none, once);
            self.e.b().store(by, step, 0, MemClass::Unknown);
        }
        self.e.b().store(chunk, slots.chunk, 0, MemClass::Unknown);
    }

    /// Begins the entry of `l` in the caches of what is the same throughout it, in the forward sweep.
    pub fn open_steady(&mut self, l: LoopId) {
        for n in self.steady_over(l) {
            let place = self.plan.steady[n].place.clone();
            let condition = place.condition.map(|c| self.forward_value(c.0));
            let per: Vec<ValueId> = place.per.iter().map(|p| self.forward_value(p.1)).collect();
            let over = place.condition.map(|c| self.forward_value(c.1));
            let guards: Vec<_> = place.guards.iter().map(|(g, value)| (self.forward_value(*g), *value)).collect();
            self.begin_steady(n, condition, (&per, &guards), over);
            self.ensure_steady(n);
        }
    }

    /// Makes room in the cache `n` for the entry at hand.
    pub fn ensure_steady(&mut self, n: usize) {
        let Some(slots) = self.state.steady.get(n).cloned() else { return };
        let i64 = self.e.module.ctx.types.int(64);
        let chunk = self.e.b().load(i64, slots.chunk, 0, MemClass::Unknown);
        self.ensure(&slots.cache, slots.base, chunk, 0);
    }

    /// Counts the rows of the entry of a loop at hand as used (in the forward sweep), or no longer.
    pub fn move_steady(&mut self, n: usize, on: bool) {
        let Some(SteadySlots { base: Some(base), chunk, .. }) = self.state.steady.get(n).cloned() else { return };
        let i64 = self.e.module.ctx.types.int(64);
        let old = self.e.b().load(i64, base, 0, MemClass::Unknown);
        let rows = self.e.b().load(i64, chunk, 0, MemClass::Unknown);
        let new = self.e.b().binary(if on { BinOp::Add } else { BinOp::Sub }, old, rows);
        self.e.b().store(new, base, 0, MemClass::Unknown);
    }

    /// The caches of what is the same throughout `l`.
    pub fn steady_over(&self, l: LoopId) -> Vec<usize> {
        let all = self.plan.steady.iter().enumerate();
        all.filter(|(_, c)| c.place.over == l).map(|(n, _)| n).collect()
    }

    /// Allocates, before the outermost loop `l`, the rows of the loops in it whose number is known there: exactly, or as many
    /// as can be expected, within [`GUESS_BYTES`].
    pub fn allocate_rows(&mut self, l: LoopId) {
        let mut wanted: Vec<(CacheSlots, ValueId)> = Vec::new();
        let inside: Vec<(LoopId, Rows)> =
            self.plan.loops.iter().filter(|(_, c)| c.outermost == l).map(|(id, c)| (*id, c.rows.clone())).collect();
        for (id, rows) in inside {
            let Some(slots) = self.state.caches.get(&id).cloned() else { continue };
            match rows {
                Rows::Exact(count) => {
                    let rows = self.iterations(count);
                    wanted.push((slots, self.with_front(id, rows)));
                }
                Rows::PerEntry(_, Some(counts)) => {
                    let (expected, first) = self.guess(&slots, &counts, self.front(id));
                    self.state.caches.entry(id).and_modify(|slots| slots.expected = Some(expected));
                    wanted.push((slots, first));
                }
                Rows::PerEntry(_, None) | Rows::PerIteration => {}
            }
        }
        for n in 0..self.plan.steady.len() {
            let cache = &self.plan.steady[n];
            let Some(counts) = cache.guess.clone().filter(|_| cache.outermost == l) else { continue };
            let Some(slots) = self.state.steady.get(n).map(|s| s.cache.clone()) else { continue };
            let (expected, first) = self.guess(&slots, &counts, 0);
            self.state.steady[n].cache.expected = Some(expected);
            wanted.push((slots, first));
        }
        let times = crate::runtime::times(self.e.module);
        let mut bytes = Vec::new();
        for (slots, rows) in &wanted {
            for of in &slots.buffers {
                let row = self.e.b().i64(of.row);
                bytes.push(self.e.call_func(times, &[*rows, row]));
            }
        }
        crate::runtime::expect(&mut self.e, &bytes);
        let of = wanted.iter().flat_map(|(slots, _)| &slots.buffers);
        for (of, bytes) in of.zip(bytes) {
            let buffer = self.take_memory(bytes);
            self.e.b().store(buffer, of.slot, 0, MemClass::Unknown);
        }
        for (slots, rows) in &wanted {
            self.e.b().store(*rows, slots.rows, 0, MemClass::Unknown);
        }
    }

    /// The number of iterations of a loop from its backedge count.
    fn iterations(&mut self, count: ValueId) -> ValueId {
        let one = self.e.b().i64(1);
        let count = self.forward_value(count);
        let count = self.e.to_i64(count);
        self.e.b().add(count, one)
    }

    /// How many rows these counts let expect, and how many of them are allocated at first.
    fn guess(&mut self, slots: &CacheSlots, counts: &[ValueId], front: u64) -> (ValueId, ValueId) {
        let row = slots.buffers.iter().map(|b| b.row).sum::<u64>().max(1);
        let times = crate::runtime::times(self.e.module);
        let mut rows = self.e.b().i64(1);
        for (n, c) in counts.iter().enumerate() {
            let mut iterations = self.iterations(*c);
            if n == 0 && front > 0 {
                let front = self.e.b().i64(front);
                iterations = self.e.b().add(iterations, front);
            }
            rows = if n == 0 { iterations } else { self.e.call_func(times, &[rows, iterations]) };
        }
        let most = self.e.b().i64((GUESS_BYTES / row).max(1));
        let fits = self.e.b().icmp(IntPred::Ult, rows, most);
        (rows, self.e.choose(fits, rows, most))
    }

    /// Says that the entry of `l` at hand has `rows` rows.
    pub fn begin_chunk(&mut self, l: LoopId, rows: ValueId) {
        if let Some(chunk) = self.state.chunks.get(&l).copied() {
            self.e.b().store(rows, chunk, 0, MemClass::Unknown);
        }
    }

    /// Makes room for `more` further rows of `l` after those of earlier entries.
    pub fn ensure_rows(&mut self, l: LoopId, more: ValueId) {
        if let Some(slots) = self.state.caches.get(&l).cloned() {
            let row_by_row = self.plan.loops.get(&l).is_some_and(|c| c.rows == Rows::PerIteration);
            let least = if row_by_row { FEWEST_ROWS } else { 0 };
            self.ensure(&slots, self.state.bases.get(&l).copied(), more, least);
        }
    }

    fn ensure(&mut self, slots: &CacheSlots, base: Option<ValueId>, more: ValueId, least: u64) {
        let (ptr, i64) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.int(64));
        let needed = match base {
            Some(base) => {
                let base = self.e.b().load(i64, base, 0, MemClass::Unknown);
                self.e.b().add(base, more)
            }
            None => more,
        };
        let rows = self.e.b().load(i64, slots.rows, 0, MemClass::Unknown);
        let short = self.e.b().icmp(IntPred::Ugt, needed, rows);
        let (grow, ready) = (self.e.new_block("grow"), self.e.new_block("ready"));
        self.e.b().cond_br(short, grow, ready);
        self.e.block = grow;
        let two = self.e.b().i64(2);
        let mut double = self.e.b().binary(BinOp::Mul, rows, two);
        if let Some(expected) = slots.expected {
            let more = self.e.b().icmp(IntPred::Ugt, expected, rows);
            let less = self.e.b().icmp(IntPred::Ult, expected, double);
            let last = self.e.b().binary(BinOp::And, more, less);
            double = self.e.choose(last, expected, double);
        }
        let enough = self.e.b().icmp(IntPred::Uge, double, needed);
        let mut new_rows = self.e.choose(enough, double, needed);
        if least > 0 && self.arena().is_some() {
            let least = self.e.b().i64(least);
            let few = self.e.b().icmp(IntPred::Ult, new_rows, least);
            new_rows = self.e.choose(few, least, new_rows);
        }
        let times = crate::runtime::times(self.e.module);
        for of in &slots.buffers {
            let row = self.e.b().i64(of.row);
            let bytes = self.e.call_func(times, &[new_rows, row]);
            let old = self.e.b().load(ptr, of.slot, 0, MemClass::Unknown);
            let buffer = match self.arena() {
                Some(arena) => {
                    let old_bytes = self.e.b().binary(BinOp::Mul, rows, row);
                    let f = crate::arena::extend(self.e.module);
                    self.e.call_func(f, &[arena, old, old_bytes, bytes])
                }
                None => {
                    let f = crate::runtime::grow(self.e.module);
                    self.e.call_func(f, &[old, bytes])
                }
            };
            self.e.b().store(buffer, of.slot, 0, MemClass::Unknown);
        }
        self.e.b().store(new_rows, slots.rows, 0, MemClass::Unknown);
        self.e.go(ready);
    }

    /// Frees the rows of the caches whose outermost loop is `l`.
    pub fn free_rows(&mut self, l: LoopId) {
        if self.tape_is_listed() {
            return;
        }
        let of: Vec<LoopId> = self.plan.loops.iter().filter(|(_, c)| c.outermost == l).map(|(id, _)| *id).collect();
        let mut caches: Vec<CacheSlots> = of.iter().filter_map(|id| self.state.caches.get(id)).cloned().collect();
        for (n, steady) in self.state.steady.iter().enumerate() {
            if self.plan.steady.get(n).is_some_and(|c| c.outermost == l) {
                caches.push(steady.cache.clone());
            }
        }
        for cache in caches {
            for (buffer, bytes) in self.memory_of(&cache) {
                self.give_memory(buffer, bytes);
            }
        }
    }

    /// The buffers of a cache, and the bytes of each.
    fn memory_of(&mut self, cache: &CacheSlots) -> Vec<(ValueId, ValueId)> {
        let (ptr, i64) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.int(64));
        let of = cache.buffers.iter().map(|of| {
            let buffer = self.e.b().load(ptr, of.slot, 0, MemClass::Unknown);
            let (rows, row) = (self.e.b().load(i64, cache.rows, 0, MemClass::Unknown), self.e.b().i64(of.row));
            (buffer, self.e.b().binary(BinOp::Mul, rows, row))
        });
        of.collect()
    }

    /// All memory of caches and of stack slots on the heap, and the bytes of each piece.
    pub fn belongings(&mut self) -> Vec<(ValueId, ValueId)> {
        let caches = self.state.caches.values().chain(self.state.steady.iter().map(|s| &s.cache));
        let caches: Vec<CacheSlots> = caches.cloned().collect();
        let mut out: Vec<_> = caches.iter().flat_map(|cache| self.memory_of(cache)).collect();
        let ptr = self.e.module.ctx.types.ptr();
        for (slot, i) in self.heap_slot_cells() {
            let p = self.e.b().load(ptr, slot, 0, MemClass::Unknown);
            let bytes = self.slot_bytes(i);
            out.push((p, bytes));
        }
        out
    }

    fn tape_type(&mut self) -> Option<TypeId> {
        if self.state.all.is_empty() {
            return None;
        }
        let fields = self.state.all.iter().map(|e| e.1).collect();
        Some(self.e.module.ctx.types.tuple(fields))
    }

    fn tape_field(&mut self, tape_ty: TypeId, tape: ValueId, n: usize) -> ValueId {
        let i32 = self.e.module.ctx.types.int(32);
        let (zero, field) = (self.e.b().int(i32, 0), self.e.b().int(i32, n as u64));
        self.e.b().gep(tape_ty, tape, &[zero, field])
    }

    /// Alignment of a field of the tape, which begins where the allocator puts it.
    fn tape_align(&self, ty: TypeId) -> u32 {
        let own = self.e.module.ctx.layout.align_of(&self.e.module.ctx.types, ty);
        own.min(if self.s.key.placed { PLACE_ALIGN } else { crate::runtime::MALLOC_ALIGN }) as u32
    }

    /// The size of the tape without what it leads to.
    pub fn tape_bytes(&mut self) -> u64 {
        let Some(ty) = self.tape_type() else { return 0 };
        self.e.module.ctx.layout.size_of(&self.e.module.ctx.types, ty).unwrap_or(0)
    }

    /// The tape: all state, where the caller wants it or in memory of its own; null if there is none.
    pub fn save_tape(&mut self) -> Result<ValueId, Refusal> {
        let ptr = self.e.module.ctx.types.ptr();
        let Some(ty) = self.tape_type() else { return Ok(self.e.b().zero(ptr)) };
        let tape = match self.sig.place.and_then(|n| self.e.func.params.get(n)).copied() {
            Some(place) => place,
            None => {
                let bytes = self.tape_bytes();
                let bytes = self.e.b().i64(bytes);
                self.take_memory(bytes)
            }
        };
        for (n, (slot, field_ty)) in self.state.all.clone().into_iter().enumerate() {
            let v = self.e.b().load(field_ty, slot, 0, MemClass::Unknown);
            let at = self.tape_field(ty, tape, n);
            let align = self.tape_align(field_ty);
            self.e.b().store(v, at, align, MemClass::Tape);
        }
        if self.tape_is_listed() {
            self.list_tape(tape);
        }
        Ok(tape)
    }

    /// Copies the tape into the slots and frees it, if it is ours.
    pub fn load_tape(&mut self) {
        let Some(ty) = self.tape_type() else { return };
        let Some(tape) = self.sig.tape.and_then(|n| self.e.func.params.get(n)).copied() else { return };
        for (n, (slot, field_ty)) in self.state.all.clone().into_iter().enumerate() {
            let at = self.tape_field(ty, tape, n);
            let align = self.tape_align(field_ty);
            let v = self.e.b().load(field_ty, at, align, MemClass::Tape);
            self.e.b().store(v, slot, 0, MemClass::Unknown);
        }
        if !self.tape_is_listed() && !self.s.key.placed {
            let bytes = self.tape_bytes();
            let bytes = self.e.b().i64(bytes);
            self.give_memory(tape, bytes);
        }
    }
}

/// The alignment of memory that a caller gives for a tape.
const PLACE_ALIGN: u64 = 8;

/// The alignment that a column of elements of this size can have.
fn alignment(size: u64) -> u32 {
    1 << size.trailing_zeros().min(3)
}
