//! Synthesis of reverse derivatives: forward sweep with caches, reverse sweep with adjoints.
//!
//! Combined mode writes both sweeps into one function; split mode writes them into two, joined by a tape. What passes
//! from one to the other is *state*: cells (values outside of loops), the rows of loop caches, and a list of memory to
//! free. In both modes state lives in stack slots, which LLVM promotes; split mode copies them to the tape and back.
//!
//! ```text
//!   primal:   entry -> header <-> body -> exit          forward sweep: the same, storing cached keys
//!   reverse:  rev entry <- rev header <-> rev body <- rev exit    (edges turned round)
//! ```
//!
//! The row of a loop's cache is numbered `base + iteration`, where `base` counts the iterations of all earlier entries of
//! the loop: so inner bounds may depend on outer counters, and the number is affine in the iteration for LLVM to see.
//!
//! Invariants: synthesis decides nothing, the [`Plan`] does; every adjoint is read and cleared where its value is
//! defined; no call of the primal function with side effects is repeated.

mod backward;
mod calls;
mod checks;
mod control;
mod forward;
mod latest;
mod lookup;
pub mod memory;
pub mod samples;
mod slots;
mod state;
mod undo;
mod unwind;

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BlockId, FastMath, Func, FuncId, GlobalId, InstId, MemClass, Module, ValueId};

use crate::cut::CachePrice;
use crate::emit::Emit;
use crate::keys::{Key, Subject};
use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::request::{Derivatives, Mode, Signature};

pub use calls::callee_key;
pub use checks::counted;
pub use forward::{place_of, shadow_global};
pub(crate) use state::State;
pub(crate) use unwind::as_call;

/// What stands in shadows of forward derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Tangents.
    #[default]
    Tangent,
    /// Bounds of errors, to first order.
    ErrorBound,
    /// Names of sets of independent variables.
    Dependence,
}

/// Options of synthesis.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Flags of adjoint and tangent arithmetic, beside those of the primal operation.
    pub fast: FastMath,
    /// A zero adjoint or tangent stays zero through partial derivatives that are infinite or NaN.
    pub strong_zero: bool,
    /// What forward derivatives carry.
    pub content: Content,
    /// What the plan takes caching to cost.
    pub cache_price: CachePrice,
    /// Adjoints in memory may be added to by several threads at once.
    pub atomic: bool,
}

/// Shadows of global variables, one for each lane, made on demand.
pub type ShadowGlobals = BTreeMap<(GlobalId, u32), GlobalId>;

pub(crate) struct Reverse<'a, 'm> {
    pub e: Emit<'m>,
    pub s: Subject<'a>,
    pub plan: &'a Plan,
    pub sig: Signature,
    pub derivatives: &'a mut dyn Derivatives,
    pub globals: &'a mut ShadowGlobals,
    pub options: Options,
    /// Value of the forward sweep for each primal value.
    pub map: SecondaryMap<ValueId, Option<ValueId>>,
    /// Shadow pointers of the forward sweep for each primal value, of each lane.
    pub shadows: Vec<BTreeMap<ValueId, ValueId>>,
    /// The lane whose shadows and adjoints are written.
    pub lane: usize,
    /// First and last block of the forward sweep for each primal block.
    pub starts: BTreeMap<BlockId, BlockId>,
    pub ends: BTreeMap<BlockId, BlockId>,
    pub state: State,
    /// Block of the reverse sweep for each primal block.
    pub reversed: BTreeMap<BlockId, BlockId>,
    /// Where the reverse of a block turns to what came before it, for those that are come to without anything to turn round.
    pub left: BTreeMap<BlockId, BlockId>,
    /// Iteration at hand of each loop in the reverse sweep.
    pub counters: BTreeMap<LoopId, ValueId>,
    /// The innermost loop around the primal block whose reverse is written.
    pub turning: Option<LoopId>,
    /// Adjoint slots of each lane.
    pub adjoints: BTreeMap<(ValueId, usize), ValueId>,
    /// Keys already had in the block at hand, with their lanes.
    pub memo: BTreeMap<(Key, usize), ValueId>,
    /// Phis that record the predecessor, their blocks in the primal, and the predecessors in order.
    pub pending_entered: Vec<(ValueId, BlockId, Vec<BlockId>)>,
    /// What is to be kept at the end of the block of the forward sweep at hand, with its lane.
    pub late: Vec<(Key, ValueId, usize)>,
    /// Block of the forward sweep that ends in the invoke that ends a primal block.
    pub throws: BTreeMap<BlockId, BlockId>,
    /// The primal block at hand in the forward sweep.
    pub here: Option<BlockId>,
    /// Where exceptions pass that leave the derivative.
    pub cleanup: Option<BlockId>,
    /// The primal result and its shadows, where they are returned.
    pub returned: Option<(ValueId, Vec<ValueId>)>,
    /// Slots of the last iterations in which selections replaced what their loops carry on, in the forward sweep.
    pub latest: BTreeMap<ValueId, ValueId>,
    /// Slots of what stores left in memory, by store.
    pub held: BTreeMap<InstId, Vec<ValueId>>,
}

