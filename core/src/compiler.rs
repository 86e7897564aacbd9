//! Derivatives as compilers ask for them: functions with the signatures of the reference system's C interface.
//!
//! For each request functions are written that call markers, which the pipeline then replaces like others. Their parameters are
//! those of the function, each that is duplicated followed by its shadow (an array of them for several lanes); then the
//! adjoint of the result if that is active, then the tape.
//!
//! | kind | returns |
//! | --- | --- |
//! | forward | the value and the tangent as a structure, or the one of them that is wanted |
//! | combined | a structure: the value if it is wanted, then the adjoint of each active parameter |
//! | augmented | a structure: the tape, the value and the shadow of the result if wanted; the tape alone if not |
//! | reverse | a structure: the adjoint of each active parameter |
//! | batch | an array of the results of all lanes |
//!
//! All functions of a split derivative are written at once, so that they agree on the tape, which is a pointer.
//!
//! Not handled (E0114): variable arguments; results of which parts are active and parts are duplicated; values and shadows of
//! pointers from a combined derivative, whose memory may be gone.

use enzyme_diff::emit::Emit;
use enzyme_ir::{Func, FuncId, Linkage, Module, Type, TypeId, ValueId};
use enzyme_llvm::{Level, Options, Phase, Session, Told};

use crate::codes;
use crate::marker::{self, SEEDED};
use crate::report::{Report, from_problem};

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Tangents.
    Forward,
    /// Adjoints, in one function.
    Combined,
    /// Adjoints, in two functions.
    Split,
    /// No derivative, but several lanes.
    Batch,
}

/// What a parameter or the result is to the derivative. In a batch, what is `Const` is the same in all lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// Constant.
    Const,
    /// Followed by its shadow.
    Dup,
    /// Followed by its shadow; what becomes of the primal is not needed.
    NoNeed,
    /// A number whose adjoint is returned, or, of the result, given.
    Out,
}

impl Part {
    fn is_dup(self) -> bool {
        matches!(self, Part::Dup | Part::NoNeed)
    }
}

/// A request.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Wanted {
    /// What is asked for.
    pub kind: Kind,
    /// What the result is.
    pub result: Part,
    /// What each parameter is.
    pub params: Vec<Part>,
    /// Lanes, at least 1.
    pub width: u32,
    /// The function's value is returned, too.
    pub value: bool,
    /// The shadow of the function's result is returned (split).
    pub shadow: bool,
    /// Pointers may have no shadow of their own at run time.
    pub runtime_activity: bool,
    /// A zero adjoint stays zero through infinite partial derivatives.
    pub strong_zero: bool,
    /// Several threads may add to the adjoints in memory at once.
    pub atomic: bool,
    /// There is a third function, a reverse one that leaves the tape for another call (split).
    pub keeps: bool,
}

/// Where a part of what the augmented function returns is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It is not returned.
    Absent,
    /// It is all that is returned.
    Whole,
    /// A field of the structure.
    Field(u32),
}

/// Where tape, value and shadow are in what the augmented function of a request returns.
pub fn places(value: bool, shadow: bool) -> [Place; 3] {
    if !value && !shadow {
        return [Place::Whole, Place::Absent, Place::Absent];
    }
    let value_at = if value { Place::Field(1) } else { Place::Absent };
    let shadow_at = if shadow { Place::Field(1 + u32::from(value)) } else { Place::Absent };
    [Place::Field(0), value_at, shadow_at]
}

/// What was made: the names of the functions; of a split derivative two or three. And where the parts of the augmented result are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// Names of functions in the module of the session.
    pub functions: Vec<String>,
    /// As [`places`] says.
    pub places: [Place; 3],
}

/// Why nothing was made.
#[derive(Clone, PartialEq, Debug)]
pub enum Failed {
    /// The request does not fit the function.
    Unfit(Report),
    /// The derivative is refused.
    Refused(Vec<Told>),
}

