//! What can't be differentiated, as a value: the pipeline turns it into a coded diagnostic.

use enzyme_analysis::Conflict;
use enzyme_ir::{BlockId, Func, InstId};

/// Why a function is refused.
#[derive(Clone, PartialEq, Debug)]
pub enum RefusalKind {
    /// Found by the activity analysis.
    Conflict(Conflict),
    /// Control flow that has no reverse here.
    Control(&'static str),
    /// The function does not have the shape that the importer establishes.
    Shape(&'static str),
    /// An operation without a derivative.
    Operation(String),
    /// An operation that has a derivative where an argument of it is a constant.
    Variable(&'static str),
    /// The type of copied bytes is not known, and the derivative depends on it.
    UnknownType(&'static str),
    /// A pointer to active memory has no shadow.
    NoShadow(String),
    /// The function that was asked for returns active floats within integers.
    PackedResult,
    /// A derivative that the program gives does not fit its function.
    Rule(String),
    /// Something is wrong in the engine itself.
    Internal(String),
}

/// A refusal and its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    /// Why.
    pub kind: RefusalKind,
    /// The instruction of the primal function at fault, if there is one.
    pub inst: Option<InstId>,
}

impl Refusal {
    /// A refusal of the whole function.
    pub fn new(kind: RefusalKind) -> Refusal {
        Refusal { kind, inst: None }
    }

    /// At an instruction.
    pub fn at(self, inst: InstId) -> Refusal {
        Refusal { inst: Some(inst), ..self }
    }

    /// At the end of a block.
    pub fn at_block(self, func: &Func, b: BlockId) -> Refusal {
        Refusal { inst: func.blocks[b].insts.last().copied(), ..self }
    }
}
