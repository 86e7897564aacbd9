//! One LLVM module under differentiation, and its mirror.

use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;

use enzyme_ir::{DataLayout, Facts, Func, FuncId, Linkage, LocId, Module};

use crate::export::Exported;
use crate::ffi::{self, HostRef, LocRef, Str, ValueRef};
use crate::import::{self, Imported};
use crate::markers::{Found, MarkerCall};
use crate::pass::Level;
use crate::problem::Problem;
use crate::text::collect;

/// Before the names of functions that are an iteration of a loop over samples (`kSample` of the bridge).
const SAMPLE: &str = "enzyme.sample.";

/// How a function is simplified before it is imported.
#[derive(Clone, Debug, PartialEq)]
pub struct PrepareOptions {
    /// Instructions that inlining may bring into one function; 0 disables inlining.
    pub inline_budget: u64,
    /// Largest function that is inlined, in instructions.
    pub inline_callee: u64,
    /// Instructions that inlining may copy for one request beside the first copy of each function, and as much again: each copy has a
    /// derivative of its own. Small functions, and code that is not optimised, don't count.
    pub inline_growth: u64,
    /// Functions that stay calls, by name (those with rules of their own).
    pub keep: Vec<String>,
    /// Functions that stay calls, by a part of the name (markers).
    pub keep_containing: Vec<String>,
    /// Functions that are inlined whatever their size and attributes unless they are recursive, by name.
    pub force: Vec<String>,
    /// Instructions that these may bring into one function.
    pub force_budget: u64,
    /// Functions that no pointer is taken to hold, by name.
    pub avoid: Vec<String>,
    /// Functions that are called on suspicion, in which calls through pointers of which nothing is known are taken for such as are never
    /// made, by name.
    pub excuse: Vec<String>,
    /// A pointer that is read from a member of a structure holds what the program is seen to put into that member.
    pub by_member: bool,
    /// Members of structures that are declared as integers are no floats, in code that is not optimised.
    pub declared: bool,
    /// Functions that a pointer may hold stay calls.
    pub keep_guesses: bool,
    /// Whether to ask for facts, which costs time.
    pub facts: bool,
    /// Products of matrices that libraries compute are calls of functions with rules.
    pub products: bool,
    /// Loops may be checkpointed.
    pub checkpoints: Option<Checkpoints>,
    /// The function whose loops over independent samples are reversed iteration by iteration: that of a derivative whose sweeps
    /// are in one function.
    pub samples: Option<FuncId>,
    /// Functions may have a second body, for arrays that are found to be apart at run time.
    pub disjoint: bool,
}

/// Which loops are prepared for checkpointing, beside those that the program marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checkpoints {
    /// The function whose outermost loops are.
    pub root: FuncId,
    /// Bytes beyond which they are; 0 for none.
    pub max_tape: u64,
}

impl Default for PrepareOptions {
    fn default() -> PrepareOptions {
        PrepareOptions {
            inline_budget: 20_000,
            inline_callee: 1_000,
            inline_growth: 3_000,
            keep: Vec::new(),
            keep_containing: vec!["__enzyme_".to_owned(), "enzyme.checkpoint.".to_owned(), "enzyme.sample.".to_owned()],
            force: Vec::new(),
            force_budget: 50_000,
            avoid: Vec::new(),
            excuse: Vec::new(),
            by_member: false,
            declared: false,
            keep_guesses: false,
            facts: true,
            products: true,
            checkpoints: None,
            samples: None,
            disjoint: false,
        }
    }
}

/// What memory of the program an external function writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExternalWrites {
    /// Not known.
    Unknown,
    /// None but what its arguments point to.
    OnlyArguments,
    /// None that matters to a derivative (frees are put off there).
    Nothing,
}

