//! Tangents of calls: of functions with a rule, of those with a body, and of those that move, make or free memory.

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Callee, resolve};
use enzyme_ir::{BinOp, ByteType, FuncId, Inst, InstId, MemClass, Op, TailKind, ValueId};

use super::Tangent;
use crate::copies::{Bytes, classify, writes_beside_floats};
use crate::plan::{shadow_release, shadow_rule};
use crate::refusal::{Refusal, RefusalKind};
use crate::request::{DerivativeKey, Mode};
use crate::reverse::memory::{clear_new, holds_shadowed};
use crate::reverse::{as_call, place_of};
use crate::runtime::{RunWork, over_runs};

impl Tangent<'_, '_> {
    /// The product of the arguments that give a size.
    fn bytes_of(&mut self, args: &[ValueId], size: usize, count: Option<usize>) -> ValueId {
        let bytes = self.value(args[size]);
        let mut bytes = self.e.to_i64(bytes);
        if let Some(n) = count {
            let n = self.value(args[n]);
            let n = self.e.to_i64(n);
            bytes = self.e.b().binary(BinOp::Mul, bytes, n);
        }
        bytes
    }

    /// Reallocation: of the shadow too; what it gains is cleared.
    fn realloc(&mut self, i: InstId, inst: &Inst, ptr: usize, bytes: ValueId) -> Result<(), Refusal> {
        let args: Vec<ValueId> = self.s.func.call_args(i).to_vec();
        let Some(r) = inst.result.filter(|r| self.s.has_shadow(*r)) else { return Ok(()) };
        let old = self.shadow(args[ptr])?;
        if self.s.is_mixed(args[ptr]) {
            let (primal, place) = (self.value(args[ptr]), place_of(self.e.module, self.s.func, i));
            crate::runtime::require_own(&mut self.e, old, primal, &place);
        }
        let kept = crate::runtime::common_bytes(&mut self.e, old, bytes);
        if let Some(new) = self.repeat(inst, &args, &[ptr])? {
            let rest = self.e.b().binary(BinOp::Sub, bytes, kept);
            let gained = self.e.b().byte_offset(new, kept);
            let ty = self.e.ty(new);
            let (null, none) = (self.e.b().zero(ty), self.e.b().i64(0));
            let failed = self.e.b().icmp(enzyme_ir::IntPred::Eq, new, null);
            let rest = self.e.choose(failed, none, rest);
            self.e.fill_zero(gained, rest);
            self.shadows[self.lane].insert(r, new);
        }
        Ok(())
    }

    /// Allocation through a pointer: for the shadow too, where there is one.
    fn alloc_into(&mut self, i: InstId, inst: &Inst, place: usize, bytes: ValueId) -> Result<(), Refusal> {
        let args: Vec<ValueId> = self.s.func.call_args(i).to_vec();
        let p = args[place];
        if !self.s.has_shadow(p) {
            return Ok(());
        }
        if self.s.is_mixed(p) {
            return self.refuse(i, "an allocation stored in memory that may be constant");
        }
        let at = self.shadow(p)?;
        if holds_shadowed(&self.s, p) {
            let status = self.repeat(inst, &args, &[place])?;
            clear_new(&mut self.e, status, at, bytes);
        } else {
            let ptr = self.e.module.ctx.types.ptr();
            let primal = self.value(p);
            let made = self.e.b().load(ptr, primal, 0, MemClass::Primal);
            self.e.store_in_lane(made, at, 0);
        }
        Ok(())
    }

    pub(super) fn call(&mut self, i: InstId, inst: &Inst) -> Result<(), Refusal> {
        let args: Vec<ValueId> = self.s.func.call_args(i).to_vec();
        if self.s.activity.aborts.contains(&i) {
            let place = place_of(self.e.module, self.s.func, i);
            crate::runtime::refuse_target(&mut self.e, &place, &inst.op);
            if let Some(r) = inst.result {
                let nothing = self.e.b().poison(inst.ty);
                self.map[r] = Some(nothing);
                for shadows in &mut self.shadows {
                    shadows.insert(r, nothing);
                }
            }
            return Ok(());
        }
        match resolve(self.e.module, self.s.func, i) {
            Callee::Math(math) => {
                self.copy_to(inst);
                self.e.fast = inst.fast | self.options.fast;
                let any = args.iter().any(|a| self.s.is_active(*a) || self.s.has_shadow(*a));
                if !any {
                    return Ok(());
                }
                self.in_lanes(|this| {
                    let tangent = this.rule(math.rule, &args, inst.result)?;
                    if let Some(r) = inst.result.filter(|r| this.s.is_active(*r)) {
                        this.shadows[this.lane].insert(r, tangent);
                    }
                    Ok(())
                })
            }
            Callee::Defined(func) if self.s.activity.calls.contains_key(&i) => self.derivative_call(i, func, &args),
            Callee::Defined(_) | Callee::Unknown(_) => {
                self.copy_to(inst);
                Ok(())
            }
            Callee::Known(known) => {
                self.copy_to(inst);
                let effect = match known.memory() {
                    MemoryEffect::Unsupported(_) if writes_beside_floats(self.e.module, &self.s, i, &known) => {
                        MemoryEffect::None
                    }
                    effect => effect,
                };
                self.in_lanes(|this| this.known_call(i, inst, &args, effect))
            }
        }
    }

