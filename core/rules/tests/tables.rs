//! What must hold of the tables as such: completeness of rows, unique names, well-formed expressions, spellings,
//! signatures, and the generated documentation page.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use enzyme_ir::{BinOp, CastOp, FloatKind, Module, Op, Type, TypeId, Types};
use enzyme_rules::known::{self, AllocPlace, Known, Name, ReleaseArg};
use enzyme_rules::names::LIBM_SUFFIXES;
use enzyme_rules::*;

/// Every symbol that a spelling stands for.
fn symbols(spelling: Spelling) -> Vec<String> {
    match spelling {
        Spelling::FNeg => vec!["fneg".into()],
        Spelling::Binary(op) => vec![format!("{op:?}")],
        Spelling::Cast(op) => vec![format!("{op:?}")],
        Spelling::Intrinsic(name) => vec![format!("llvm.{name}")],
        Spelling::Exact(name, _) => vec![name.into()],
        Spelling::Libm(name) => {
            let mut out = vec![name.to_owned(), format!("__{name}_finite")];
            for (suffix, _) in LIBM_SUFFIXES {
                out.push(format!("{name}{suffix}"));
                out.push(format!("__{name}{suffix}_finite"));
            }
            out
        }
    }
}

#[test]
fn no_symbol_belongs_to_two_rows() {
    let mut owners = BTreeMap::new();
    for rule in rules() {
        assert!(!rule.spellings.is_empty(), "{} cannot be written", rule.name);
        for symbol in rule.spellings.iter().flat_map(|s| symbols(*s)) {
            assert!(known::known(&symbol).is_none(), "{symbol} is a rule and a known function");
            if let Some(other) = owners.insert(symbol.clone(), rule.name) {
                panic!("{symbol} belongs to {other} and {}", rule.name);
            }
            if !symbol.starts_with("llvm.") && matches!(lookup_call(&symbol), Some(found) if found.rule != rule) {
                panic!("{symbol} is looked up as another row than {}", rule.name);
            }
        }
    }
    let mut titles = BTreeMap::new();
    for row in known::rows() {
        assert!(titles.insert(row.title, ()).is_none(), "two rows are titled {}", row.title);
        for name in row.names {
            let (Name::Exact(text) | Name::Prefix(text) | Name::Suffix(text)) = name;
            if let Some(other) = owners.insert((*text).to_owned(), row.title) {
                panic!("{text} belongs to {other} and {}", row.title);
            }
            assert!(lookup_call(text).is_none(), "{text} is a known function and a rule");
            assert_eq!(known::known(text), Some(row), "{text} is looked up as another row than its own");
        }
    }
}

#[test]
fn no_pattern_of_known_functions_covers_another_row() {
    for row in known::rows() {
        for other in known::rows().filter(|o| *o != row) {
            for name in other.names {
                let (Name::Exact(text) | Name::Prefix(text) | Name::Suffix(text)) = name;
                let covered = row.names.iter().any(|n| match n {
                    Name::Exact(n) => n == text,
                    Name::Prefix(n) => text.starts_with(n),
                    Name::Suffix(n) => text.ends_with(n),
                });
                assert!(!covered, "{text} of '{}' is covered by '{}'", other.title, row.title);
            }
        }
    }
}

#[test]
fn rows_are_complete() {
    let mut names = BTreeMap::new();
    for rule in rules() {
        let name = rule.name;
        assert!(names.insert(name, ()).is_none(), "two rows are called {name}");
        assert!(!rule.formula.is_empty() && !rule.kinks.is_empty(), "{name}: no formula or no word on kinks");
        assert!(!rule.test.edges.is_empty(), "{name}: no edges");
        for output in rule.outputs {
            assert_eq!(output.partials.len(), rule.operands.len(), "{name}: one partial per operand");
            let varies = |p: &Option<Expr>| p.is_some_and(|e| e.as_const().is_none());
            let covered = !rule.test.boxes.is_empty();
            assert!(covered || !output.partials.iter().any(varies), "{name}: not tested by differences");
        }
    }
    let mut groups: Vec<Group> = rules().map(|r| r.group).collect();
    groups.dedup();
    assert_eq!(groups, Group::ALL, "chapters are in order and none is empty");
}