/// A module of a host compiler or of a tool, mirrored on demand.
pub struct Session {
    /// The mirror: imported declarations and bodies, and whatever the caller adds.
    pub ir: Module,
    /// What is known of external functions by name, beyond what LLVM knows.
    pub external_writes: Option<fn(&str) -> ExternalWrites>,
    /// Why loops that might have been checkpointed are not, one to a line.
    pub notes: String,
    /// Diagnostics, if they are kept.
    pub(crate) kept: Option<Vec<crate::diagnose::Told>>,
    /// Those that the host was told.
    pub(crate) said: Vec<crate::diagnose::Told>,
    pub(crate) host: HostRef,
    pub(crate) imported: Imported,
    pub(crate) exported: Exported,
    pub(crate) found: Vec<Found>,
    facts: BTreeMap<FuncId, Facts>,
    no_facts: Facts,
    clones: BTreeMap<FuncId, ValueRef>,
    /// Whether clones may have second bodies.
    second_bodies: bool,
    wrappers: Vec<ValueRef>,
}

impl Session {
    /// A session on the module of `host`.
    ///
    /// # Safety
    ///
    /// The host and its module must outlive the session, and nobody else may change the module meanwhile.
    pub(crate) unsafe fn new(host: HostRef) -> Session {
        let mut ir = Module::default();
        let (mut name, mut triple) = (Str::EMPTY, Str::EMPTY);
        // SAFETY: the host is alive by this function's contract; the places to write to are valid.
        let ((), layout) = collect(|sink, context| unsafe {
            ffi::enz_module_names(host, &raw mut name, &raw mut triple, sink, context);
        });
        ir.name = name.to_text();
        ir.triple = triple.to_text();
        if !layout.is_empty() {
            ir.ctx.layout = DataLayout::parse(&layout);
        }
        Session {
            ir,
            external_writes: None,
            notes: String::new(),
            kept: None,
            said: Vec::new(),
            host,
            imported: Imported::default(),
            exported: Exported::default(),
            found: Vec::new(),
            facts: BTreeMap::new(),
            no_facts: Facts::default(),
            clones: BTreeMap::new(),
            second_bodies: false,
            wrappers: Vec::new(),
        }
    }

    /// Imports every function and global of the module as it is, with bodies and initial contents.
    pub fn import_module(&mut self) -> Result<(), Vec<Problem>> {
        import::import_module(self)
    }

    /// The function of the LLVM module called `name`, declared here if it was not.
    pub fn find_function(&mut self, name: &str) -> Option<FuncId> {
        // SAFETY: the host is alive; the name is borrowed for the call.
        let value = unsafe { ffi::enz_module_function(self.host, Str::of(name)) }?;
        Some(import::declare_function(self, value))
    }

    /// Whether [`Session::define_body`] can give `f` a body: the LLVM module defines it, and no other definition can
    /// replace that one at link time.
    pub fn has_body(&self, f: FuncId) -> bool {
        let Some(value) = self.llvm_function(f) else { return false };
        let info = import::func_info(self.host, value);
        info.flags & (ffi::FUNC_DECLARATION | ffi::FUNC_INTERPOSABLE) == 0
    }

    /// Gives the declaration `f` the body of the module's function, unprepared. Does nothing if it has one.
    pub fn import_body(&mut self, f: FuncId) -> Result<(), Vec<Problem>> {
        if self.ir.funcs.get(f).is_some_and(|func| !func.is_declaration()) {
            return Ok(());
        }
        let value = self.body_of(f)?;
        import::import_body(self, f, value, None)
    }

