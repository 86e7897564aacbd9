//! Functions: blocks of instructions over dense values.
//!
//! Invariants (checked by the verifier): each block ends in its only terminator; phis stand first; an
//! instruction stands in at most one block; every operand is a parameter, a constant or a result whose
//! definition dominates the use.

use cranelift_entity::PrimaryMap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};

use crate::facts::ByteType;
use crate::ids::{BlockId, ConstId, FuncId, InstId, LocId, TypeId, ValueId};
use crate::op::{FastMath, IntFlags, MemClass, Op};

/// Operands of an instruction.
pub type Args = SmallVec<[ValueId; 4]>;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueDef {
    /// Parameter by position.
    Param(u32),
    /// Result of an instruction.
    Inst(InstId),
    /// A constant, the same in all functions of the module.
    Const(ConstId),
}

/// A value and its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value {
    /// Origin of the value.
    pub def: ValueDef,
    /// Its type.
    pub ty: TypeId,
}

/// An instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    /// Operation.
    pub op: Op,
    /// Operands, in the order documented at [`Op`].
    pub args: Args,
    /// Type of the result; `void` where there is none.
    pub ty: TypeId,
    /// The result, unless the type is `void`.
    pub result: Option<ValueId>,
    /// Fast-math flags.
    pub fast: FastMath,
    /// Integer flags.
    pub ints: IntFlags,
    /// Source location.
    pub loc: Option<LocId>,
    /// The instruction of an imported function that this one repeats: export copies that one, with all that
    /// the snapshot does not carry (metadata, attributes, operand bundles).
    pub origin: Option<Origin>,
    /// What memory the access touches.
    pub mem: MemClass,
    /// The access of an imported function that this one makes in the same place: to the same memory, or to its shadow.
    /// What that function's pointers promise of each other (`restrict` in calls that were inlined) export repeats of this
    /// access.
    pub scoped: Option<Origin>,
}

/// An instruction of an imported function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// The imported function.
    pub func: FuncId,
    /// Its instruction there.
    pub inst: InstId,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Instructions in order, the terminator last.
    pub insts: Vec<InstId>,
    /// Name hint.
    pub name: Option<String>,
    /// The block of an imported function that this one repeats or turns round: what is promised of pointers from there on is
    /// promised here.
    pub like: Option<Like>,
}

/// A block of an imported function that a block of a derivative runs for, as often, in the same loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Like {
    /// Its terminator.
    pub end: Origin,
    /// Whether it is run backwards.
    pub turned: bool,
}

/// How the symbol of a function is visible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Linkage {
    /// Visible outside of the module.
    #[default]
    External,
    /// Local to the module.
    Internal,
}

/// Attributes of a parameter that the analyses use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ParamAttrs {
    /// No other pointer of the call reaches the same memory.
    pub noalias: bool,
    /// Not written through this pointer.
    pub readonly: bool,
    /// Not read through this pointer.
    pub writeonly: bool,
    /// No copy of the pointer outlives the call.
    pub nocapture: bool,
    /// Memory for the returned structure: its type.
    pub sret: Option<TypeId>,
    /// A private copy made by the caller: its type.
    pub byval: Option<TypeId>,
}

/// What a function as a whole promises about memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FuncAttrs {
    /// Reads no memory that anyone else can see.
    pub no_read: bool,
    /// Writes no memory that anyone else can see.
    pub no_write: bool,
    /// Touches only memory reachable from its arguments.
    pub arg_mem_only: bool,
    /// Never returns.
    pub noreturn: bool,
    /// Never unwinds.
    pub nounwind: bool,
    /// `enzyme_inactive` or equivalent stands on it.
    pub inactive: bool,
    /// Another definition may replace this one at link time.
    pub interposable: bool,
}

/// A function, declared (no blocks) or defined.
#[derive(Clone, Debug)]
pub struct Func {
    /// Symbol.
    pub name: String,
    /// Function type.
    pub sig: TypeId,
    /// Linkage.
    pub linkage: Linkage,
    /// Promises of the whole.
    pub attrs: FuncAttrs,
    /// Promises of each parameter.
    pub param_attrs: Vec<ParamAttrs>,
    /// LLVM's numeric calling convention.
    pub conv: u32,
    /// Parameters.
    pub params: Vec<ValueId>,
    /// All values.
    pub values: PrimaryMap<ValueId, Value>,
    /// All instructions, placed or not.
    pub insts: PrimaryMap<InstId, Inst>,
    /// All blocks.
    pub blocks: PrimaryMap<BlockId, Block>,
    /// Blocks in order, the entry first.
    pub layout: Vec<BlockId>,
    /// Where the function is defined.
    pub loc: Option<LocId>,
    /// The run-time routine that unwinds through the function's landing pads.
    pub personality: Option<ConstId>,
    constants: HashMap<ConstId, ValueId>,
    /// Name hints of values.
    pub value_names: HashMap<ValueId, String>,
    /// Loads and stores that are of another type than they were.
    pub words: BTreeMap<InstId, Word>,
}