#[test]
fn expressions_are_well_formed() {
    for rule in rules() {
        for (o, output) in rule.outputs.iter().enumerate() {
            if let Place::Pointee(p) = output.place {
                assert_eq!(rule.operands[usize::from(p)], Operand::OutPtr, "{}: output {o}", rule.name);
            }
            for (i, partial) in output.partials.iter().enumerate() {
                let Some(partial) = partial else { continue };
                assert_eq!(rule.operands[i], Operand::Float, "{}: derivative by operand {i}", rule.name);
                partial.visit(&mut |e| check_node(rule, e));
            }
        }
    }
}

fn check_node(rule: &Rule, e: &Expr) {
    let name = rule.name;
    let operand = |i: u8| rule.operands[usize::from(i)];
    match e {
        Expr::Arg(i) => assert_eq!(operand(*i), Operand::Float, "{name}"),
        Expr::IntToFloat(i) | Expr::IntAdd(i, _) => assert_eq!(operand(*i), Operand::Int, "{name}"),
        Expr::Result(i) => {
            let place = rule.outputs[usize::from(*i)].place;
            assert!(!matches!(place, Place::Pointee(_)), "{name}: reads a result from memory");
        }
        Expr::Call(f, args) => {
            assert_eq!(args.len(), f.arity(), "{name}: {f:?}");
            for (i, a) in args.iter().enumerate() {
                assert_eq!(matches!(a, Expr::IntAdd(..)), f.int_arg() == Some(i), "{name}: argument {i} of {f:?}");
            }
            // Vectors, half and bfloat have no libm.
            let is_overloaded = rule.spellings.iter().any(|s| matches!(s, Spelling::Intrinsic(_)));
            assert!(!is_overloaded || matches!(f.callee(), Callee::Intrinsic(_)), "{name}: calls {f:?}");
        }
        Expr::Const(_)
        | Expr::Neg(_)
        | Expr::Add(..)
        | Expr::Sub(..)
        | Expr::Mul(..)
        | Expr::Div(..)
        | Expr::Select(..) => {}
    }
}

#[test]
fn needs_follow_activity() {
    let needs = |name: &str, active: &[bool]| {
        let n = rules().find(|r| r.name == name).unwrap().needs(active);
        (n.args, n.results)
    };
    assert_eq!(needs("fmul", &[true, false]), (0b10, 0));
    assert_eq!(needs("fmul", &[true, true]), (0b11, 0));
    assert_eq!(needs("fadd", &[true, true]), (0, 0));
    assert_eq!(needs("exp", &[true]), (0, 1));
    assert_eq!(needs("pow", &[true, false]), (0b11, 0));
    assert_eq!(needs("pow", &[false, true]), (0b11, 1));
    assert_eq!(needs("fdiv", &[false, true]), (0b10, 1));
    assert_eq!(needs("powi", &[true, false]), (0b11, 0));
    assert_eq!(needs("floor", &[true]), (0, 0));
    assert_eq!(needs("fmax", &[true, true]), (0b11, 0));
    assert_eq!(needs("llvm.sincos", &[true]), (0, 0b11));
}

