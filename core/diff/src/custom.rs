//! Derivatives that the program gives: an adapter with the signature that we call, around functions with the signature that users
//! write.
//!
//! | rule | parameters | result |
//! | --- | --- | --- |
//! | augmented | those of the function, each pointer followed by its shadow | tape if there is one, the function's result if it has one |
//! | reverse | the same; the adjoint of the result if it is a float; the tape if it takes one | adjoints of the float parameters in order |
//! | forward | the same, floats followed by their tangents | the tangent of the result, or the result and its tangent |
//!
//! These are the reference system's conventions, in which integers too are followed by a shadow (which is zero); rules without are
//! taken as well. The shadow of memory that the call declares constant is null. A tape that is no pointer is boxed; the box is freed
//! by the reverse sweep, or with all that is put off where that may run again.
//!
//! Where there are several lanes, rules are called once in each. A rule of a function without result that is declared with as many
//! shadows behind each parameter as there are lanes is called once for all (reverse: of functions without float parameters).
//!
//! Invariant: a rule is called only with the types that it is declared with; what does not fit is a refusal that shows both.
//! Not handled: functions that return pointers (refused); parameters and results passed as `byval` or `sret`, except a result of
//! the augmented rule.

use enzyme_ir::{CustomRule, Func, FuncId, MemClass, Module, Type, TypeId, ValueId};

use crate::emit::Emit;
use crate::refusal::{Refusal, RefusalKind};
use crate::request::{DerivativeKey, Mode, Signature};

pub(crate) mod product;
pub mod transposed;

/// The derivative of `primal` for `key`, which calls what the program registered. Of its parameters, which may have the pointer itself
/// for a shadow, and what rules of products are told.
pub fn synthesise(
    module: &mut Module,
    id: FuncId,
    primal: &Func,
    key: &DerivativeKey,
    sig: &Signature,
    rule: &CustomRule,
    (mixed, flags): (&[bool], u32),
) -> Result<Func, Refusal> {
    let declared = &module.funcs[id];
    let mut func = Func::new(declared.name.clone(), declared.sig, &sig.params);
    func.linkage = enzyme_ir::Linkage::Internal;
    let flags = rule.product.then_some(flags);
    let listed = if rule.product { key.products || key.keeps } else { key.unwinds };
    let mut a = Adapter { e: Emit::new(module, func), primal, sig, mixed, lane: 0, lanes: 1, listed, flags };
    let returned = a.result_type();
    if a.e.module.ctx.types.contains_pointer(returned) {
        let text = format!("'{}' has a rule and returns a pointer: to what memory is not known", primal.name);
        return Err(Refusal::new(RefusalKind::Rule(text)));
    }
    if key.width > 1 && !rule.product {
        match a.takes_lanes(rule, key.mode, key.width as usize) {
            true => a.lanes = key.width as usize,
            false => a.check_lanes(rule, key.mode)?,
        }
    }
    let start = a.e.new_block("start");
    a.e.block = start;
    let fields = match key.mode {
        Mode::Forward if rule.product => a.product_tangents(rule, key.width)?,
        Mode::Forward => {
            let mut fields = a.forward(rule)?;
            for lane in a.lanes..key.width as usize {
                a.lane = lane;
                fields.extend(a.forward(rule)?.pop().filter(|_| sig.shadow_field.is_some()));
            }
            fields
        }
        Mode::Augmented => {
            let done = a.augmented(rule)?;
            a.list(&done);
            let mut fields = vec![done.tape];
            fields.extend(done.result.filter(|_| sig.result_field.is_some()));
            fields
        }
        Mode::Gradient => {
            let tape = sig.tape.map(|n| a.e.func.params[n]);
            let reverse = if key.transposed { rule.transposed.or(rule.reverse) } else { rule.reverse };
            a.reverse(&CustomRule { reverse, ..rule.clone() }, tape, key.width)?
        }
        Mode::Combined => {
            a.listed = false;
            let done = a.augmented(rule)?;
            let mut fields: Vec<ValueId> = done.result.into_iter().filter(|_| sig.result_field.is_some()).collect();
            fields.extend(a.reverse(rule, Some(done.tape), key.width)?);
            fields
        }
    };
    let out = a.e.tuple(sig.ret, &fields);
    a.e.b().ret(out);
    Ok(a.e.finish(start))
}