/// Makes the functions of a request for `function` in the module of `session`.
pub fn make(session: &mut Session, function: &str, wanted: &Wanted, options: &Options) -> Result<Made, Failed> {
    session.keep_diagnostics();
    let made = write(session, function, wanted).map_err(Failed::Unfit)?;
    crate::run(session, options, Phase::Explicit, Level::default());
    let told = session.take_diagnostics();
    if told.is_empty() { Ok(made) } else { Err(Failed::Refused(told)) }
}

fn refuse(why: impl Into<String>) -> Report {
    Report::new(codes::E0114, why)
}

fn write(session: &mut Session, function: &str, wanted: &Wanted) -> Result<Made, Report> {
    let f = session.find_function(function).filter(|f| session.has_body(*f));
    let f = f.ok_or_else(|| refuse(format!("the module defines no function '{function}'")))?;
    let asked = Asked::new(&session.ir, f, wanted)?;
    let names: &[&str] = match wanted.kind {
        Kind::Forward => &["fwddiffe"],
        Kind::Combined => &["diffe"],
        Kind::Split if wanted.keeps => &["augmented_", "diffe", "kept_diffe"],
        Kind::Split => &["augmented_", "diffe"],
        Kind::Batch => &["batch_"],
    };
    let names: Vec<String> = names.iter().map(|n| free_name(session, &format!("{n}{function}"))).collect();
    let mut written = Vec::new();
    for (n, name) in names.iter().enumerate() {
        let func = match (wanted.kind, n) {
            (Kind::Forward, _) => asked.forward(&mut session.ir, name),
            (Kind::Combined, _) => asked.reverse(&mut session.ir, name, None),
            (Kind::Split, 0) => asked.augmented(&mut session.ir, name),
            (Kind::Split, n) => asked.reverse(&mut session.ir, name, Some(Tape { kept: n == 2 })),
            (Kind::Batch, _) => asked.batch(&mut session.ir, name),
        };
        written.push(session.ir.funcs.push(func));
    }
    session.export_external(&written).map_err(|problems| match problems.first() {
        Some(p) => from_problem(p, codes::E0901),
        None => Report::new(codes::E0901, "a function was not accepted"),
    })?;
    Ok(Made { functions: names, places: places(asked.value, asked.shadow) })
}

/// `name`, or as it with a number, whichever no function has.
fn free_name(session: &mut Session, name: &str) -> String {
    let mut free = name.to_owned();
    let mut n = 0;
    while session.find_function(&free).is_some() {
        n += 1;
        free = format!("{name}.{n}");
    }
    free
}

/// What a reverse function does with its tape.
#[derive(Clone, Copy)]
struct Tape {
    /// It leaves it for another call.
    kept: bool,
}

/// A request that fits its function.
struct Asked<'a> {
    wanted: &'a Wanted,
    f: FuncId,
    types: Vec<TypeId>,
    ret: TypeId,
    /// The value is returned.
    value: bool,
    /// The shadow of the result is returned.
    shadow: bool,
}

