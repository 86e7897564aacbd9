//! Reading a marker call: which function, which mode, what each argument is.
//!
//! Arguments stand in the order of the function's parameters; an annotation before an argument says its activity, else
//! floats are active, pointers duplicated, integers constant. Duplicated arguments are followed by their shadows. Other
//! annotations, which may stand before any argument or after the last, are about the whole call: [`Settings`]; the limit of
//! its tape is read by [`max_tape`] before anything is prepared.

use enzyme_diff::emit::Emit;
use enzyme_diff::{Content, Mode, ParamActivity};
use enzyme_ir::{Const, FuncId, Global, Linkage, Module, Type, TypeId, ValueId};
use enzyme_llvm::{MarkerCall, MarkerValue};

use crate::codes;
use crate::fortran;
use crate::report::Report;

/// Parts of names of marker functions that this version replaces, with their modes.
pub const MARKERS: &[(&str, Mode)] = &[
    ("__enzyme_autodiff", Mode::Combined),
    ("__enzyme_fwddiff", Mode::Forward),
    ("__enzyme_augmentfwd", Mode::Augmented),
    ("__enzyme_reverse", Mode::Gradient),
    (ERROR_ESTIMATE, Mode::Forward),
    (SPARSITY, Mode::Forward),
    (fortran::GRAD, Mode::Combined),
    (fortran::AUTODIFF, Mode::Combined),
    (fortran::VALUE_AND_GRAD, Mode::Combined),
    (fortran::JVP, Mode::Forward),
    (fortran::FWDDIFF, Mode::Forward),
];

/// Part of the names of marker functions that ask for bounds of rounding errors in the place of tangents.
pub const ERROR_ESTIMATE: &str = "__enzyme_error_estimate";
/// The marker whose shadows are sets of independent variables.
pub const SPARSITY: &str = "__enzyme_sparsity";

/// Part of the names of marker functions that ask for the number of bytes of a tape: [`TAPE_BYTES`] and what follows the record.
pub const AUGMENT_SIZE: &str = "__enzyme_augmentsize";

/// Part of the names of marker functions that ask for tangents from a tape.
pub const FORWARD_SPLIT: &str = "__enzyme_fwdsplit";

/// Part of the names of markers that are written for compilers: reverse mode in one call, which is given the adjoint of the result.
pub const SEEDED: &str = "__enzyme_autodiff.seeded";

/// Bytes of the record that the two calls of a split derivative share: the tape, the list of deferred frees, and a number
/// that tells which derivative wrote it.
pub const TAPE_BYTES: u64 = 24;

/// Parts of names that mark other requests: refused.
pub const OTHER_MARKERS: &[&str] = &[
    AUGMENT_SIZE,
    "__enzyme_virtualreverse",
    crate::batch::BATCH,
    crate::truncate::TRUNCATE,
    crate::truncate::TRUNCATE_MEMORY,
    "__enzyme_truncate_",
    "__enzyme_expand_",
    "__enzyme_likelihood",
    "__enzyme_trace",
    "__enzyme_condition",
    "__enzyme_sample",
    "__enzyme_observe",
    "__enzyme_checkpoint_",
    "__enzyme_fixed_point",
    "__enzyme_set_",
    "__enzyme_shadow",
    "__enzyme_call_inactive",
    "__enzyme_sum",
    "__enzyme_product",
];

/// Where the parts of a parameter stand among the arguments of the marker call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamArgs {
    /// Activity.
    pub activity: ParamActivity,
    /// Nothing is said of it: the activity is that of its type.
    pub is_implied: bool,
    /// Where the primal value is.
    pub primal: LaneArg,
    /// Where the shadow or tangent of each lane is; none if it has no shadow.
    pub shadows: Vec<LaneArg>,
}

