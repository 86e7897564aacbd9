//! IR of shapes that clang does not write: a program's IR goes through passes of LLVM in random order before it is differentiated.
//!
//! Each pass keeps what a program computes, bit for bit where no fast-math flag is set, so a derivative must not change either. Some
//! undo what others do (registers into memory and back, loops rotated, unrolled and merged, switches into branches and tables, single
//! exits, vectors); three to ten are drawn. Left out are passes that need a target's own lowering, that instrument, or that make
//! coroutines, exceptions or garbage collection of code without them. A pass that crashes or rejects what it is given says nothing of
//! this project: the program is then taken as it was.

use std::path::Path;
use std::process::Command;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::run::COMPILE_LIMIT;
use crate::{Result, process, toolchain};

/// How the IR is made before it goes through the passes.
const EMISSIONS: [&[&str]; 4] = [
    &["-O0", "-Xclang", "-disable-O0-optnone"],
    &["-O1", "-Xclang", "-disable-llvm-passes"],
    &["-O2"],
    &["-O3", "-mavx2", "-mfma", "-ffp-contract=off"],
];

/// Passes of functions, loops, call graphs and modules, as `-passes=` spells them.
const PASSES: [&str; 78] = [
    "function(adce)",
    "function(aggressive-instcombine)",
    "function(bdce)",
    "function(break-crit-edges)",
    "function(callsite-splitting)",
    "function(consthoist)",
    "function(constraint-elimination)",
    "function(correlated-propagation)",
    "function(dfa-jump-threading)",
    "function(div-rem-pairs)",
    "function(dse)",
    "function(early-cse)",
    "function(early-cse<memssa>)",
    "function(fix-irreducible)",
    "function(flatten-cfg)",
    "function(float2int)",
    "function(gvn)",
    "function(gvn-hoist)",
    "function(gvn-sink)",
    "function(infer-alignment)",
    "function(instcombine<no-verify-fixpoint>)",
    "function(instsimplify)",
    "function(irce)",
    "function(jump-threading)",
    "function(lcssa)",
    "function(load-store-vectorizer)",
    "function(loop(canon-freeze))",
    "function(loop(indvars))",
    "function(loop(loop-deletion))",
    "function(loop(loop-flatten))",
    "function(loop(loop-idiom))",
    "function(loop(loop-instsimplify))",
    "function(loop(loop-interchange))",
    "function(loop(loop-reduce))",
    "function(loop(loop-rotate))",
    "function(loop(loop-simplifycfg))",
    "function(loop(loop-term-fold))",
    "function(loop(loop-unroll-full))",
    "function(loop-data-prefetch)",
    "function(loop-distribute)",
    "function(loop-fusion)",
    "function(loop-load-elim)",
    "function(loop-mssa(licm))",
    "function(loop-mssa(loop-bound-split))",
    "function(loop-mssa(loop-predication))",
    "function(loop-mssa(simple-loop-unswitch<nontrivial>))",
    "function(loop-simplify)",
    "function(loop-sink)",
    "function(loop-unroll)",
    "function(loop-unroll<O3;partial;runtime>)",
    "function(loop-vectorize)",
    "function(lower-switch)",
    "function(lower-expect)",
    "function(mem2reg)",
    "function(memcpyopt)",
    "function(mergereturn)",
    "function(mldst-motion)",
    "function(nary-reassociate)",
    "function(newgvn)",
    "function(reassociate)",
    "function(reg2mem)",
    "function(scalarizer)",
    "function(sccp)",
    "function(separate-const-offset-from-gep)",
    "function(simplifycfg<switch-to-lookup;hoist-common-insts;sink-common-insts;bonus-inst-threshold=8>)",
    "function(sink)",
    "function(slp-vectorizer)",
    "function(slsr)",
    "function(speculative-execution)",
    "function(sroa)",
    "function(structurizecfg)",
    "function(tailcallelim)",
    "function(unify-loop-exits)",
    "function(vector-combine)",
    "argpromotion",
    "inline",
    "ipsccp",
    "mergefunc",
];

/// The options of clang and the passes that a seed stands for.
pub fn drawn(seed: u64) -> (&'static [&'static str], String) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let emission = EMISSIONS.choose(&mut rng).copied().unwrap_or_default();
    let count = rng.random_range(3..=10);
    let passes: Vec<&str> = (0..count).filter_map(|_| PASSES.choose(&mut rng).copied()).collect();
    (emission, passes.join(","))
}

/// Writes the IR of `source`, reshaped, to `output`; `false` where clang itself would not have it.
pub fn reshape(source: &Path, output: &Path, seed: u64, flags: &[String]) -> Result<bool> {
    let (emission, passes) = drawn(seed);
    let mut emit = Command::new(toolchain::llvm_program("clang"));
    emit.args(emission).args(flags).args(["-w", "-gline-tables-only", "-c", "-emit-llvm", "-I"]);
    emit.arg(super::run::sources()).arg(source).arg("-o").arg(output);
    if !process::run(&mut emit, COMPILE_LIMIT)?.succeeded() {
        return Ok(false);
    }
    let changed = output.with_extension("changed.bc");
    let mut passed = Command::new(toolchain::llvm_program("opt"));
    passed.arg(format!("-passes={passes}")).arg(output).arg("-o").arg(&changed);
    if process::run(&mut passed, COMPILE_LIMIT)?.succeeded() {
        std::fs::rename(&changed, output).map_err(crate::Error::io("moving a module"))?;
    }
    let _ = std::fs::remove_file(&changed);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn llvm_knows_each_pass() {
        let folder = toolchain::scratch().unwrap();
        let empty = folder.path().join("empty.ll");
        std::fs::write(&empty, "").unwrap();
        for pass in PASSES {
            let mut command = Command::new(toolchain::llvm_program("opt"));
            command.arg(format!("-passes={pass}")).arg(&empty).args(["-o", "/dev/null"]);
            let finished = process::run(&mut command, COMPILE_LIMIT).unwrap();
            assert!(finished.succeeded(), "{}", finished.failure(pass));
        }
    }

    #[test]
    fn a_seed_stands_for_one_order() {
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
    }
}