impl Reverse<'_, '_> {
    /// Writes something for all lanes, one after the other. What is the same in all of them is written with the first.
    pub fn in_lanes(&mut self, mut write: impl FnMut(&mut Self) -> Result<(), Refusal>) -> Result<(), Refusal> {
        for lane in 0..self.shadows.len() {
            self.lane = lane;
            self.e.shadow = MemClass::shadow(lane);
            write(self)?;
        }
        self.lane = 0;
        self.e.shadow = MemClass::Shadow;
        Ok(())
    }

    /// The lane of `key`: only shadows have one.
    pub fn lane_of(&self, key: Key) -> usize {
        if matches!(key, Key::Shadow(_)) { self.lane } else { 0 }
    }
}

/// Whether the primal stores in the memory that parameter `n` points to.
fn writes_through(s: &Subject<'_>, n: usize) -> bool {
    let class = s.unit.memory.params.get(n).copied().flatten();
    let stores = |i: enzyme_ir::InstId| match (&s.func.insts[i].op, s.func.insts[i].args.as_slice()) {
        (enzyme_ir::Op::Store(_), [_, p]) => s.unit.memory.class_of[*p] == class,
        _ => false,
    };
    class.is_some() && s.func.placed().any(|(_, i)| stores(i))
}

/// Whether the second sweep has pointers from the first one, on the tape or in memory: these are not based on the parameters of
/// the second, which therefore are not alone in reaching their memory, `restrict` or not.
fn remembers_pointers(module: &Module, s: &Subject<'_>, plan: &Plan) -> bool {
    let is_pointer = |v: ValueId| module.ctx.types.contains_pointer(s.func.ty(v)) || s.has_shadow(v);
    let kept = plan.choice.cached.iter().any(|k| match k {
        Key::Primal(v) | Key::Column(v) => is_pointer(*v),
        Key::Shadow(_) | Key::Tape(_) => true,
        Key::Entered(_) | Key::Count(_) | Key::Latest(_) => false,
    });
    let loads =
        |i| matches!(s.func.insts[i].op, enzyme_ir::Op::Load(_)) && s.func.insts[i].result.is_some_and(is_pointer);
    kept || s.func.placed().any(|(_, i)| loads(i))
}

/// Writes the derivative `name` of `s` in a reverse mode.
#[expect(clippy::too_many_arguments, reason = "the inputs of the one synthesis step")]
pub fn synthesise(
    module: &mut Module,
    id: FuncId,
    s: Subject<'_>,
    plan: &Plan,
    sig: Signature,
    derivatives: &mut dyn Derivatives,
    globals: &mut ShadowGlobals,
    options: Options,
) -> Result<(Func, u64), Refusal> {
    let declared = &module.funcs[id];
    let mut func = Func::new(declared.name.clone(), declared.sig, &sig.params);
    func.linkage = enzyme_ir::Linkage::Internal;
    func.personality = s.func.personality.filter(|_| s.key.mode != Mode::Gradient);
    let remembers = s.key.mode == Mode::Gradient && remembers_pointers(module, &s, plan);
    for (i, (primal, shadow)) in sig.primal.iter().zip(&sig.shadow).enumerate() {
        if let Some(attrs) = s.func.param_attrs.get(i) {
            // A copy made by the caller of the primal is an ordinary pointer here.
            let kept = enzyme_ir::ParamAttrs {
                byval: None,
                sret: None,
                readonly: false,
                writeonly: false,
                noalias: attrs.noalias && !remembers,
                ..*attrs
            };
            func.param_attrs[*primal] = kept;
            for n in shadow.iter().flat_map(|n| *n..*n + s.key.width as usize) {
                // `restrict` lets pointers that are only read through be the same; their shadows are written.
                let noalias = kept.noalias && writes_through(&s, i);
                func.param_attrs[n] = enzyme_ir::ParamAttrs { noalias, ..kept };
            }
        }
    }
    let mut r = Reverse {
        e: Emit::new(module, func),
        s,
        plan,
        sig,
        derivatives,
        globals,
        options,
        map: SecondaryMap::new(),
        shadows: vec![BTreeMap::new(); s.key.width as usize],
        lane: 0,
        starts: BTreeMap::new(),
        ends: BTreeMap::new(),
        state: State::default(),
        reversed: BTreeMap::new(),
        left: BTreeMap::new(),
        counters: BTreeMap::new(),
        turning: None,
        adjoints: BTreeMap::new(),
        memo: BTreeMap::new(),
        pending_entered: Vec::new(),
        late: Vec::new(),
        throws: BTreeMap::new(),
        here: None,
        cleanup: None,
        returned: None,
        latest: BTreeMap::new(),
        held: BTreeMap::new(),
    };
    r.make_state();
    let start = r.e.new_block("start");
    r.e.block = start;
    match s.key.mode {
        Mode::Combined => {
            let turn = r.e.new_block("turn");
            r.forward_sweep(turn)?;
            r.e.block = turn;
            r.reverse_sweep()?;
        }
        Mode::Augmented => {
            let turn = r.e.new_block("turn");
            r.forward_sweep(turn)?;
            r.e.block = turn;
            r.return_tape()?;
        }
        Mode::Gradient => {
            r.load_tape();
            r.own_slots()?;
            r.reverse_sweep()?;
        }
        Mode::Forward => {
            return Err(Refusal::new(crate::refusal::RefusalKind::Internal(
                "forward mode in reverse synthesis".into(),
            )));
        }
    }
    let bytes = r.tape_bytes();
    Ok((r.e.finish(start), bytes))
}