/// What a load or store was before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word {
    /// What it read or wrote, if that was no integer.
    pub was: Option<ByteType>,
    /// The instruction that it was.
    pub like: InstId,
}

impl Func {
    /// A function without blocks. `param_types` must be those of `sig`.
    pub fn new(name: impl Into<String>, sig: TypeId, param_types: &[TypeId]) -> Func {
        let mut values = PrimaryMap::new();
        let params = param_types
            .iter()
            .enumerate()
            .map(|(i, ty)| values.push(Value { def: ValueDef::Param(i as u32), ty: *ty }))
            .collect();
        Func {
            name: name.into(),
            sig,
            linkage: Linkage::External,
            attrs: FuncAttrs::default(),
            param_attrs: vec![ParamAttrs::default(); param_types.len()],
            conv: 0,
            params,
            values,
            insts: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            layout: Vec::new(),
            loc: None,
            personality: None,
            constants: HashMap::new(),
            value_names: HashMap::new(),
            words: BTreeMap::new(),
        }
    }

    /// Whether the function has no body here.
    pub fn is_declaration(&self) -> bool {
        self.layout.is_empty()
    }

    /// The entry block of a definition.
    pub fn entry(&self) -> Option<BlockId> {
        self.layout.first().copied()
    }

    /// Type of a value.
    pub fn ty(&self, v: ValueId) -> TypeId {
        self.values[v].ty
    }

    /// The instruction defining `v`, if it is a result.
    pub fn def_inst(&self, v: ValueId) -> Option<InstId> {
        match self.values[v].def {
            ValueDef::Inst(i) => Some(i),
            ValueDef::Param(_) | ValueDef::Const(_) => None,
        }
    }

    /// The constant that `v` is, if it is one.
    pub fn as_const(&self, v: ValueId) -> Option<ConstId> {
        match self.values[v].def {
            ValueDef::Const(c) => Some(c),
            ValueDef::Param(_) | ValueDef::Inst(_) => None,
        }
    }

    /// The constants that it uses, in no order.
    pub fn constants(&self) -> impl Iterator<Item = ConstId> + '_ {
        self.constants.keys().copied()
    }

    /// The value of constant `c` of type `ty` in this function.
    pub fn constant(&mut self, c: ConstId, ty: TypeId) -> ValueId {
        let values = &mut self.values;
        *self.constants.entry(c).or_insert_with(|| values.push(Value { def: ValueDef::Const(c), ty }))
    }

    /// Adds a block at the end of the layout.
    pub fn add_block(&mut self, name: Option<String>) -> BlockId {
        let b = self.blocks.push(Block { name, ..Block::default() });
        self.layout.push(b);
        b
    }

    /// Creates an unplaced instruction; it gets a result unless `is_void`.
    pub fn make_inst(&mut self, mut inst: Inst, is_void: bool) -> InstId {
        inst.result = None;
        let ty = inst.ty;
        let id = self.insts.push(inst);
        if !is_void {
            self.insts[id].result = Some(self.values.push(Value { def: ValueDef::Inst(id), ty }));
        }
        id
    }

    /// The terminator of a block, if it has one.
    pub fn terminator(&self, b: BlockId) -> Option<InstId> {
        let last = *self.blocks[b].insts.last()?;
        self.insts[last].op.is_terminator().then_some(last)
    }

    /// Successors of a block, with repetitions.
    pub fn successors(&self, b: BlockId) -> Vec<BlockId> {
        self.terminator(b).map(|t| self.insts[t].op.successors()).unwrap_or_default()
    }

    /// The block that holds each placed instruction.
    pub fn inst_blocks(&self) -> cranelift_entity::SecondaryMap<InstId, Option<BlockId>> {
        let mut map = cranelift_entity::SecondaryMap::new();
        for b in &self.layout {
            for i in &self.blocks[*b].insts {
                map[*i] = Some(*b);
            }
        }
        map
    }

    /// All placed instructions in layout order, with their blocks.
    pub fn placed(&self) -> impl Iterator<Item = (BlockId, InstId)> + '_ {
        self.layout.iter().flat_map(|b| self.blocks[*b].insts.iter().map(|i| (*b, *i)))
    }

    /// The callee operand of a call, invoke or callbr.
    pub fn callee(&self, i: InstId) -> Option<ValueId> {
        self.insts[i].op.call_info()?;
        self.insts[i].args.first().copied()
    }

    /// The arguments of a call, without callee and bundle operands.
    pub fn call_args(&self, i: InstId) -> &[ValueId] {
        let inst = &self.insts[i];
        match inst.op.call_info() {
            Some(c) => inst.args.get(1..=c.num_args as usize).unwrap_or(&[]),
            None => &[],
        }
    }
}