    /// Floats that have tangents are not copied into memory that was declared constant.
    fn require_shadow_of_copy(&mut self, i: InstId, dst: ValueId, src: ValueId, len: ValueId) -> Result<(), Refusal> {
        if !self.s.is_mixed(dst)
            || !self.s.has_shadow(src)
            || matches!(classify(self.e.module, &self.s, i, &[dst, src], len), Ok(Bytes::NoFloats(_)))
        {
            return Ok(());
        }
        let to = (self.shadow(dst)?, self.value(dst));
        let from = match self.s.is_mixed(src) {
            true => Some((self.shadow(src)?, self.value(src))),
            false => None,
        };
        let place = place_of(self.e.module, self.s.func, i);
        crate::runtime::require_shadow_of_copy(&mut self.e, to, from, &place);
        Ok(())
    }

    /// The shadow memory at `at` of `bytes` that were copied from constant memory: pointers are their own shadows, all else has none.
    fn repeat_of_constant(&mut self, i: InstId, [dst, src, len]: [ValueId; 3], at: ValueId, bytes: ValueId) {
        let primal = self.value(dst);
        match classify(self.e.module, &self.s, i, &[dst, src], len) {
            Ok(Bytes::Words) => crate::words::repeat_constant(&mut self.e, at, primal, bytes),
            Ok(Bytes::NoFloats(true)) => self.e.move_bytes(at, primal, bytes),
            Ok(Bytes::Runs(runs, period)) if runs.iter().any(|r| r.ty == ByteType::Pointer) => {
                self.e.fill_zero(at, bytes);
                let f = over_runs(self.e.module, RunWork::Repeat, &runs, period);
                self.e.call_func(f, &[at, primal, bytes]);
            }
            Ok(Bytes::Floats(_) | Bytes::NoFloats(false) | Bytes::Runs(..) | Bytes::Characters) | Err(_) => {
                self.e.fill_zero(at, bytes);
            }
        }
    }

    fn known_call(&mut self, i: InstId, inst: &Inst, args: &[ValueId], effect: MemoryEffect) -> Result<(), Refusal> {
        match effect {
            MemoryEffect::None | MemoryEffect::LifetimeStart { .. } => Ok(()),
            MemoryEffect::Copy { dst, src, len, .. } => {
                if let Some(r) = inst.result.filter(|r| self.s.has_shadow(*r)) {
                    let shadow = self.shadow(args[dst])?;
                    self.shadows[self.lane].insert(r, shadow);
                }
                if !self.s.has_shadow(args[dst]) {
                    return Ok(());
                }
                self.require_shadow_of_copy(i, args[dst], args[src], args[len])?;
                let at = self.shadow(args[dst])?;
                let n = self.value(args[len]);
                let n = self.e.to_i64(n);
                let there = self.guarded_bytes(args[dst], n)?;
                if !self.s.has_shadow(args[src]) {
                    self.repeat_of_constant(i, [args[dst], args[src], args[len]], at, there);
                } else if !self.s.is_mixed(args[dst]) && !self.s.is_mixed(args[src]) {
                    self.repeat(inst, args, &[dst, src])?;
                } else {
                    let from = self.shadow(args[src])?;
                    let both = self.guarded_bytes(args[src], there)?;
                    self.e.move_bytes(at, from, both);
                    let rest = self.e.b().binary(enzyme_ir::BinOp::Sub, there, both);
                    self.repeat_of_constant(i, [args[dst], args[src], args[len]], at, rest);
                }
                Ok(())
            }
            MemoryEffect::Set { dst, len, .. } => {
                if self.s.has_shadow(args[dst]) {
                    let at = self.shadow(args[dst])?;
                    let n = self.value(args[len]);
                    let n = self.guarded_bytes(args[dst], n)?;
                    self.e.fill_zero(at, n);
                }
                Ok(())
            }
            MemoryEffect::Alloc { size, count, zeroed } => {
                let Some(r) = inst.result.filter(|r| self.s.has_shadow(*r)) else { return Ok(()) };
                if let Some(rule) = shadow_rule(self.e.module, self.s.func, i) {
                    let values: Vec<ValueId> = args.iter().map(|a| self.value(*a)).collect();
                    let shadow = self.e.call_func(rule.make, &values);
                    self.shadows[self.lane].insert(r, shadow);
                    return Ok(());
                }
                let Some(shadow) = self.repeat(inst, args, &[])? else { return Ok(()) };
                if let (Some(size), false) = (size, zeroed) {
                    let bytes = self.bytes_of(args, size, count);
                    self.e.fill_zero(shadow, bytes);
                }
                self.shadows[self.lane].insert(r, shadow);
                Ok(())
            }
            MemoryEffect::Realloc { ptr, size, count } => {
                let bytes = self.bytes_of(args, size, count);
                self.realloc(i, inst, ptr, bytes)
            }
            MemoryEffect::AllocInto { place, size, count } => {
                let bytes = self.bytes_of(args, size, count);
                self.alloc_into(i, inst, place, bytes)
            }
            MemoryEffect::Free { ptr } => {
                if self.s.has_shadow(args[ptr]) {
                    match shadow_release(self.e.module, &self.s, args[ptr]).map_err(|r| r.at(i))? {
                        Some(release) => {
                            let shadow = self.shadow(args[ptr])?;
                            self.e.call_func(release, &[shadow]);
                        }
                        None => {
                            self.repeat(inst, args, &[ptr])?;
                        }
                    }
                }
                Ok(())
            }
            MemoryEffect::Unsupported(what) => {
                if args.iter().any(|a| self.s.has_shadow(*a)) {
                    return self.refuse(i, what);
                }
                Ok(())
            }
        }
    }

