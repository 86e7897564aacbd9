//! What LAPACK answers about itself and the machine.

use super::fortran::inactive;
use super::{KnownFn, NOTHING, Name, READS, names};

pub(super) static ROWS: &[KnownFn] = &[
    inactive("LAPACK: the machine's numbers", READS, names!["dlamch_" "slamch_" "dlamch_64_" "slamch_64_"]),
    inactive("LAPACK: the machine's numbers, in C", NOTHING, names!["LAPACKE_dlamch" "LAPACKE_slamch"]),
    inactive("LAPACK: sizes of blocks", READS, names!["ilaenv_" "ilaenv_64_"]),
];