impl<'a> Asked<'a> {
    fn new(module: &Module, f: FuncId, wanted: &'a Wanted) -> Result<Asked<'a>, Report> {
        let name = &module.funcs[f].name;
        let (ret, types, variadic) = module.signature(f);
        if variadic {
            return Err(refuse(format!("'{name}' takes variable arguments")));
        }
        if types.len() != wanted.params.len() {
            let (given, has) = (wanted.params.len(), types.len());
            return Err(refuse(format!("{given} activities are given, but '{name}' has {has} parameters")));
        }
        if !(1..=64).contains(&wanted.width) {
            return Err(refuse(format!("{} lanes are asked for; there may be 1 to 64", wanted.width)));
        }
        let known = &module.ctx.types;
        let (float, pointer) = (known.contains_float(ret), known.contains_pointer(ret));
        let is_void = known[ret] == Type::Void;
        let reverse = matches!(wanted.kind, Kind::Combined | Kind::Split);
        let result = wanted.result;
        let why = match (wanted.kind, result) {
            (Kind::Forward, Part::Out) => Some("its result is active, which is for reverse mode"),
            (Kind::Combined | Kind::Split, Part::Out) if pointer => {
                Some("its result holds an address, so it is no number that has an adjoint")
            }
            (Kind::Combined | Kind::Split, Part::Out) if !float => Some("its result has no adjoint: it holds no float"),
            (Kind::Combined | Kind::Split, Part::Dup | Part::NoNeed) if float => {
                Some("its result holds floats that are passed by value, so it is active, not duplicated")
            }
            (Kind::Combined, _) if pointer && (wanted.value || wanted.shadow) => {
                Some("its result holds an address, whose memory may be gone behind the reverse sweep")
            }
            (_, Part::Dup | Part::NoNeed) if is_void => Some("it has no result to duplicate"),
            (Kind::Batch, Part::Const) if !is_void => Some("its result differs between lanes"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(refuse(format!("'{name}' cannot be asked for like that: {why}")));
        }
        let value = wanted.value && !is_void && wanted.kind != Kind::Batch;
        let shadow = reverse && wanted.shadow && result.is_dup();
        Ok(Asked { wanted, f, types, ret, value, shadow })
    }

    fn width(&self) -> usize {
        self.wanted.width as usize
    }

    /// A value for each lane, as it is passed.
    fn lanes(&self, module: &mut Module, ty: TypeId) -> TypeId {
        if self.width() > 1 { module.ctx.types.array(ty, u64::from(self.wanted.width)) } else { ty }
    }

    /// The parameters, with `more` behind those of the function.
    fn params(&self, module: &mut Module, more: &[TypeId]) -> Vec<TypeId> {
        let mut out = Vec::new();
        for (ty, part) in self.types.iter().zip(&self.wanted.params) {
            match (self.wanted.kind, part) {
                (Kind::Batch, Part::Dup | Part::NoNeed | Part::Out) => out.push(self.lanes(module, *ty)),
                (_, Part::Dup | Part::NoNeed) => {
                    out.push(*ty);
                    out.push(self.lanes(module, *ty));
                }
                (_, Part::Const | Part::Out) => out.push(*ty),
            }
        }
        out.extend(more);
        out
    }

    fn start<'m>(&self, module: &'m mut Module, name: &str, ret: TypeId, more: &[TypeId]) -> Call<'m> {
        let params = self.params(module, more);
        let sig = module.ctx.types.func(ret, params.clone());
        let mut func = Func::new(name, sig, &params);
        func.linkage = Linkage::External;
        let mut e = Emit::new(module, func);
        let start = e.new_block("start");
        e.block = start;
        let given = e.func.params.clone().into_iter();
        let address = e.b().func_addr(self.f);
        let mut call = Call { e, start, given, list: vec![address], width: self.width() };
        for (on, note) in [
            (self.wanted.strong_zero, "enzyme_strong_zero"),
            (self.wanted.atomic, "enzyme_atomic_add"),
            (self.wanted.runtime_activity, "enzyme_runtime_activity"),
            (self.wanted.result == Part::Const && self.wanted.kind != Kind::Batch, "enzyme_const_return"),
        ] {
            if on {
                call.note(note);
            }
        }
        if self.width() > 1 || self.wanted.kind == Kind::Batch {
            call.note("enzyme_width");
            let lanes = call.e.b().i64(u64::from(self.wanted.width));
            call.list.push(lanes);
        }
        call
    }

    fn arguments(&self, call: &mut Call<'_>) {
        for part in &self.wanted.params {
            call.note(match (self.wanted.kind, part) {
                (Kind::Batch, Part::Const) => "enzyme_scalar",
                (Kind::Batch, _) => "enzyme_vector",
                (_, Part::Const) => "enzyme_const",
                (_, Part::Dup) => "enzyme_dup",
                (_, Part::NoNeed) => "enzyme_dupnoneed",
                (_, Part::Out) => "enzyme_out",
            });
            if self.wanted.kind != Kind::Batch || *part == Part::Const {
                call.pass();
            }
            if part.is_dup() || self.wanted.kind == Kind::Batch && *part != Part::Const {
                call.pass_lanes();
            }
        }
    }