struct Adapter<'a, 'm> {
    e: Emit<'m>,
    primal: &'a Func,
    sig: &'a Signature,
    /// Parameters whose shadow may be the pointer itself, which says that there is none.
    mixed: &'a [bool],
    /// The lane whose tangents are passed.
    lane: usize,
    /// How many lanes' tangents are passed at once.
    lanes: usize,
    /// Boxes of tapes are freed with all that is put off.
    listed: bool,
    /// What the rules of a product are told.
    flags: Option<u32>,
}

/// What an augmented rule returned.
struct Augmented {
    tape: ValueId,
    /// The tape is a box of ours.
    boxed: bool,
    result: Option<ValueId>,
}

/// The type that `f` returns, also where that is through memory.
fn returned(module: &Module, f: FuncId) -> TypeId {
    let sret = module.funcs[f].param_attrs.first().and_then(|a| a.sret);
    sret.unwrap_or_else(|| module.signature(f).0)
}

fn fields(module: &Module, ty: TypeId) -> Vec<TypeId> {
    match &module.ctx.types[ty] {
        Type::Struct(s) => s.fields.clone().unwrap_or_default(),
        Type::Array { elem, len } if *len <= 8 => vec![*elem; *len as usize],
        _ => vec![ty],
    }
}

/// The type of the tape that the augmented rule of a function returns, whose result is a `ret`.
fn tape_type(module: &Module, ret: TypeId, augmented: FuncId) -> Option<TypeId> {
    let given = returned(module, augmented);
    let is_void = |ty: TypeId| module.ctx.types[ty] == Type::Void;
    if is_void(ret) {
        return Some(given).filter(|ty| !is_void(*ty));
    }
    let fields = fields(module, given);
    if given == ret { None } else { fields.first().copied().filter(|_| fields.len() == 2) }
}

impl Adapter<'_, '_> {
    /// Whether a rule, which is for one lane, can be called for each of several.
    fn check_lanes(&self, rule: &CustomRule, mode: Mode) -> Result<(), Refusal> {
        let types = &self.e.module.ctx.types;
        let writes = !self.primal.attrs.no_write
            && self.primal.params.iter().any(|p| types.contains_pointer(self.primal.ty(*p)));
        let tape = rule.augmented.and_then(|f| tape_type(self.e.module, self.result_type(), f));
        let what = if writes {
            "a registered rule for several lanes at once, which may change memory in each of them"
        } else if mode != Mode::Forward && tape.is_some_and(|ty| types.contains_pointer(ty)) {
            "a registered reverse rule for several lanes at once, the first of which may free what its tape leads to"
        } else {
            return Ok(());
        };
        Err(Refusal::new(RefusalKind::Operation(what.to_owned())))
    }

    /// Whether the rules for a mode are declared with the shadows of all lanes.
    fn takes_lanes(&self, rule: &CustomRule, mode: Mode, lanes: usize) -> bool {
        let forward = mode == Mode::Forward;
        let types = &self.e.module.ctx.types;
        let is_float = |ty: TypeId| types.contains_float(ty) && !types.contains_pointer(ty);
        let params: Vec<TypeId> = self.primal.params.iter().map(|p| self.primal.ty(*p)).collect();
        let has_lanes = |ty: TypeId| types.contains_pointer(ty) || is_float(ty);
        if !self.is_void(self.result_type()) || !params.iter().any(|ty| has_lanes(*ty)) {
            return false;
        }
        let rules = if forward { vec![rule.forward] } else { vec![rule.augmented, rule.reverse] };
        let declared = |integers: bool| -> Vec<TypeId> {
            let shadows = |ty: TypeId| if has_lanes(ty) { lanes } else { usize::from(integers) };
            params.iter().flat_map(|ty| std::iter::repeat_n(*ty, 1 + shadows(*ty))).collect()
        };
        let fits = |f: FuncId| [true, false].into_iter().any(|i| self.signature_of(f).1.starts_with(&declared(i)));
        (forward || !params.iter().any(|ty| is_float(*ty))) && rules.into_iter().all(|f| f.is_some_and(fits))
    }