/// Where the shadow or tangent of one lane is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneArg {
    /// The argument that holds it, or the first lane's.
    pub arg: usize,
    /// The argument with the number of bytes between the shadows of two lanes, and how many of these lie before this one.
    pub stride: Option<(usize, u32)>,
    /// The argument points to it: how many bytes behind that address it lies.
    pub behind: Option<u64>,
}

impl LaneArg {
    fn first(self) -> LaneArg {
        LaneArg { stride: None, ..self }
    }
}

/// The annotation between all primal arguments and all shadows.
const INTERLEAVE: &str = "enzyme_interleave";

/// The annotation before the size of a structure that is passed by value, of which the address follows.
const BY_REFERENCE: &str = "enzyme_byref";

fn size_behind(call: &MarkerCall, at: usize) -> Result<u64, Report> {
    match call.args.get(at).map(|a| &a.value) {
        Some(MarkerValue::ConstInt(n)) => Ok(*n),
        _ => Err(Report::new(codes::E0105, format!("'{BY_REFERENCE}' is not followed by a constant number of bytes"))),
    }
}

/// The parameters into which a structure of so many bytes was taken apart, and where in it they lie; the offset is `None` where
/// the parameter is the address itself.
fn parts(module: &Module, params: &[TypeId], bytes: u64) -> Option<Vec<(TypeId, Option<u64>)>> {
    let ctx = &module.ctx;
    if matches!(ctx.types[*params.first()?], Type::Ptr(_))
        && bytes > ctx.layout.size_of(&ctx.types, *params.first()?)?
    {
        return Some(vec![(params[0], None)]);
    }
    let mut out = Vec::new();
    let mut end = 0u64;
    for ty in params {
        // Each part is what one register holds: eight bytes, or more in a vector or an array.
        let offset = end.div_ceil(8) * 8;
        if offset >= bytes {
            break;
        }
        out.push((*ty, Some(offset)));
        end = offset + ctx.layout.size_of(&ctx.types, *ty)?;
    }
    (end <= bytes.div_ceil(8) * 8).then_some(out)
}

/// The address of an annotation, for marker calls that are written here.
pub fn address_of_annotation(e: &mut Emit<'_>, name: &str) -> ValueId {
    let global = e.module.find_global(name).unwrap_or_else(|| {
        let ty = e.module.ctx.types.int(32);
        let (name, linkage) = (name.to_owned(), Linkage::External);
        let global = Global { name, ty, init: None, constant: false, linkage, align: 0, thread_local: false, space: 0 };
        e.module.globals.push(global)
    });
    let ptr = e.module.ctx.types.ptr();
    let c = e.module.ctx.consts.intern(Const::Global(global));
    e.func.constant(c, ptr)
}

/// A marker call that was understood.
#[derive(Clone, PartialEq, Debug)]
pub struct Marker {
    /// Kind of derivative.
    pub mode: Mode,
    /// The function to differentiate.
    pub func: FuncId,
    /// One per parameter of the function.
    pub params: Vec<ParamArgs>,
    /// What is said of the whole call.
    pub settings: Settings,
    /// Argument with the adjoint of the result in the first lane, for the second call of a split derivative; one if there is none.
    pub seed: Option<usize>,
    /// Argument that points to the record that both calls of a split derivative share.
    pub tape: Option<usize>,
}

/// What annotations say of a whole call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// The primal result is returned, before the derivative.
    pub primal: bool,
    /// The primal result is constant.
    pub constant_result: bool,
    /// What stands in the place of tangents.
    pub content: Content,
    /// A zero adjoint or tangent stays zero through partial derivatives that are infinite or NaN.
    pub strong_zero: bool,
    /// Several threads may add to the adjoints in memory at once.
    pub atomic: bool,
    /// Argument that points to memory for the record of a split derivative.
    pub tape: Option<usize>,
    /// How many bytes that memory has.
    pub allocated: Option<Allocated>,
    /// Number of lanes.
    pub width: u32,
    /// A shadow that is the argument itself says that its memory is constant.
    pub tested: bool,
    /// This reverse sweep leaves the tape for another.
    pub keeps_tape: bool,
    /// Reverse sweeps of this module may do so.
    pub kept_tapes: bool,
}