    fn active(&self) -> Vec<TypeId> {
        let pairs = self.types.iter().zip(&self.wanted.params);
        pairs.filter(|(_, part)| **part == Part::Out).map(|(ty, _)| *ty).collect()
    }

    fn forward(&self, module: &mut Module, name: &str) -> Func {
        let tangent = self.wanted.result.is_dup();
        let value = self.value;
        let shadow_ty = self.lanes(module, self.ret);
        let ret = match (value, tangent) {
            (true, true) => module.ctx.types.tuple(vec![self.ret, shadow_ty]),
            (true, false) => self.ret,
            (false, true) => shadow_ty,
            (false, false) => module.ctx.types.void(),
        };
        let mut call = self.start(module, name, ret, &[]);
        if value {
            call.note("enzyme_primal_return");
        }
        self.arguments(&mut call);
        let mut fields = if value { vec![self.ret] } else { Vec::new() };
        fields.extend(vec![self.ret; if tangent { self.width() } else { 0 }]);
        let values = call.call(&format!("__enzyme_fwddiff.{name}"), &fields);
        let (primal, tangents) = values.split_at(usize::from(value));
        let mut out = primal.to_vec();
        if tangent {
            out.push(call.join(tangents, shadow_ty));
        }
        call.finish(ret, &out)
    }

    /// The function with adjoints: of the combined derivative, or one of a split derivative, with its tape.
    fn reverse(&self, module: &mut Module, name: &str, tape: Option<Tape>) -> Func {
        let active = self.active();
        let split = tape.is_some();
        let value = self.value && !split;
        let mut fields = if value { vec![self.ret] } else { Vec::new() };
        for ty in &active {
            fields.push(self.lanes(module, *ty));
        }
        let ret = match fields.is_empty() {
            true => module.ctx.types.void(),
            false => module.ctx.types.tuple(fields.clone()),
        };
        let mut more = Vec::new();
        if self.wanted.result == Part::Out {
            more.push(self.lanes(module, self.ret));
        }
        more.extend(split.then(|| module.ctx.types.ptr()));
        let mut call = self.start(module, name, ret, &more);
        if value {
            call.note("enzyme_primal_return");
        }
        if tape.is_some_and(|t| t.kept) {
            call.note("enzyme_nofree");
        }
        self.arguments(&mut call);
        if self.wanted.result == Part::Out {
            call.pass_lanes();
        }
        if split {
            call.pass();
        }
        let mut flat = if value { vec![self.ret] } else { Vec::new() };
        active.iter().for_each(|ty| flat.extend(vec![*ty; self.width()]));
        let marker = match (split, self.wanted.result) {
            (true, _) => "__enzyme_reverse",
            (false, Part::Out) => SEEDED,
            (false, _) => "__enzyme_autodiff",
        };
        let values = call.call(&format!("{marker}.{name}"), &flat);
        let (primal, adjoints) = values.split_at(usize::from(value));
        let mut out = primal.to_vec();
        for (n, lanes) in adjoints.chunks(self.width()).enumerate() {
            let ty = fields[n + usize::from(value)];
            out.push(call.join(lanes, ty));
        }
        call.finish_struct(ret, &out)
    }

