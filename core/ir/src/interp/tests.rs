//! Whole functions, built by hand, run from end to end.

mod built;