/// The size of memory that a caller gives for a tape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allocated {
    /// So many bytes.
    Bytes(u64),
    /// As many as this argument says.
    Argument(usize),
}

const NO_FREE: &str = "enzyme_nofree";

/// Whether the reverse sweep that `call` asks for leaves the tape for another.
pub fn keeps_tape(call: &MarkerCall) -> bool {
    mode_of(&call.callee).is_ok_and(|m| m == Mode::Gradient)
        && (0..call.args.len()).any(|at| annotation_at(call, at) == Some(NO_FREE))
}

/// The mode that a marker's name asks for.
pub fn mode_of(callee: &str) -> Result<Mode, Report> {
    match MARKERS.iter().find(|(part, _)| callee.contains(part)) {
        Some((_, mode)) => Ok(*mode),
        None => Err(Report::new(codes::E0108, format!("the marker '{callee}' is not supported"))),
    }
}

/// The function that a marker call differentiates.
pub fn function_of(call: &MarkerCall) -> Result<FuncId, Report> {
    let first = usize::from(call.sret().is_some());
    match call.args.get(first).map(|a| &a.value) {
        Some(MarkerValue::Function(f)) => Ok(*f),
        Some(
            MarkerValue::GlobalRef(_) | MarkerValue::LoadOfGlobal(_) | MarkerValue::ConstInt(_) | MarkerValue::Other,
        ) => Err(Report::new(codes::E0103, format!("the first argument of '{}' is not a function", call.callee))),
        None => Err(Report::new(codes::E0101, format!("'{}' is called without a function", call.callee))),
    }
}

/// The annotation that argument `at` of a call is, if it is one.
pub fn annotation_at(call: &MarkerCall, at: usize) -> Option<&str> {
    call.args.get(at).and_then(|a| annotation(&a.value))
}

fn annotation(value: &MarkerValue) -> Option<&str> {
    match value {
        MarkerValue::GlobalRef(name) | MarkerValue::LoadOfGlobal(name) => name.starts_with("enzyme_").then_some(name),
        MarkerValue::Function(_) | MarkerValue::ConstInt(_) | MarkerValue::Other => None,
    }
}

/// The annotation before the number of lanes.
const WIDTH: &str = "enzyme_width";
/// The most lanes that make sense.
const MOST_LANES: u64 = 1024;

/// The number of lanes, where the call says so.
pub fn width_of(call: &MarkerCall) -> Result<Option<u32>, Report> {
    let Some(at) = call.args.iter().position(|a| annotation(&a.value) == Some(WIDTH)) else { return Ok(None) };
    match call.args.get(at + 1).map(|a| &a.value) {
        Some(MarkerValue::ConstInt(n)) if (1..=MOST_LANES).contains(n) => Ok(Some(*n as u32)),
        _ => {
            let why = format!("'{WIDTH}' is not followed by a constant number of lanes (1 to {MOST_LANES})");
            Err(Report::new(codes::E0105, why))
        }
    }
}

/// The annotation before the number of bytes that the caches of a loop may take.
const MAX_TAPE: &str = "enzyme_max_tape";

fn bytes_of(call: &MarkerCall, at: usize) -> Result<Option<u64>, Report> {
    if call.args.get(at).and_then(|a| annotation(&a.value)) != Some(MAX_TAPE) {
        return Ok(None);
    }
    match call.args.get(at + 1).map(|a| &a.value) {
        Some(MarkerValue::ConstInt(n)) => Ok(Some(*n)),
        _ => Err(Report::new(codes::E0105, format!("'{MAX_TAPE}' is not followed by a constant number of bytes"))),
    }
}

