//! The functions of a generated program that ask for its derivatives, in every mode.

use super::tree::Node;
use crate::tree;

/// The functions through which the checks see a program, one shape for all signatures.
pub(super) fn wrappers(signature: u32, items: &mut Vec<Node>) -> (String, String) {
    let second = if signature == 1 { "4" } else { "8" };
    let value = match signature {
        2 => "double out = 0.0;\nf$(x, x + 8, x[16], n, &out);\nreturn out;\n".to_owned(),
        3 => "struct args$ args = {n, x, x[16], x + 8};\nreturn f$(&args);\n".to_owned(),
        _ => format!("return f$(x, x + {second}, x[16], n);\n"),
    };
    items.push(tree!(Fixed, "static double value$(double *x, int n)\n{\n@}\n", value));
    let arrays = format!("enzyme_dup, x, g, enzyme_dup, x + {second}, g + {second}");
    let gradient = match signature {
        2 => format!(
            "double out = 0.0, seed = 1.0;\ng[16] += __enzyme_autodiff((void *)f$, {arrays}, enzyme_out, x[16], enzyme_const, n, enzyme_dup, &out, &seed);\n"
        ),
        3 => "struct args$ args = {n, x, x[16], x + 8}, shadow = {n, g, 0.0, g + 8};\n__enzyme_autodiff((void *)f$, enzyme_dup, &args, &shadow);\ng[16] += shadow.s;\n".to_owned(),
        5 => format!("g[16] += __enzyme_autodiff_float((void *)f$, {arrays}, enzyme_out, (float)x[16], enzyme_const, n);\n"),
        _ => format!("g[16] += __enzyme_autodiff((void *)f$, {arrays}, enzyme_out, x[16], enzyme_const, n);\n"),
    };
    let tangent = match signature {
        2 => format!(
            "double out = 0.0, t = 0.0;\n__enzyme_fwddiff_void((void *)f$, {arrays}, enzyme_dup, x[16], g[16], enzyme_const, n, enzyme_dup, &out, &t);\nreturn t;\n"
        ),
        3 => "struct args$ args = {n, x, x[16], x + 8}, shadow = {n, g, g[16], g + 8};\nreturn __enzyme_fwddiff((void *)f$, enzyme_dup, &args, &shadow);\n".to_owned(),
        5 => format!("return __enzyme_fwddiff_float((void *)f$, {arrays}, enzyme_dup, (float)x[16], (float)g[16], enzyme_const, n);\n"),
        _ => format!("return __enzyme_fwddiff((void *)f$, {arrays}, enzyme_dup, x[16], g[16], enzyme_const, n);\n"),
    };
    let both = format!(
        "static void gradient$(double *x, double *g, int n)\n{{\n{gradient}}}\nstatic double tangent$(double *x, double *g, int n)\n{{\n{tangent}}}\n"
    );
    (both, modes(signature, second))
}

/// The same in other modes: in two calls, in two lanes, and differentiated again.
fn modes(signature: u32, second: &str) -> String {
    let float = if signature == 5 { "_float" } else { "" };
    let scalar = if signature == 5 { "(float)" } else { "" };
    let arrays = format!("enzyme_dup, x, g, enzyme_dup, x + {second}, g + {second}");
    let lanes = format!("enzyme_width, 2, enzyme_dup, x, g, h, enzyme_dup, x + {second}, g + {second}, h + {second}");
    let args = "struct args$ args = {n, x, x[16], x + 8}, shadow = {n, g, 0.0, g + 8}";
    let split = match signature {
        2 => format!(
            "double out = 0.0, seed = 1.0;\nvoid *tape = __enzyme_augmentfwd_void((void *)f$, {arrays}, enzyme_out, x[16], enzyme_const, n, enzyme_dup, &out, &seed);\ng[16] += __enzyme_reverse((void *)f$, {arrays}, enzyme_out, x[16], enzyme_const, n, enzyme_dup, &out, &seed, tape);\n"
        ),
        3 => format!(
            "{args};\nstruct fuzz_tape first = __enzyme_augmentfwd((void *)f$, enzyme_dup, &args, &shadow);\n__enzyme_reverse_void((void *)f$, enzyme_dup, &args, &shadow, 1.0, first.tape);\ng[16] += shadow.s;\n"
        ),
        _ => format!(
            "double s = x[16];\nstruct fuzz_tape{float} first = __enzyme_augmentfwd{float}((void *)f$, {arrays}, enzyme_out, {scalar}s, enzyme_const, n);\ng[16] += __enzyme_reverse{float}((void *)f$, {arrays}, enzyme_out, {scalar}s, enzyme_const, n, 1.0, first.tape);\n"
        ),
    };
    let reverse = match signature {
        2 => format!(
            "double out = 0.0, seed = 1.0, seeds = 1.0;\nstruct fuzz_two r = __enzyme_autodiff_two((void *)f$, {lanes}, enzyme_out, x[16], enzyme_const, n, enzyme_dup, &out, &seed, &seeds);\ng[16] += r.a;\nh[16] += r.b;\n"
        ),
        3 => format!(
            "{args}, other = {{n, h, 0.0, h + 8}};\n__enzyme_autodiff_void((void *)f$, enzyme_width, 2, enzyme_dup, &args, &shadow, &other);\ng[16] += shadow.s;\nh[16] += other.s;\n"
        ),
        _ => format!(
            "struct fuzz_two{float} r = __enzyme_autodiff_two{float}((void *)f$, {lanes}, enzyme_out, {scalar}x[16], enzyme_const, n);\ng[16] += r.a;\nh[16] += r.b;\n"
        ),
    };
    let forward = match signature {
        2 => format!(
            "double out = 0.0;\n__enzyme_fwddiff_void((void *)f$, {lanes}, enzyme_dup, x[16], g[16], h[16], enzyme_const, n, enzyme_dup, &out, results, results + 1);\n"
        ),
        3 => "struct args$ args = {n, x, x[16], x + 8}, shadow = {n, g, g[16], g + 8}, other = {n, h, h[16], h + 8};\nstruct fuzz_two r = __enzyme_fwddiff_two((void *)f$, enzyme_width, 2, enzyme_dup, &args, &shadow, &other);\nresults[0] = r.a;\nresults[1] = r.b;\n".to_owned(),
        _ => format!(
            "struct fuzz_two{float} r = __enzyme_fwddiff_two{float}((void *)f$, {lanes}, enzyme_dup, {scalar}x[16], {scalar}g[16], {scalar}h[16], enzyme_const, n);\nresults[0] = r.a;\nresults[1] = r.b;\n"
        ),
    };
    format!(
        "static void split$(double *x, double *g, int n)\n{{\n{split}}}\nstatic void lanes$(double *x, double *g, double *h, int n)\n{{\n{reverse}}}\nstatic void tangents$(double *x, double *g, double *h, int n, double *results)\n{{\n{forward}}}\nstatic void second$(double *x, double *v, double *g, double *h, int n)\n{{\n__enzyme_fwddiff_void((void *)gradient$, enzyme_dup, x, v, enzyme_dup, g, h, enzyme_const, n);\n}}\n"
    )
}