    /// The call again with the shadows of the arguments named.
    fn repeat(&mut self, inst: &Inst, args: &[ValueId], shadowed: &[usize]) -> Result<Option<ValueId>, Refusal> {
        let mut values: Vec<ValueId> = Vec::new();
        for (n, a) in inst.args.iter().enumerate() {
            let is_arg = n > 0 && n <= args.len();
            values.push(if is_arg && shadowed.contains(&(n - 1)) { self.shadow(*a)? } else { self.value(*a) });
        }
        let mut copy = as_call(inst);
        copy.origin = None;
        if let Op::Call(info) = &mut copy.op {
            info.tail = TailKind::None;
        }
        Ok(self.e.copy(&copy, &values, MemClass::Unknown))
    }

    fn derivative_call(&mut self, i: InstId, func: FuncId, args: &[ValueId]) -> Result<(), Refusal> {
        let Some(context) = self.s.activity.calls.get(&i).cloned() else { return Ok(()) };
        let key = DerivativeKey {
            func,
            mode: Mode::Forward,
            context,
            kept: Default::default(),
            own: Default::default(),
            unwinds: false,
            products: false,
            keeps: false,
            transposed: false,
            placed: false,
            value: false,
            width: self.s.key.width,
        };
        let Some((f, sig)) = self.derivatives.get(self.e.module, &key) else {
            return Err(Refusal::new(RefusalKind::Internal("a call lost its derivative".into())).at(i));
        };
        let mut values = vec![None; sig.params.len()];
        for (n, a) in args.iter().enumerate().take(sig.primal.len()) {
            values[sig.primal[n]] = Some(self.value(*a));
            if let Some(at) = sig.shadow[n] {
                self.in_lanes(|this| {
                    values[at + this.lane] = Some(this.shadow(*a)?);
                    Ok(())
                })?;
            }
        }
        let values: Vec<ValueId> = values.into_iter().flatten().collect();
        if values.len() != sig.params.len() {
            return self.refuse(i, "a call with too few arguments");
        }
        let pad = match self.unwinding(&self.s.func.insts[i].op) {
            Some(b) => self.starts.get(&b).copied(),
            None => None,
        };
        let out = match pad {
            Some(pad) => {
                let next = self.e.new_block("returned");
                let sig = self.e.module.funcs[f].sig;
                let out = self.e.b().invoke(f, sig, &values, next, pad);
                self.e.block = next;
                out
            }
            None => self.e.call_func(f, &values),
        };
        if let Some(r) = self.s.func.insts[i].result {
            if let Some(n) = sig.result_field {
                self.map[r] = Some(self.e.b().extract_value(out, &[n]));
            }
            if let Some(n) = sig.shadow_field {
                for lane in 0..self.shadows.len() {
                    let shadow = self.e.b().extract_value(out, &[n + lane as u32]);
                    self.shadows[lane].insert(r, shadow);
                }
            }
        }
        Ok(())
    }
}