    /// Gives the declaration `f` the body of a simplified clone of the module's function, and the facts that LLVM
    /// knows of it. Does nothing if it has a body already.
    pub fn define_body(&mut self, f: FuncId, options: &PrepareOptions) -> Result<(), Vec<Problem>> {
        if self.ir.funcs.get(f).is_some_and(|func| !func.is_declaration()) {
            return Ok(());
        }
        let value = self.body_of(f)?;
        let keep: Vec<Str> = options.keep.iter().map(|s| Str::of(s)).collect();
        let containing: Vec<Str> = options.keep_containing.iter().map(|s| Str::of(s)).collect();
        let force: Vec<Str> = options.force.iter().map(|s| Str::of(s)).collect();
        let avoid: Vec<Str> = options.avoid.iter().map(|s| Str::of(s)).collect();
        // A sample is a root of its own, in which loops may take what the limit grants.
        let is_sample = self.ir.funcs[f].name.starts_with(SAMPLE);
        let root = options.checkpoints.filter(|c| c.root == f || is_sample);
        let mut asked = Asked { notes: &mut self.notes, writes: self.external_writes };
        let mut has_second_body = 0;
        let raw = ffi::Prepare {
            inline_budget: options.inline_budget,
            inline_callee: options.inline_callee,
            keep: keep.as_ptr(),
            num_keep: keep.len(),
            keep_containing: containing.as_ptr(),
            num_keep_containing: containing.len(),
            force: force.as_ptr(),
            num_force: force.len(),
            force_budget: options.force_budget,
            avoid: avoid.as_ptr(),
            num_avoid: avoid.len(),
            excuse: u8::from(options.excuse.contains(&self.ir.funcs[f].name)),
            by_member: u8::from(options.by_member),
            declared: u8::from(options.declared),
            keep_guesses: u8::from(options.keep_guesses),
            checkpoints: u8::from(options.checkpoints.is_some()),
            samples: u8::from(options.samples == Some(f)),
            disjoint: u8::from(options.disjoint),
            products: u8::from(options.products),
            max_tape: root.map_or(0, |c| c.max_tape),
            context: (&raw mut asked).cast(),
            note: Some(on_note),
            harmless: Some(on_harmless),
            has_second_body: &raw mut has_second_body,
        };
        // SAFETY: host and function are alive; `raw` points to arrays, a context and a flag that live across the call.
        let clone = unsafe { ffi::enz_prepare(self.host, value, &raw const raw) };
        let Some(clone) = clone else {
            return Err(vec![Problem::new(self.ir.funcs[f].name.clone(), "the function cannot be cloned")]);
        };
        if let Some(old) = self.clones.insert(f, clone) {
            // SAFETY: the clone is ours and no import refers to it any more.
            unsafe { ffi::enz_function_erase(self.host, old) };
        }
        self.second_bodies |= has_second_body != 0;
        let mut facts = Facts::default();
        import::import_body(self, f, clone, options.facts.then_some(&mut facts))?;
        self.facts.insert(f, facts);
        Ok(())
    }

    /// Begins a request: what inlining copied so far does not count.
    pub fn begin_request(&mut self, options: &PrepareOptions) {
        // SAFETY: the host is alive.
        unsafe { ffi::enz_inline_begin(self.host, options.inline_growth) }
    }

    /// Takes back all bodies that [`Session::define_body`] gave, so that it can give others. What was exported stays.
    pub fn forget_bodies(&mut self) {
        self.second_bodies = false;
        self.forget_bodies_if(|_, _| true);
    }

    /// As [`Session::forget_bodies`], of the functions of which `test` holds.
    pub fn forget_bodies_if(&mut self, test: impl Fn(&Module, &Func) -> bool) {
        let clones = std::mem::take(&mut self.clones).into_iter();
        let (gone, kept): (BTreeMap<_, _>, _) = clones.partition(|(f, _)| test(&self.ir, &self.ir.funcs[*f]));
        self.clones = kept;
        for (f, clone) in gone {
            self.imported.forget_body(f);
            self.facts.remove(&f);
            // SAFETY: clones are made by `define_body` alone, are used by nothing, and are forgotten here.
            unsafe { ffi::enz_function_erase(self.host, clone) };
            import::undefine(self, f);
        }
    }

    /// Whether functions were given two bodies, one for arrays that are apart and one for others.
    pub fn has_second_bodies(&self) -> bool {
        self.second_bodies
    }

    /// What LLVM knows of a function defined by [`Session::define_body`]; empty for others.
    pub fn facts(&self, f: FuncId) -> &Facts {
        self.facts.get(&f).unwrap_or(&self.no_facts)
    }

    /// Writes functions of [`Session::ir`] into the LLVM module, as internal functions; all are declared before any
    /// is defined, so they may call each other. On failure none of them remains.
    pub fn export(&mut self, functions: &[FuncId]) -> Result<(), Vec<Problem>> {
        crate::export::export(self, functions, Linkage::Internal)
    }

    /// As [`Session::export`], but visible outside of the module: for tools.
    pub fn export_external(&mut self, functions: &[FuncId]) -> Result<(), Vec<Problem>> {
        crate::export::export(self, functions, Linkage::External)
    }

