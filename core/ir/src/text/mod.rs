//! The text form: a subset of LLVM assembly, printed as LLVM 22 prints it and parsed as LLVM 22 writes it.
//!
//! What is printed is accepted by LLVM's own tools and parses back to a module that prints identically. The parser
//! takes what compilers write and people type: it reads everything a [`Module`](crate::Module) can hold and skips what
//! it cannot (most attributes, most metadata, comdats, sections, summaries). Two things that LLVM has no syntax for
//! stand in metadata attachments of their own: `!enzyme.mem` (the [`MemClass`](crate::MemClass) of an access) and
//! `!enzyme.loc` (a source location).
//!
//! Not kept: `syncscope`, flags of constant expressions, tags of operand bundles (printed as `"ignore"`), attributes of
//! call sites, aliases (their target takes their place), the difference between the linkages of one
//! [`Linkage`](crate::Linkage).
//!
//! No text makes the parser panic or recurse deeper than [`MAX_DEPTH`]; what is wrong is reported with line and column.

pub mod lexer;
mod parse;
mod print;
pub mod pseudo;
#[cfg(test)]
mod tests;
pub mod words;

pub use parse::{ParseError, parse_module};
pub use print::{Numbered, print_const, print_func, print_inst, print_module, print_type, print_value};

/// Nesting of types and of constants beyond which a text is refused.
pub const MAX_DEPTH: u32 = 200;
