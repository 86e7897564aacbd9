//! Codes of all refusals, one row each. `docs/errors.md` has a page section per code.
//!
//! Numbers are never reused. E01xx: the marker call; E02xx: operations and control flow; E03xx: memory and types;
//! E09xx: the engine itself.

/// A refusal that users can look up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code {
    /// `E0123`.
    pub id: &'static str,
    /// One line: what is refused.
    pub title: &'static str,
    /// What the user can do.
    pub help: &'static str,
}

/// What Rust programs can do about [`E0301`]: they have no types to copy with.
pub const E0301_IN_RUST: &str = "keep floats apart from text, counts and pointers: the data of each variant of an `enum` in a `Box` of its own, \
    numbers in a `Vec` or a `HashMap` rather than a `BTreeMap`; and build with `opt-level = 2`";

macro_rules! code {
    ($($id:ident, $title:literal, $help:literal;)+) => {
        $(#[doc = $title] pub const $id: Code = Code { id: stringify!($id), title: $title, help: $help };)+
        /// All codes in order.
        pub const ALL: &[Code] = &[$($id),+];
    };
}

code! {
    E0101, "a marker call has too few arguments",
        "pass one argument per parameter of the function, and its shadow after each one that is enzyme_dup";
    E0102, "an annotation is not known",
        "use enzyme_const, enzyme_dup, enzyme_dupnoneed or enzyme_out";
    E0103, "the function to differentiate is not known",
        "pass the function itself, or one of several that are chosen between in this file; what callers choose is known if the function around the call is static";
    E0104, "the function to differentiate has no body here",
        "compile its definition into the same module, or link with -flto and load the plugin in ld.lld";
    E0105, "an argument does not fit its parameter",
        "pass a value of the parameter's type; check that each annotation stands before the argument it describes";
    E0106, "the result of the marker call does not fit the derivative",
        "declare the marker with the result type that the annotations ask for";
    E0107, "a marker call has too many arguments",
        "pass one argument per parameter of the function, and its shadow after each one that is enzyme_dup";
    E0108, "this marker is not supported",
        "see docs/compat.md for the markers that are, and what to use instead of this one";
    E0109, "an annotation does not fit the parameter's type",
        "enzyme_out is for floats; memory is enzyme_dup or enzyme_const";
    E0110, "the module is malformed",
        "this is a defect of what produced the module: run it through opt -passes=verify";
    E0111, "a registered rule does not fit its function",
        "see docs/rules-of-your-own.md for the parameters and results that rules have";
    E0112, "a dense view of sparse storage can't be followed",
        "read and write through it where it is made, or in functions that are defined in the same module";
    E0113, "tangents from a tape alone can't be had",
        "use __enzyme_fwddiff, which computes the values again";
    E0114, "a derivative asked for by name does not fit the module",
        "name a function that the module defines, one activity for each of its parameters, and a new name for the derivative";
    E0201, "a function without a body or rule is called with active data",
        "compile its definition into the same module, or mark it inactive if no derivative flows through it";
    E0202, "a function pointer is called with active data",
        "define the functions that it may be in the same module, or link with -flto, or call the function directly";
    E0203, "an operation on active data has no derivative here",
        "rewrite the operation, or keep active data out of it";
    E0204, "control flow that cannot be turned round",
        "rewrite it with structured loops and ordinary returns";
    E0205, "bits of active floats are computed with as integers",
        "use the mathematical function instead of the bit trick";
    E0301, "the type of active bytes is not known",
        "copy with the right type, compile with -g or with optimisation (TBAA), or use a typed pointer";
    E0302, "active data passes through memory declared constant",
        "give the memory a shadow: enzyme_dup instead of enzyme_const";
    E0304, "a pointer to active memory has no shadow",
        "pass the memory as an argument with a shadow";
    E0305, "active data passes through a global variable without shadow",
        "make the variable static, or pass it as an argument";
    E0901, "the engine failed",
        "this is a defect of the engine: please report it with the input";
}