impl Settings {
    /// Takes the annotation at `at` into account, if it is about the whole call: how many arguments it takes.
    fn take(&mut self, call: &MarkerCall, at: usize, mode: Mode) -> Result<usize, Report> {
        if bytes_of(call, at)?.is_some() {
            return Ok(2);
        }
        match call.args.get(at).and_then(|a| annotation(&a.value)) {
            Some("enzyme_primal_return") => self.primal = true,
            Some("enzyme_noret") => self.primal = false,
            Some("enzyme_const_return") => self.constant_result = true,
            Some("enzyme_active_return") => self.constant_result = false,
            Some("enzyme_dup_return") if mode == Mode::Forward => (self.primal, self.constant_result) = (true, false),
            Some("enzyme_dup_return") => {
                let why = "'enzyme_dup_return' is for forward mode: a reverse derivative has no tangent of the result";
                return Err(Report::new(codes::E0109, why.to_owned()));
            }
            Some(WIDTH) => return Ok(2),
            Some("enzyme_runtime_activity") => self.tested = true,
            Some("enzyme_strong_zero") => self.strong_zero = true,
            Some("enzyme_atomic_add") => self.atomic = true,
            Some(note @ ("enzyme_tape" | "enzyme_allocated")) => {
                let split = matches!(mode, Mode::Augmented | Mode::Gradient) || call.callee.contains(FORWARD_SPLIT);
                let Some(arg) = call.args.get(at + 1).filter(|_| split) else {
                    let why = format!("'{note}' is for the calls of a split derivative, with an argument behind it");
                    return Err(Report::new(codes::E0109, why));
                };
                match arg.value {
                    MarkerValue::ConstInt(n) if note == "enzyme_allocated" && n < TAPE_BYTES => {
                        let why = format!("'{note}' grants {n} bytes, and {TAPE_BYTES} are needed");
                        return Err(Report::new(codes::E0105, why));
                    }
                    _ if note == "enzyme_tape" => self.tape = Some(at + 1),
                    MarkerValue::ConstInt(n) => self.allocated = Some(Allocated::Bytes(n)),
                    _ => self.allocated = Some(Allocated::Argument(at + 1)),
                }
                return Ok(2);
            }
            // Only the second call of a split derivative has a tape to keep.
            Some(NO_FREE) => self.keeps_tape = mode == Mode::Gradient,
            // A promise that changes nothing here: what is overwritten is found out.
            Some("enzyme_not_overwritten") => {}
            _ => return Ok(0),
        }
        Ok(1)
    }

    /// The first argument from `at` on that is not about the whole call.
    fn skip(&mut self, call: &MarkerCall, mut at: usize, mode: Mode) -> Result<usize, Report> {
        loop {
            match self.take(call, at, mode)? {
                0 => return Ok(at),
                n => at += n,
            }
        }
    }
}