    fn text(&self, f: FuncId) -> String {
        let func = &self.e.module.funcs[f];
        format!("'{}' is {}", func.name, self.describe(func.sig))
    }

    fn describe(&self, ty: TypeId) -> String {
        enzyme_ir::text::print_type(&self.e.module.ctx.types, ty)
    }

    fn lies(&self, f: FuncId, what: &str) -> Refusal {
        let own = self.describe(self.primal.sig);
        let text = format!("{what}: {}, the function '{}' is {own}", self.text(f), self.primal.name);
        Refusal::new(RefusalKind::Rule(text))
    }

    fn missing(&self, what: &str) -> Refusal {
        let name = &self.primal.name;
        Refusal::new(RefusalKind::Rule(format!("the rules of '{name}' have no {what}")))
    }

    fn result_type(&self) -> TypeId {
        match &self.e.module.ctx.types[self.primal.sig] {
            Type::Func { ret, .. } => *ret,
            _ => self.primal.sig,
        }
    }

    fn is_void(&self, ty: TypeId) -> bool {
        self.e.module.ctx.types[ty] == Type::Void
    }

    /// The arguments for the parameters of the primal, as far as rules agree on them.
    fn arguments(&mut self, tangents: bool, integers: bool) -> Vec<ValueId> {
        let mut out = Vec::new();
        for (n, p) in self.primal.params.iter().enumerate() {
            let ty = self.primal.ty(*p);
            let value = self.e.func.params[self.sig.primal[n]];
            out.push(value);
            let types = &self.e.module.ctx.types;
            let (pointer, float) = (types.contains_pointer(ty), types.contains_float(ty));
            if !pointer && !float {
                if integers {
                    let zero = self.e.b().zero(ty);
                    out.push(zero);
                }
                continue;
            }
            if !pointer && !tangents {
                continue;
            }
            for lane in self.lane..self.lane + self.lanes {
                // Null, or a tangent that is zero.
                let none = self.e.b().zero(ty);
                out.push(match self.sig.shadow[n].map(|at| self.e.func.params[at + lane]) {
                    Some(s) if pointer && self.mixed.get(n).copied().unwrap_or(false) => {
                        let itself = self.e.b().icmp(enzyme_ir::IntPred::Eq, s, value);
                        self.e.choose(itself, none, s)
                    }
                    Some(s) => s,
                    None => none,
                });
            }
        }
        out
    }

    fn signature_of(&self, f: FuncId) -> (TypeId, Vec<TypeId>) {
        let (ret, params, _) = self.e.module.signature(f);
        (ret, params)
    }

    /// Calls `f` with the arguments of the primal and `more`, as many of them as it takes; how many these were.
    fn call(&mut self, f: FuncId, tangents: bool, more: &[ValueId], least: usize) -> Result<(ValueId, usize), Refusal> {
        let (ret, params) = self.signature_of(f);
        let sret = self.e.module.funcs[f].param_attrs.first().and_then(|a| a.sret);
        let first = usize::from(sret.is_some());
        for integers in [true, false] {
            let mut args = self.arguments(tangents, integers);
            let own = args.len();
            let Some(taken) = (params.len() - first.min(params.len())).checked_sub(own) else { continue };
            let same = taken <= more.len()
                && more[..taken].iter().zip(&params[first + own..]).all(|(v, ty)| self.e.ty(*v) == *ty);
            match more.split_last() {
                Some((tape, before)) if !same && taken > before.len() => {
                    args.extend_from_slice(before);
                    args.extend(self.in_registers(f, first + own + before.len(), *tape));
                }
                _ => args.extend_from_slice(&more[..taken.min(more.len())]),
            }
            if taken < least || args.len() != params.len() - first {
                continue;
            }
            let fits = args.iter().zip(&params[first..]).all(|(a, t)| self.e.ty(*a) == *t);
            if !fits {
                continue;
            }
            return Ok(match sret {
                Some(ty) => {
                    let slot = self.e.slot(ty, None);
                    args.insert(0, slot);
                    self.e.call_func(f, &args);
                    (self.e.b().load(ty, slot, 0, MemClass::Unknown), taken)
                }
                None if self.is_void(ret) => {
                    self.e.call_func(f, &args);
                    (args.first().copied().unwrap_or_else(|| self.e.b().i64(0)), taken)
                }
                None => (self.e.call_func(f, &args), taken),
            });
        }
        Err(self.lies(f, "a rule has other parameters than its function asks for"))
    }