    /// Whether a function is in the module or was exported.
    pub fn has_llvm(&self, f: FuncId) -> bool {
        self.exported.function(f).or_else(|| self.llvm_function(f)).is_some()
    }

    /// LLVM's text of a function that is in the module or was exported.
    pub fn print_llvm(&self, f: FuncId) -> Option<String> {
        let value = self.exported.function(f).or_else(|| self.llvm_function(f))?;
        // SAFETY: the value belongs to the module of this session.
        Some(collect(|sink, context| unsafe { ffi::enz_print_value(value, sink, context) }).1)
    }

    /// LLVM's text of the whole module.
    pub fn print_llvm_module(&self) -> String {
        // SAFETY: the host is alive.
        collect(|sink, context| unsafe { ffi::enz_print_module(self.host, sink, context) }).1
    }

    /// Name and type of each parameter of `f`, as the source has them; empty where that is not known. Types are `float64`,
    /// `int32`, `uint8`, `struct`, and such behind stars for addresses.
    pub fn describe_params(&self, f: FuncId) -> Vec<(String, String)> {
        let Some(value) = self.llvm_function(f) else { return Vec::new() };
        // SAFETY: the value is a function of this module; sink and context come from `collect`.
        let ((), text) = collect(|sink, context| unsafe { ffi::enz_describe_params(value, sink, context) });
        text.lines().filter_map(|l| l.split_once('\t')).map(|(n, t)| (n.to_owned(), t.to_owned())).collect()
    }

    /// Names of all functions that the module defines for others, in order.
    pub fn defined_functions(&mut self) -> Vec<String> {
        let all = import::list(|out, capacity| {
            // SAFETY: the host is alive and the array is as long as said.
            unsafe { ffi::enz_module_functions(self.host, out, capacity) }
        });
        let defined = |v: &ValueRef| {
            let info = import::func_info(self.host, *v);
            info.flags & ffi::FUNC_DECLARATION == 0
        };
        // SAFETY: the values are functions of the module.
        all.into_iter().filter(defined).map(|v| unsafe { ffi::enz_value_name(v) }.to_text()).collect()
    }

    /// Makes a function that the module defines visible to others, or not; whether there is one.
    pub fn set_visible(&mut self, name: &str, visible: bool) -> bool {
        // SAFETY: the host is alive; the name is borrowed for the call.
        unsafe { ffi::enz_set_visible(self.host, Str::of(name), u8::from(visible)) != 0 }
    }

    /// Makes all definitions but `except` give way to others of the same name when linked: the module may be linked beside the
    /// one that it was made of.
    pub fn yield_to_others(&mut self, except: &str) {
        // SAFETY: the host is alive; the name is borrowed for the call.
        unsafe { ffi::enz_yield_to_others(self.host, Str::of(except)) };
    }

    /// Runs the host's function simplification on exported functions, then inlines the wrappers that replaced
    /// markers and tidies their callers. At level 0 a light pipeline runs. Of `calls`, those may go that are never reached.
    pub fn optimise(&mut self, functions: &[FuncId], calls: &[MarkerCall], level: Level) {
        let values: Vec<ValueRef> = functions.iter().filter_map(|f| self.exported.function(*f)).collect();
        // SAFETY: all values are functions of the module of this session.
        unsafe { ffi::enz_optimise(self.host, values.as_ptr(), values.len(), level.speed, level.size) };
        let wrappers = std::mem::take(&mut self.wrappers);
        for wrapper in &wrappers {
            self.exported.forget(*wrapper);
            self.imported.forget_function(*wrapper);
        }
        let others: Vec<ValueRef> = functions.iter().filter_map(|f| self.exported.function(*f)).collect();
        let waiting: Vec<(usize, ValueRef)> =
            calls.iter().filter_map(|c| Some((c.handle, self.found.get(c.handle)?.call?))).collect();
        let mut marks: Vec<Option<ValueRef>> = waiting.iter().map(|(_, call)| Some(*call)).collect();
        // SAFETY: all values are functions or calls of this module, or none; wrappers may be erased, and were forgotten
        // above, and so may calls, whose place in `marks` is then empty.
        unsafe {
            ffi::enz_inline_wrappers(
                self.host,
                wrappers.as_ptr(),
                wrappers.len(),
                others.as_ptr(),
                others.len(),
                marks.as_mut_ptr(),
                marks.len(),
                level.speed,
            );
        }
        for ((handle, _), call) in waiting.into_iter().zip(marks) {
            if let Some(found) = self.found.get_mut(handle) {
                found.call = call;
            }
        }
    }