/// The number of bytes that the caches of a loop may take, where the call says so.
pub fn max_tape(call: &MarkerCall) -> Result<Option<u64>, Report> {
    for at in 0..call.args.len() {
        if let Some(bytes) = bytes_of(call, at)? {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

/// What the shadows that the marker of `call` asks for hold.
fn content_of(call: &MarkerCall) -> Content {
    match () {
        () if call.callee.contains(ERROR_ESTIMATE) => Content::ErrorBound,
        () if call.callee.contains(SPARSITY) => Content::Dependence,
        () => Content::Tangent,
    }
}

/// Understands the arguments of `call`, which differentiates `func`.
pub fn parse(module: &Module, call: &MarkerCall, mode: Mode, func: FuncId) -> Result<Marker, Report> {
    let name = &module.funcs[func].name;
    let (ret, param_types, variadic) = module.signature(func);
    if variadic {
        return Err(Report::new(codes::E0203, format!("'{name}' takes a variable number of arguments")));
    }
    let mut at = usize::from(call.sret().is_some()) + 1;
    let mut params = Vec::new();
    let width = width_of(call)?.unwrap_or(1);
    // All primal arguments, the annotation, all shadows in the same order.
    let between = (0..call.args.len()).find(|at| annotation_at(call, *at) == Some(INTERLEAVE));
    let mut shadow_at = between.map(|n| n + 1);
    let content = content_of(call);
    let primal = mode == Mode::Augmented || call.callee.contains(fortran::VALUE_AND_GRAD);
    let mut settings = Settings { width, primal, content, ..Settings::default() };
    while params.len() < param_types.len() {
        let n = params.len();
        let ty = param_types[n];
        at = settings.skip(call, at, mode)?;
        let (mut given, mut stride, mut behind) = (None, None, None);
        if between == Some(at) {
            return Err(Report::new(codes::E0101, format!("argument for parameter {} of '{name}' is missing", n + 1)));
        }
        while let Some(note) = call.args.get(at).and_then(|a| annotation(&a.value)) {
            at += 1;
            if note == BY_REFERENCE {
                behind = Some(size_behind(call, at)?);
                at += 1;
            } else if given.is_none() {
                given = Some(note.to_owned());
                if behind.is_none() && call.args.get(at).and_then(|a| annotation(&a.value)) != Some(BY_REFERENCE) {
                    stated(module, note, ty, mode, n)?;
                }
                if note.ends_with("dupv") || note.ends_with("noneedv") {
                    stride = Some(stride_of(module, call, at, ty, note)?);
                    at += 1;
                }
            } else {
                let why = format!("'{note}' stands where parameter {} of '{name}' is expected", n + 1);
                return Err(Report::new(codes::E0105, why));
            }
            at = settings.skip(call, at, mode)?;
        }
        // A structure that was taken apart covers several parameters.
        let covered = match behind {
            Some(bytes) => parts(module, &param_types[n..], bytes).ok_or_else(|| {
                Report::new(codes::E0105, format!("'{BY_REFERENCE}' names no {bytes} bytes of parameters of '{name}'"))
            })?,
            None if fortran::is_behind(module, call, at, ty) => vec![(ty, Some(0))],
            None => vec![(ty, None)],
        };
        let (mut used, mut shadows_used) = (0, 0);
        for (k, (ty, offset)) in covered.iter().enumerate() {
            let activity = match &given {
                Some(note) if behind.is_some() && note == "enzyme_out" && !module.ctx.types.contains_float(*ty) => {
                    beside_floats(module, *ty, n + k)?
                }
                Some(note) => stated(module, note, *ty, mode, n + k)?,
                None if fortran::is_fortran(&call.callee) && call.args.get(at).is_some_and(|a| a.integers) => {
                    ParamActivity::Const
                }
                None => default_activity(module, *ty, mode),
            };
            if activity == ParamActivity::Active && offset.is_some() && behind.is_none() {
                let why = format!("argument {} of '{name}' is passed by value: its adjoint has no place", n + 1);
                return Err(Report::new(codes::E0109, why).note("pass it by reference, or as 'enzyme_const'"));
            }
            let place = |arg: usize, lane: u32| LaneArg { arg, stride: stride.map(|s| (s, lane)), behind: *offset };
            let fits = |arg: usize| match offset {
                Some(_) => check_pointer(module, call, arg, n),
                None => check(module, call, arg, *ty, n, name),
            };
            fits(at)?;
            let mut shadows = Vec::new();
            if activity == ParamActivity::Dup {
                let first = shadow_at.unwrap_or(at + 1);
                for lane in 0..width {
                    let arg = if stride.is_some() { first } else { first + lane as usize };
                    fits(arg)?;
                    shadows.push(place(arg, lane));
                }
            }
            let apart = if stride.is_some() { shadows.len().min(1) } else { shadows.len() };
            used = used.max(if between.is_some() { 1 } else { 1 + apart });
            shadows_used = shadows_used.max(apart);
            params.push(ParamArgs { activity, is_implied: given.is_none(), primal: place(at, 0).first(), shadows });
        }
        at += used;
        shadow_at = shadow_at.map(|n| n + shadows_used);
    }
    if let (Some(n), Some(end)) = (between, shadow_at) {
        if settings.skip(call, at, mode)? != n {
            return Err(Report::new(
                codes::E0107,
                format!("'{INTERLEAVE}' does not follow the last argument of '{name}'"),
            ));
        }
        at = end;
    }
    at = settings.skip(call, at, mode)?;
    let (mut seed, mut tape) = (None, None);
    if mode == Mode::Gradient || call.callee.contains(SEEDED) {
        let floats = |at: usize| call.args.get(at).is_some_and(|a| module.ctx.types.contains_float(a.ty));
        if module.ctx.types.contains_float(ret) && floats(at) {
            seed = Some(at);
            let given = (0..width as usize).take_while(|n| floats(at + n)).count();
            if given < width as usize {
                let why = format!("'{}' has {given} adjoints of the result for {width} lanes", call.callee);
                return Err(Report::new(codes::E0101, why));
            }
            at = settings.skip(call, at + given, mode)?;
        }
    }
    let on_tape = mode == Mode::Gradient || call.callee.contains(FORWARD_SPLIT);
    if on_tape && settings.tape.is_none() && at < call.args.len() {
        tape = Some(at);
        at = settings.skip(call, at + 1, mode)?;
    }
    let tape = settings.tape.or(tape);
    if let Some(bad) = tape.and_then(|n| call.args.get(n)).filter(|a| !matches!(module.ctx.types[a.ty], Type::Ptr(_))) {
        let what = if annotation(&bad.value).is_some() { "an annotation" } else { "no pointer" };
        return Err(Report::new(codes::E0105, format!("the tape of '{}' is {what}", call.callee)));
    }
    if on_tape && tape.is_none() {
        let why = format!("'{}' has no tape: the result of the call of __enzyme_augmentfwd comes last", call.callee);
        return Err(Report::new(codes::E0101, why));
    }
    if let Some(extra) = call.args.get(at) {
        let report = match annotation(&extra.value) {
            Some(note) => Report::new(codes::E0102, format!("'{note}' describes no parameter of '{name}'")),
            None => Report::new(
                codes::E0107,
                format!("'{}' has {} arguments more than '{name}' takes", call.callee, call.args.len() - at),
            ),
        };
        return Err(report);
    }
    if settings.primal && call.callee.contains(FORWARD_SPLIT) {
        let why = "'enzyme_primal_return' stands where only the tape is: __enzyme_augmentfwd returns the result";
        return Err(Report::new(codes::E0109, why.to_owned()));
    }
    let types = &module.ctx.types;
    if settings.primal && matches!(mode, Mode::Combined | Mode::Gradient) && types.contains_pointer(ret) {
        let why =
            format!("'enzyme_primal_return' of '{name}', which returns a pointer: its memory may be gone by then");
        return Err(Report::new(codes::E0109, why));
    }
    Ok(Marker { mode, func, params, settings, seed, tape })
}

/// The argument with the number of bytes between the shadows of two lanes.
fn stride_of(module: &Module, call: &MarkerCall, at: usize, ty: TypeId, note: &str) -> Result<usize, Report> {
    let is_integer = |a: &enzyme_llvm::MarkerArg| matches!(module.ctx.types[a.ty], Type::Int(_));
    if !module.ctx.types.contains_pointer(ty) {
        return Err(Report::new(codes::E0109, format!("'{note}' stands before what is no pointer")));
    }
    if !call.args.get(at).is_some_and(is_integer) {
        return Err(Report::new(codes::E0105, format!("'{note}' is not followed by a number of bytes")));
    }
    Ok(at)
}

/// The activity that an argument states of the parameter behind it, if it is an annotation that does.
pub fn activity_of(module: &Module, arg: &enzyme_llvm::MarkerArg, ty: TypeId) -> Option<ParamActivity> {
    stated(module, annotation(&arg.value)?, ty, Mode::Augmented, 0).ok()
}

/// The activity of a parameter of which nothing is said.
pub fn default_activity(module: &Module, ty: TypeId, mode: Mode) -> ParamActivity {
    let types = &module.ctx.types;
    if types.contains_pointer(ty) {
        ParamActivity::Dup
    } else if types.contains_float(ty) {
        if mode == Mode::Forward { ParamActivity::Dup } else { ParamActivity::Active }
    } else {
        ParamActivity::Const
    }
}

fn stated(module: &Module, note: &str, ty: TypeId, mode: Mode, n: usize) -> Result<ParamActivity, Report> {
    let types = &module.ctx.types;
    let misfit =
        |what: &str| Err(Report::new(codes::E0109, format!("'{note}' stands before argument {}, which {what}", n + 1)));
    match note {
        "enzyme_const" => Ok(ParamActivity::Const),
        "enzyme_dup" | "enzyme_dupnoneed" | "enzyme_dupv" | "enzyme_dupnoneedv" => {
            if mode != Mode::Forward && types.contains_float(ty) && !types.contains_pointer(ty) {
                return misfit("is a float passed by value: use enzyme_out");
            }
            Ok(ParamActivity::Dup)
        }
        "enzyme_out" => {
            if mode == Mode::Forward {
                return misfit("is differentiated forward: its tangent is given with enzyme_dup");
            }
            if types.contains_pointer(ty) || !types.contains_float(ty) {
                return misfit("is not a float");
            }
            Ok(ParamActivity::Active)
        }
        _ => Err(Report::new(codes::E0102, format!("the annotation '{note}' is not known"))),
    }
}

/// The activity of an integer in which a part of an active structure travels. One of more than 32 bits may hold a float.
fn beside_floats(module: &Module, ty: TypeId, n: usize) -> Result<ParamActivity, Report> {
    match module.ctx.types[ty] {
        Type::Int(bits) if bits > 32 => {
            let why = format!(
                "the structure in parameter {} is passed in integers, of which adjoints cannot be returned: pass its address",
                n + 1
            );
            Err(Report::new(codes::E0109, why))
        }
        _ => Ok(ParamActivity::Const),
    }
}

fn check_pointer(module: &Module, call: &MarkerCall, at: usize, n: usize) -> Result<(), Report> {
    match call.args.get(at) {
        Some(a) if matches!(module.ctx.types[a.ty], Type::Ptr(_)) && annotation(&a.value).is_none() => Ok(()),
        _ => Err(Report::new(
            codes::E0105,
            format!("'{BY_REFERENCE}' before parameter {} is not followed by an address", n + 1),
        )),
    }
}

/// Whether argument `at` of a call can be parameter `n` of the function `name`.
pub fn check(module: &Module, call: &MarkerCall, at: usize, ty: TypeId, n: usize, name: &str) -> Result<(), Report> {
    let Some(arg) = call.args.get(at) else {
        let needed = format!("argument {} of '{name}' (parameter {}) is missing", at + 1, n + 1);
        return Err(Report::new(codes::E0101, needed));
    };
    if let Some(note) = annotation(&arg.value) {
        return Err(Report::new(
            codes::E0105,
            format!("'{note}' stands where parameter {} of '{name}' is expected", n + 1),
        ));
    }
    let types = &module.ctx.types;
    let fits = arg.ty == ty
        || matches!(
            (&types[arg.ty], &types[ty]),
            (Type::Float(_), Type::Float(_)) | (Type::Int(_), Type::Int(_)) | (Type::Ptr(_), Type::Ptr(_))
        );
    if fits {
        Ok(())
    } else {
        Err(Report::new(codes::E0105, format!("argument {} does not fit parameter {} of '{name}'", at + 1, n + 1)))
    }
}