#[test]
fn spellings_are_found() {
    use FloatKind::*;
    let cases: &[(&str, &str, Option<FloatKind>, Lanes)] = &[
        ("sin", "sin", Some(Double), Lanes::Scalar),
        ("sinf", "sin", Some(Float), Lanes::Scalar),
        ("sinl", "sin", None, Lanes::Scalar),
        ("sinf128", "sin", Some(Fp128), Lanes::Scalar),
        ("sinq", "sin", Some(Fp128), Lanes::Scalar),
        ("sinf64x", "sin", None, Lanes::Scalar),
        ("__sin_finite", "sin", Some(Double), Lanes::Scalar),
        ("__expf_finite", "exp", Some(Float), Lanes::Scalar),
        ("__powl_finite", "pow", None, Lanes::Scalar),
        ("pow10", "exp10", Some(Double), Lanes::Scalar),
        ("pow10f", "exp10", Some(Float), Lanes::Scalar),
        ("erf", "erf", Some(Double), Lanes::Scalar),
        ("erff", "erf", Some(Float), Lanes::Scalar),
        ("fmaf", "fma", Some(Float), Lanes::Scalar),
        ("ceil", "ceil", Some(Double), Lanes::Scalar),
        ("ceill", "ceil", None, Lanes::Scalar),
        ("modff", "modf", Some(Float), Lanes::Scalar),
        ("scalbn", "ldexp", Some(Double), Lanes::Scalar),
        ("jnf", "jn", Some(Float), Lanes::Scalar),
        ("lgammaf_r", "lgamma_r", Some(Float), Lanes::Scalar),
        ("sincosf", "sincos", Some(Float), Lanes::Scalar),
        ("__muldc3", "complex product", Some(Double), Lanes::Scalar),
        ("llvm.sin.f64", "sin", Some(Double), Lanes::Scalar),
        ("llvm.sin.v4f32", "sin", Some(Float), Lanes::Fixed(4)),
        ("llvm.sin.nxv2f64", "sin", Some(Double), Lanes::Scalable(2)),
        ("llvm.sin.bf16", "sin", Some(BFloat), Lanes::Scalar),
        ("llvm.sin.f16", "sin", Some(Half), Lanes::Scalar),
        ("llvm.sin.f80", "sin", Some(X86Fp80), Lanes::Scalar),
        ("llvm.sin.ppcf128", "sin", Some(PpcFp128), Lanes::Scalar),
        ("llvm.sincos.f64", "llvm.sincos", Some(Double), Lanes::Scalar),
        ("llvm.powi.f64.i32", "powi", Some(Double), Lanes::Scalar),
        ("llvm.ldexp.v4f32.v4i32", "ldexp", Some(Float), Lanes::Fixed(4)),
        ("llvm.frexp.f64.i32", "llvm.frexp", Some(Double), Lanes::Scalar),
        ("llvm.lround.i64.f64", "lround", Some(Double), Lanes::Scalar),
        ("llvm.fptosi.sat.i32.f32", "fptosi", Some(Float), Lanes::Scalar),
        ("llvm.ssa.copy.f64", "canonicalize", Some(Double), Lanes::Scalar),
        ("llvm.maximumnum.v2f64", "fmax", Some(Double), Lanes::Fixed(2)),
        ("llvm.experimental.constrained.fadd.f64", "fadd", Some(Double), Lanes::Scalar),
        ("llvm.experimental.constrained.sqrt.v2f64", "sqrt", Some(Double), Lanes::Fixed(2)),
    ];
    for (symbol, rule, kind, lanes) in cases {
        let found = lookup_call(symbol).unwrap_or_else(|| panic!("{symbol} is not found"));
        assert_eq!((found.rule.name, found.kind, found.lanes), (*rule, *kind, *lanes), "{symbol}");
    }
    for symbol in [
        "",
        "f",
        "l",
        "sinx",
        "sinff",
        "_sin",
        "__sin",
        "llvm.sin",
        "llvm.sin.",
        "llvm.sin.i32",
        "llvm.sin.v4",
        "llvm.",
        "llvm.fadd.f64",
        "llvm.vector.reduce.fadd.v4f64",
        "llvm.sin.f64x",
        "llvm.sin.vf64",
        "llvm..f64",
        "my_sin",
        "Sin",
        "llvm.sin.v99999999999f64",
        "llvm.sin.é",
        "é",
    ] {
        assert!(lookup_call(symbol).is_none(), "{symbol} is no known function");
    }
}