    fn augmented(&self, module: &mut Module, name: &str) -> Func {
        let ptr = module.ctx.types.ptr();
        let shadow_ty = self.lanes(module, self.ret);
        let mut fields = vec![ptr];
        fields.extend(self.value.then_some(self.ret));
        fields.extend(self.shadow.then_some(shadow_ty));
        let ret = if fields.len() > 1 { module.ctx.types.tuple(fields) } else { ptr };
        let is_void = module.ctx.types[self.ret] == Type::Void;
        let mut call = self.start(module, name, ret, &[]);
        self.arguments(&mut call);
        let mut flat = vec![ptr];
        flat.extend((!is_void).then_some(self.ret));
        flat.extend(vec![self.ret; if self.shadow { self.width() } else { 0 }]);
        let values = call.call(&format!("__enzyme_augmentfwd.{name}"), &flat);
        let mut out = vec![values[0]];
        out.extend(values.get(1).filter(|_| self.value));
        if self.shadow {
            out.push(call.join(&values[2..], shadow_ty));
        }
        call.finish(ret, &out)
    }

    fn batch(&self, module: &mut Module, name: &str) -> Func {
        let is_void = module.ctx.types[self.ret] == Type::Void;
        let ret = if is_void { self.ret } else { self.lanes(module, self.ret) };
        let mut call = self.start(module, name, ret, &[]);
        self.arguments(&mut call);
        let fields = vec![self.ret; if is_void { 0 } else { self.width() }];
        let values = call.call(&format!("__enzyme_batch.{name}"), &fields);
        let out = if is_void { Vec::new() } else { vec![call.join(&values, ret)] };
        call.finish(ret, &out)
    }
}

/// A function being written, with the marker call in it.
struct Call<'m> {
    e: Emit<'m>,
    start: enzyme_ir::BlockId,
    given: std::vec::IntoIter<ValueId>,
    list: Vec<ValueId>,
    width: usize,
}

impl Call<'_> {
    fn note(&mut self, name: &str) {
        let value = marker::address_of_annotation(&mut self.e, name);
        self.list.push(value);
    }

    /// Passes the next parameter on.
    fn pass(&mut self) {
        self.list.extend(self.given.next());
    }

    /// Passes the next parameter on, lane by lane.
    fn pass_lanes(&mut self) {
        let Some(value) = self.given.next() else { return };
        let lanes = if self.width > 1 { self.width as u32 } else { 0 };
        for lane in 0..lanes {
            let part = self.e.b().extract_value(value, &[lane]);
            self.list.push(part);
        }
        if lanes == 0 {
            self.list.push(value);
        }
    }

    /// Calls the marker `name`; the values that it returns.
    fn call(&mut self, name: &str, fields: &[TypeId]) -> Vec<ValueId> {
        let types = &mut self.e.module.ctx.types;
        let ret = match fields {
            [] => types.void(),
            [one] => *one,
            _ => types.tuple(fields.to_vec()),
        };
        let list = std::mem::take(&mut self.list);
        let value = self.e.call(name, ret, &list);
        match fields.len() {
            0 => Vec::new(),
            1 => vec![value],
            n => (0..n as u32).map(|field| self.e.b().extract_value(value, &[field])).collect(),
        }
    }

    /// The values of all lanes as one.
    fn join(&mut self, values: &[ValueId], ty: TypeId) -> ValueId {
        if let ([one], 1) = (values, self.width) {
            return *one;
        }
        let mut out = self.e.b().zero(ty);
        for (n, v) in values.iter().enumerate() {
            out = self.e.b().insert_value(out, *v, &[n as u32]);
        }
        out
    }

    /// Returns `values`: nothing, one, or several as a structure.
    fn finish(self, ret: TypeId, values: &[ValueId]) -> Func {
        match values {
            [one] if self.e.ty(*one) == ret => self.end(Some(*one)),
            _ => self.finish_struct(ret, values),
        }
    }

    /// Returns `values` as a structure, also if it is one.
    fn finish_struct(mut self, ret: TypeId, values: &[ValueId]) -> Func {
        if values.is_empty() {
            return self.end(None);
        }
        let mut out = self.e.b().zero(ret);
        for (n, v) in values.iter().enumerate() {
            out = self.e.b().insert_value(out, *v, &[n as u32]);
        }
        self.end(Some(out))
    }

    fn end(mut self, value: Option<ValueId>) -> Func {
        self.e.b().ret(value);
        self.e.finish(self.start)
    }
}