    /// A structure as the parameters of `f` from `at` on take it by the platform's convention: as its address, or in registers of
    /// eight bytes. Nothing if they do not.
    fn in_registers(&mut self, f: FuncId, at: usize, v: ValueId) -> Vec<ValueId> {
        let params = self.signature_of(f).1;
        let rest = params.get(at..).unwrap_or_default();
        let ctx = &mut self.e.module.ctx;
        let (whole, i64) = (self.e.func.values[v].ty, ctx.types.int(64));
        let registers = ctx.types.tuple(vec![i64; 2]);
        let size = |ty: TypeId| ctx.layout.size_of(&ctx.types, ty).unwrap_or(u64::MAX);
        let by_address =
            self.e.module.funcs[f].param_attrs.get(at).and_then(|a| a.byval).is_some_and(|ty| size(ty) == size(whole));
        let fits =
            size(whole) <= 16 && rest.len() as u64 == size(whole).div_ceil(8) && rest.iter().all(|ty| size(*ty) <= 8);
        if by_address && rest.len() == 1 {
            let slot = self.e.slot(whole, None);
            self.e.b().store(v, slot, 0, MemClass::Unknown);
            return vec![slot];
        }
        if !fits || rest.is_empty() {
            return Vec::new();
        }
        let slot = self.e.slot(registers, None);
        self.e.b().store(v, slot, 1, MemClass::Unknown);
        let mut out = Vec::new();
        for (n, ty) in rest.iter().enumerate() {
            let offset = self.e.b().i64(8 * n as u64);
            let place = self.e.b().byte_offset(slot, offset);
            out.push(self.e.b().load(*ty, place, 1, MemClass::Unknown));
        }
        out
    }

    fn augmented(&mut self, rule: &CustomRule) -> Result<Augmented, Refusal> {
        let f = rule.augmented.ok_or_else(|| self.missing("augmented primal"))?;
        let (ret, given) = (self.result_type(), returned(self.e.module, f));
        let told = self.told();
        let (value, _) = self.call(f, false, &told, told.len())?;
        let ptr = self.e.module.ctx.types.ptr();
        let null = self.e.b().zero(ptr);
        if self.is_void(ret) {
            let (tape, boxed) = if self.is_void(given) { (null, false) } else { self.boxed(value) };
            return Ok(Augmented { tape, boxed: boxed || rule.product, result: None });
        }
        if given == ret {
            return Ok(Augmented { tape: null, boxed: false, result: Some(value) });
        }
        let [kept, result] = fields(self.e.module, given)[..] else {
            return Err(self.lies(f, "the augmented rule does not return the function's result"));
        };
        if result != ret || self.is_void(kept) {
            return Err(self.lies(f, "the augmented rule does not return the function's result"));
        }
        let tape = self.e.b().extract_value(value, &[0]);
        let (tape, boxed) = self.boxed(tape);
        Ok(Augmented { tape, boxed, result: Some(self.e.b().extract_value(value, &[1])) })
    }