#[test]
fn signatures_decide() {
    let mut t = Types::default();
    let (f32t, f64t, i32t, ptr) = (t.float(FloatKind::Float), t.double(), t.int(32), t.ptr());
    let (f80, void, v4) = (t.float(FloatKind::X86Fp80), t.void(), t.vector(f32t, 4));
    let (pair, meta) = (t.tuple(vec![f64t, f64t]), t.intern(Type::Metadata));
    let mixed = t.tuple(vec![f64t, i32t]);
    let check = |symbol: &str, ret: TypeId, params: &[TypeId], expected: Option<TypeId>| {
        assert_eq!(lookup_call(symbol).unwrap().fits(&t, ret, params), expected, "{symbol}");
    };
    check("sin", f64t, &[f64t], Some(f64t));
    check("sin", f32t, &[f32t], None);
    check("sin", f64t, &[f32t], None);
    check("sin", f64t, &[], None);
    check("sin", f64t, &[f64t, f64t], None);
    check("y1", i32t, &[i32t], None);
    check("sinl", f80, &[f80], Some(f80));
    check("sinl", f64t, &[f64t], Some(f64t));
    check("jn", f64t, &[i32t, f64t], Some(f64t));
    check("jn", f64t, &[f64t, i32t], None);
    check("sincos", void, &[f64t, ptr, ptr], Some(f64t));
    check("frexp", f64t, &[f64t, ptr], Some(f64t));
    check("frexp", f64t, &[f64t, i32t], None);
    check("llvm.sin.v4f32", v4, &[v4], Some(v4));
    check("llvm.sin.v4f32", f32t, &[f32t], None);
    check("llvm.sincos.f64", pair, &[f64t], Some(f64t));
    check("llvm.sincos.f64", f64t, &[f64t], None);
    check("llvm.frexp.f64.i32", mixed, &[f64t], Some(f64t));
    check("lround", i32t, &[f64t], Some(f64t));
    check("llvm.powi.v4f32.i32", v4, &[v4, i32t], Some(v4));
    check("llvm.experimental.constrained.fadd.f64", f64t, &[f64t, f64t, meta, meta], Some(f64t));
    check("nan", f64t, &[ptr], Some(f64t));
}

#[test]
fn symbols_of_callees() {
    let mut t = Types::default();
    let (f64t, i32t) = (t.double(), t.int(32));
    let v4 = t.vector(f64t, 4);
    let nx = t.intern(Type::Vector { elem: f64t, len: 2, scalable: true });
    assert_eq!(intrinsic_symbol(&t, "llvm.cos", &[f64t]).unwrap(), "llvm.cos.f64");
    assert_eq!(intrinsic_symbol(&t, "llvm.powi", &[v4, i32t]).unwrap(), "llvm.powi.v4f64.i32");
    assert_eq!(intrinsic_symbol(&t, "llvm.exp", &[nx]).unwrap(), "llvm.exp.nxv2f64");
    let linux = "x86_64-pc-linux-gnu";
    assert_eq!(libm_symbol("hypot", FloatKind::Float, linux).unwrap(), "hypotf");
    assert_eq!(libm_symbol("hypot", FloatKind::Double, linux).unwrap(), "hypot");
    assert_eq!(libm_symbol("hypot", FloatKind::X86Fp80, linux).unwrap(), "hypotl");
    assert_eq!(libm_symbol("hypot", FloatKind::Fp128, linux).unwrap(), "hypotf128");
    assert_eq!(libm_symbol("hypot", FloatKind::Fp128, "aarch64-unknown-linux-gnu").unwrap(), "hypotl");
    assert_eq!(libm_symbol("hypot", FloatKind::Half, linux), None);
}

#[test]
fn instructions_are_classified() {
    for op in [BinOp::FAdd, BinOp::FSub, BinOp::FMul, BinOp::FDiv, BinOp::FRem] {
        assert!(matches!(op_derivative(&Op::Binary(op)), OpDerivative::Rule(_)), "{op:?}");
    }
    assert!(matches!(op_derivative(&Op::FNeg), OpDerivative::Rule(r) if r.name == "fneg"));
    assert!(matches!(op_derivative(&Op::Cast(CastOp::FPExt)), OpDerivative::Rule(r) if r.name == "fpext"));
    assert!(matches!(op_derivative(&Op::Cast(CastOp::FPTrunc)), OpDerivative::Rule(r) if r.name == "fptrunc"));
    assert!(is_zero_derivative(&Op::FCmp(enzyme_ir::FloatPred::Olt)));
    assert!(is_zero_derivative(&Op::Cast(CastOp::SIToFP)));
    assert!(!is_zero_derivative(&Op::Select));
    assert!(!is_zero_derivative(&Op::Binary(BinOp::Xor)), "may flip the sign bit of a float");
    assert!(lookup_inst(&Op::Binary(BinOp::Add)).is_none());
}