    /// Removes prepared clones, and unused declarations whose names contain one of `markers`. The bodies that
    /// [`Session::define_body`] gave can then no longer be exported by origin.
    pub fn finish(&mut self, markers: &[&str]) {
        for (f, clone) in std::mem::take(&mut self.clones) {
            self.imported.forget_body(f);
            // SAFETY: clones are made by `define_body` alone, are used by nothing, and are forgotten here.
            unsafe { ffi::enz_function_erase(self.host, clone) };
        }
        let parts: Vec<Str> = markers.iter().map(|m| Str::of(m)).collect();
        // SAFETY: the host is alive; only unused declarations are removed.
        unsafe { ffi::enz_module_strip_markers(self.host, parts.as_ptr(), parts.len()) };
    }

    /// Erases the calls by which the program marks loops to be checkpointed; whether there were any.
    pub fn drop_checkpoint_marks(&mut self) -> bool {
        // SAFETY: the host is alive; the calls are of a function without meaning elsewhere and without result.
        unsafe { ffi::enz_module_drop_checkpoint_marks(self.host) != 0 }
    }

    /// Checks the whole LLVM module.
    pub fn verify(&self) -> Result<(), Problem> {
        // SAFETY: the host is alive.
        let (good, message) = collect(|sink, context| unsafe { ffi::enz_verify_module(self.host, sink, context) });
        if good != 0 { Ok(()) } else { Err(Problem::new("", message)) }
    }

    pub(crate) fn wrapper_used(&mut self, wrapper: ValueRef) {
        if !self.wrappers.contains(&wrapper) {
            self.wrappers.push(wrapper);
        }
    }

    /// The function of the LLVM module that `f` stands for.
    pub(crate) fn llvm_function(&self, f: FuncId) -> Option<ValueRef> {
        self.imported.func_value(f)
    }

    pub(crate) fn llvm_loc(&self, loc: LocId) -> Option<LocRef> {
        self.imported.loc_ref(loc)
    }

    fn body_of(&self, f: FuncId) -> Result<ValueRef, Vec<Problem>> {
        let name = self.ir.funcs.get(f).map(|func| func.name.clone()).unwrap_or_default();
        match self.llvm_function(f) {
            Some(value) if self.has_body(f) => Ok(value),
            Some(_) => Err(vec![Problem::new(name, "the function has no body here, or one that may be replaced")]),
            None => Err(vec![Problem::new(name, "the function is not in the module")]),
        }
    }
}

/// What preparation may ask, and whom it tells.
struct Asked<'a> {
    notes: &'a mut String,
    writes: Option<fn(&str) -> ExternalWrites>,
}

unsafe extern "C" fn on_note(context: *mut c_void, data: *const u8, len: usize) {
    // SAFETY: `define_body` passes an `Asked` that outlives the call and that nobody else holds meanwhile.
    let asked = unsafe { &mut *context.cast::<Asked<'_>>() };
    asked.notes.push_str(&Str { data, len }.to_text());
    asked.notes.push('\n');
}

unsafe extern "C" fn on_harmless(context: *mut c_void, name: Str) -> u8 {
    // SAFETY: as in `on_note`.
    let asked = unsafe { &*context.cast::<Asked<'_>>() };
    match asked.writes.map(|f| f(&name.to_text())) {
        Some(ExternalWrites::OnlyArguments) => 1,
        Some(ExternalWrites::Nothing) => 2,
        Some(ExternalWrites::Unknown) | None => 0,
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for clone in std::mem::take(&mut self.clones).into_values() {
            // SAFETY: as in `finish`.
            unsafe { ffi::enz_function_erase(self.host, clone) };
        }
    }
}

/// A dense lookup from ids of ours to handles of LLVM's.
pub(crate) type Handles<I> = HashMap<I, ValueRef>;