    /// Puts the tape on the list of what is freed at the end if it is a box and the reverse sweep does not free it.
    fn list(&mut self, done: &Augmented) {
        let of_products = self.sig.products.filter(|_| self.flags.is_some()).map(|n| self.e.func.params[n]);
        if let Some(head) = of_products {
            let defer = crate::runtime::defer_product(self.e.module);
            self.e.call_func(defer, &[head, done.tape]);
            return;
        }
        let head = self.sig.deferred.map(|n| self.e.func.params[n]);
        if let (Some(head), true) = (head, done.boxed && self.listed) {
            let (ptr, void) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.void());
            let defer = crate::arena::defer(self.e.module);
            let free = self.e.module.declare("free", void, &[ptr]);
            let free = self.e.b().func_addr(free);
            self.e.call_func(defer, &[head, done.tape, free]);
        }
    }

    /// A tape as a pointer, and whether that is to a box.
    fn boxed(&mut self, v: ValueId) -> (ValueId, bool) {
        let ty = self.e.ty(v);
        let ptr = self.e.module.ctx.types.ptr();
        if ty == ptr {
            return (v, false);
        }
        let bytes = self.e.module.ctx.layout.size_of(&self.e.module.ctx.types, ty).unwrap_or(0);
        let alloc = crate::runtime::alloc(self.e.module);
        let bytes = self.e.b().i64(bytes);
        let memory = self.e.call_func(alloc, &[bytes]);
        self.e.b().store(v, memory, 0, MemClass::Tape);
        (memory, true)
    }

    /// The tape as the reverse rule takes it.
    fn unboxed(&mut self, tape: ValueId, ty: TypeId) -> ValueId {
        let (ptr, void) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.void());
        if ty == ptr {
            return tape;
        }
        let v = self.e.b().load(ty, tape, 0, MemClass::Tape);
        if !self.listed {
            self.e.call("free", void, &[tape]);
        }
        v
    }

    /// The adjoints that our signature asks for: of each parameter those of all lanes.
    fn reverse(&mut self, rule: &CustomRule, tape: Option<ValueId>, lanes: u32) -> Result<Vec<ValueId>, Refusal> {
        let f = rule.reverse.ok_or_else(|| self.missing("reverse rule"))?;
        let aug = rule.augmented.ok_or_else(|| self.missing("augmented primal"))?;
        let kept = tape_type(self.e.module, self.result_type(), aug);
        // It is read only if the rule takes it; a box is freed in any case.
        let tape = kept.zip(tape).map(|(ty, tape)| self.unboxed(tape, ty));
        let mut of_lanes = Vec::new();
        for lane in (0..lanes as usize).step_by(self.lanes) {
            self.lane = lane;
            let adjoints = self.reverse_lane(f, tape)?;
            of_lanes.extend(std::iter::repeat_n(adjoints, self.lanes));
        }
        if let (true, false, Some(tape)) = (rule.product, self.listed, tape) {
            let void = self.e.module.ctx.types.void();
            self.e.call("free", void, &[tape]);
        }
        let count = of_lanes.first().map_or(0, Vec::len);
        Ok((0..count).flat_map(|n| of_lanes.iter().map(move |lane| lane[n])).collect())
    }

    /// The adjoints of one lane.
    fn reverse_lane(&mut self, f: FuncId, tape: Option<ValueId>) -> Result<Vec<ValueId>, Refusal> {
        let ret = self.result_type();
        let mut more = self.told();
        let types = &self.e.module.ctx.types;
        let seeded = types.contains_float(ret) && !types.contains_pointer(ret);
        if seeded {
            more.push(match self.sig.seed {
                Some(n) => self.e.func.params[n + self.lane],
                None => self.e.b().zero(ret),
            });
        }
        more.extend(tape);
        let least = usize::from(seeded) + usize::from(self.flags.is_some());
        let (value, _) = self.call(f, false, &more, least)?;
        let given = returned(self.e.module, f);
        let floats: Vec<usize> = (0..self.primal.params.len())
            .filter(|n| {
                let ty = self.primal.ty(self.primal.params[*n]);
                let types = &self.e.module.ctx.types;
                types.contains_float(ty) && !types.contains_pointer(ty)
            })
            .collect();
        let wanted: Vec<TypeId> = floats.iter().map(|n| self.primal.ty(self.primal.params[*n])).collect();
        let parts = if wanted.is_empty() { Vec::new() } else { self.adjoints(f, value, given, &wanted)? };
        let mut of_params = vec![None; self.primal.params.len()];
        for (n, adjoint) in floats.into_iter().zip(parts) {
            of_params[n] = Some(adjoint);
        }
        let mut out = Vec::new();
        for (n, adjoint) in of_params.into_iter().enumerate().filter(|(n, _)| self.sig.adjoints[*n].is_some()) {
            // Integers that may be the bits of floats: a rule knows of none.
            let ty = self.primal.ty(self.primal.params[n]);
            out.push(match adjoint {
                Some(v) => v,
                None => self.e.b().zero(ty),
            });
        }
        Ok(out)
    }

    fn adjoints(
        &mut self,
        f: FuncId,
        value: ValueId,
        given: TypeId,
        wanted: &[TypeId],
    ) -> Result<Vec<ValueId>, Refusal> {
        let lies = |this: &Self| this.lies(f, "the reverse rule does not return an adjoint for each float parameter");
        if self.is_void(given) {
            return Err(lies(self));
        }
        if let [one] = wanted
            && given == *one
        {
            return Ok(vec![value]);
        }
        if fields(self.e.module, given) == wanted {
            return Ok((0..wanted.len()).map(|n| self.e.b().extract_value(value, &[n as u32])).collect());
        }
        // Small structures travel in registers of other types.
        let tuple = self.e.module.ctx.types.tuple(wanted.to_vec());
        let ctx = &self.e.module.ctx;
        let size = |ty: TypeId| ctx.layout.size_of(&ctx.types, ty);
        if ctx.types.contains_pointer(given) || size(tuple).is_none() || size(tuple) != size(given) {
            return Err(lies(self));
        }
        let slot = self.e.slot(given, None);
        self.e.b().store(value, slot, 0, MemClass::Unknown);
        let whole = self.e.b().load(tuple, slot, 1, MemClass::Unknown);
        Ok((0..wanted.len()).map(|n| self.e.b().extract_value(whole, &[n as u32])).collect())
    }

    fn forward(&mut self, rule: &CustomRule) -> Result<Vec<ValueId>, Refusal> {
        let f = rule.forward.ok_or_else(|| self.missing("forward rule (__enzyme_register_derivative)"))?;
        let Some((value, tangent)) = self.tangent(f, &[])? else { return Ok(Vec::new()) };
        let value = match value {
            Some(v) => v,
            None => {
                // The rule gives the tangent alone. What the function writes, the rule has to write as well.
                let args: Vec<ValueId> = self.sig.primal.iter().map(|n| self.e.func.params[*n]).collect();
                let lost = || Refusal::new(RefusalKind::Internal(format!("'{}' was lost", self.primal.name)));
                let primal = self.e.module.find_func(&self.primal.name).ok_or_else(lost)?;
                self.e.call_func(primal, &args)
            }
        };
        let wants = (self.sig.result_field.is_some(), self.sig.shadow_field.is_some());
        let parts = [(wants.0, value), (wants.1, tangent)];
        Ok(parts.into_iter().filter(|p| p.0).map(|p| p.1).collect())
    }

    /// Calls a rule for tangents: the function's result, if the rule gives it, and its tangent, if the function has a result.
    fn tangent(&mut self, f: FuncId, more: &[ValueId]) -> Result<Option<(Option<ValueId>, ValueId)>, Refusal> {
        let (ret, given) = (self.result_type(), returned(self.e.module, f));
        if self.is_void(ret) {
            self.call(f, true, more, 0)?;
            return Ok(None);
        }
        if given == ret && fields(self.e.module, ret) != vec![ret; 2] {
            return Ok(Some((None, self.call(f, true, more, 0)?.0)));
        }
        if fields(self.e.module, given) == [ret, ret] {
            let (both, _) = self.call(f, true, more, 0)?;
            return Ok(Some((Some(self.e.b().extract_value(both, &[0])), self.e.b().extract_value(both, &[1]))));
        }
        let ctx = &self.e.module.ctx;
        let size = |ty: TypeId| ctx.layout.size_of(&ctx.types, ty);
        let fits = size(given) == size(ret).map(|n| 2 * n) && !ctx.types.contains_pointer(given);
        if !fits || self.is_void(given) {
            return Err(self.lies(f, "the forward rule returns neither the tangent nor the result and its tangent"));
        }
        let (both, _) = self.call(f, true, more, 0)?;
        let slot = self.e.slot(given, None);
        self.e.b().store(both, slot, 0, MemClass::Unknown);
        let pair = self.e.module.ctx.types.tuple(vec![ret, ret]);
        let pair = self.e.b().load(pair, slot, 1, MemClass::Unknown);
        Ok(Some((Some(self.e.b().extract_value(pair, &[0])), self.e.b().extract_value(pair, &[1]))))
    }
}