#[test]
fn allocators_name_what_releases_them() {
    for row in known::rows() {
        let (release, place) = match row.what {
            Known::Alloc(a) => (a.release, a.place),
            Known::Realloc { release, .. } => (release, AllocPlace::Return),
            _ => continue,
        };
        assert!(matches!(place, AllocPlace::Return | AllocPlace::Pointee(0)));
        if release.args.is_empty() {
            let collected = |name: &Name| matches!(name, Name::Exact(text) if text.starts_with("julia."));
            assert!(release.symbol.is_empty() && row.names.iter().all(collected), "{:?}", row.names);
            assert!(row.release_symbol("julia.box").is_none());
            continue;
        }
        assert_eq!(release.args.first(), Some(&ReleaseArg::Ptr));
        for name in row.names {
            let (Name::Exact(text) | Name::Prefix(text) | Name::Suffix(text)) = name;
            let symbol = row.release_symbol(text).unwrap();
            let found = known::known(&symbol).unwrap_or_else(|| panic!("{symbol} is not known"));
            assert!(matches!(found.what, Known::Free { .. }), "{symbol}");
        }
    }
    let mangled = "_RNvCs691rhTbG0Ee_7___rustc12___rust_alloc";
    let row = known::known(mangled).unwrap();
    assert_eq!(row.release_symbol(mangled).unwrap(), "_RNvCs691rhTbG0Ee_7___rustc14___rust_dealloc");
    let cases = [("malloc", true), ("printf", false), ("memcpy", false), ("_Znwm", true)];
    for (name, allocates) in cases {
        assert_eq!(matches!(known::known(name).unwrap().what, Known::Alloc(_)), allocates, "{name}");
    }
    for name in ["", "mallo", "scanf", "qsort", "fread", "pthread_create", "_ZNSirsERd", "llvm.memcpy", "llvm.va_start"]
    {
        assert!(known::known(name).is_none(), "{name}");
    }
    assert!(matches!(known::known("llvm.memcpy.p0.p0.i64").unwrap().what, Known::MemCopy { dst: 0, src: 1, len: 2 }));
}

#[test]
fn known_functions_are_told_by_signature_too() {
    let mut t = Types::default();
    let (f64t, i32t, i64t, ptr, void) = (t.double(), t.int(32), t.int(64), t.ptr(), t.void());
    let fits = |name: &str, ret, params: &[TypeId]| known::known(name).unwrap().fits(&t, ret, params);
    assert!(fits("malloc", ptr, &[i64t]));
    assert!(!fits("malloc", ptr, &[f64t]));
    assert!(!fits("malloc", void, &[i64t]));
    assert!(fits("posix_memalign", i32t, &[ptr, i64t, i64t]));
    assert!(fits("free", void, &[ptr]));
    assert!(!fits("free", void, &[]));
    assert!(fits("memcpy", ptr, &[ptr, ptr, i64t]));
    assert!(!fits("memcpy", ptr, &[ptr, ptr]));
    assert!(fits("printf", i32t, &[ptr]));
    assert!(fits("access", i32t, &[ptr, i32t]));
    assert!(!fits("access", f64t, &[ptr, i32t]), "a function of the program");
    assert!(!fits("write", void, &[f64t]), "a function of the program");
    assert!(fits("strtod", f64t, &[ptr, ptr]));
    assert!(fits("drand48", f64t, &[]));
    assert!(fits("_ZNSolsEd", ptr, &[ptr, f64t]));
    assert!(fits("llvm.is.fpclass.f64", t.find(&Type::Int(32)).unwrap(), &[f64t, i32t]));
    assert!(fits("llvm.expect.i64", i64t, &[i64t, i64t]));
}

#[test]
fn helpers_are_built_once_and_locally() {
    let mut module = Module::default();
    for helper in Helper::ALL {
        let first = build_helper(&mut module, helper);
        let count = module.funcs.len();
        assert_eq!(build_helper(&mut module, helper), first);
        assert_eq!(module.funcs.len(), count);
        assert_eq!(module.funcs[first].linkage, enzyme_ir::Linkage::Internal);
        assert_eq!(module.funcs[first].name, helper.symbol());
    }
}

#[test]
fn the_documentation_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md");
    let page = markdown();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    let repair = "BLESS=1 cargo test -p enzyme-rules --test tables";
    assert!(committed == page, "docs/rules.md is not that of the tables; run: {repair}");
}
