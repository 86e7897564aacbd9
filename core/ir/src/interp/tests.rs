//! Whole functions and programs, run from end to end.

mod built;
mod programs;
mod text;
