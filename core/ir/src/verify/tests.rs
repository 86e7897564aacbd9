//! Texts that parse but are not well formed, and functions that no text could make.

use super::*;
use crate::consts::Const;
use crate::func::Inst;
use crate::ids::FuncId;
use crate::op::{FastMath, IntFlags, MemClass};
use crate::text::parse_module;
use crate::types::{FloatKind, StructType};
use cranelift_entity::EntityRef;

fn messages(text: &str) -> Vec<String> {
    let module = parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify_module(&module).iter().map(ToString::to_string).collect()
}

/// Each line: what stands in the body, what the only error must say; nothing for a body without error.
const BODIES: &[(&str, &str)] = &[
    ("ret void", ""),
    ("br label %0", "entry block, which must have no predecessors"),
    ("br label %a\na:\n br label %a", ""),
    ("ret i32 0", "does not agree with the signature"),
    ("%1 = add double %x, %x\n ret void", "operation on a type"),
    ("%1 = fadd i32 %n, %n\n ret void", "operation on a type"),
    ("%1 = fneg i32 %n\n ret void", "negation"),
    ("%1 = zext i32 %n to i16\n ret void", "conversion"),
    ("%1 = trunc i32 %n to i32\n ret void", "conversion"),
    ("%1 = fpext double %x to float\n ret void", "conversion"),
    ("%1 = bitcast i32 %n to double\n ret void", "conversion"),
    ("%1 = bitcast ptr %p to i64\n ret void", "conversion"),
    ("%1 = bitcast <2 x i32> zeroinitializer to double\n ret void", ""),
    ("%1 = sitofp <2 x i32> zeroinitializer to double\n ret void", "conversion"),
    ("%1 = addrspacecast ptr %p to ptr\n ret void", "conversion"),
    ("%1 = icmp eq double %x, %x\n ret void", "icmp compares"),
    ("%1 = fcmp oeq i32 %n, %n\n ret void", "fcmp compares"),
    ("%1 = select i32 %n, double %x, double %x\n ret void", "condition is not i1"),
    ("%1 = select i1 %c, double %x, float 0.0\n ret void", "same type"),
    ("%1 = select <2 x i1> zeroinitializer, double %x, double %x\n ret void", "other lanes"),
    ("br i1 %c, label %a, label %a\na:\n %v = phi i32 [ 1, %0 ]\n ret void", "predecessors are [bb0 bb0]"),
    ("br i1 %c, label %a, label %a\na:\n %v = phi i32 [ 1, %0 ], [ 2, %0 ]\n ret void", "different values"),
    ("br i1 %c, label %a, label %a\na:\n %v = phi i32 [ 1, %0 ], [ 1, %0 ]\n ret void", ""),
    ("br label %a\na:\n %v = phi i32 [ %w, %0 ]\n %w = add i32 %n, 1\n ret void", "not defined on every path"),
    ("br label %a\na:\n %w = add i32 %n, 1\n %v = phi i32 [ 1, %0 ]\n ret void", "phi after other"),
    ("%v = add i32 %w, 1\n %w = add i32 %n, 1\n ret void", "not defined on every path"),
    (
        "br i1 %c, label %a, label %b\na:\n %v = add i32 %n, 1\n br label %b\nb:\n %w = add i32 %v, 1\n ret void",
        "not defined on every path",
    ),
    ("ret void\ndead:\n %v = add i32 %v, 1\n br label %dead", ""),
    (
        "br label %a\ndead:\n %v = add i32 %n, 1\n br label %a\na:\n %w = phi i32 [ 0, %0 ], [ %v, %dead ]\n ret void",
        "",
    ),
    ("br i32 %n, label %a, label %a\na:\n ret void", "condition is not i1"),
    ("switch i32 %n, label %a [ i32 1, label %a i32 1, label %a ]\na:\n ret void", "two cases are equal"),
    ("switch double %x, label %a [ ]\na:\n ret void", "no integer"),
    ("%v = load i32, i32 %n\n ret void", "not a pointer"),
    ("%v = load %o, ptr %p\n ret void", "without size"),
    ("%v = load atomic i32, ptr %p release, align 4\n ret void", "ordering"),
    ("%v = load atomic i31, ptr %p acquire, align 4\n ret void", "no atomic form"),
    ("store atomic i32 %n, ptr %p acquire, align 4\n ret void", "ordering"),
    ("%v = alloca %o\n ret void", "without size"),
    ("fence monotonic\n ret void", "fence"),
    ("%v = cmpxchg ptr %p, i32 %n, i32 %n monotonic release\n ret void", "failure"),
    ("%v = cmpxchg ptr %p, double %x, double %x monotonic monotonic\n ret void", "integers or pointers"),
    ("%v = atomicrmw fadd ptr %p, i32 %n monotonic\n ret void", "operation on a type"),
    ("%v = getelementptr { i32, i64 }, ptr %p, i32 0, i32 2\n ret void", "names a field"),
    ("%v = getelementptr { i32, i64 }, ptr %p, i32 0, i32 %n\n ret void", "names a field"),
    ("%v = getelementptr i32, ptr %p, i32 0, i32 2\n ret void", "no parts"),
    ("%v = getelementptr %o, ptr %p, i32 0\n ret void", "without size"),
    ("%v = getelementptr [2 x { i32, double }], ptr %p, i64 1, i32 %n, i32 1\n ret void", ""),
    ("%v = extractelement <2 x i32> zeroinitializer, double %x\n ret void", "of another type"),
    ("%v = insertelement <2 x i32> zeroinitializer, double %x, i32 0\n ret void", "of another type"),
    ("%v = shufflevector <2 x i8> undef, <2 x i8> undef, <2 x i32> <i32 0, i32 4>\n ret void", "names no lane"),
    ("%v = insertvalue { i32, i8 } undef, double %x, 0\n ret void", "no such part"),
    ("call void @llvm.assume(i1 %c)\n ret void", ""),
    ("call void %n(i1 %c)\n ret void", "expected"),
    ("%v = call fast i32 @i(i32 %n)\n ret void", "fast-math flags"),
    ("%v = call i32 @i(i32 %n)\n ret void", ""),
    ("%v = landingpad { ptr, i32 } cleanup\n ret void", "without personality"),
    ("resume i32 0", "without personality"),
    ("invoke void @llvm.assume(i1 %c) to label %a unwind label %b\na:\n ret void\nb:\n ret void", "personality"),
];

#[test]
fn bodies_with_one_error() {
    for (body, part) in BODIES {
        let text = format!(
            "%o = type opaque\ndeclare i32 @i(i32)\n\
             define void @f(double %x, i32 %n, ptr %p, i1 %c) {{\n {body}\n}}\n"
        );
        let Ok(module) = parse_module(&text) else {
            assert_eq!(*part, "expected", "{text}");
            continue;
        };
        let errors: Vec<String> = verify_module(&module).iter().map(ToString::to_string).collect();
        let fits = if part.is_empty() { errors.is_empty() } else { errors.len() == 1 && errors[0].contains(part) };
        assert!(fits, "{text}\nwanted: {part}\nfound: {errors:#?}");
    }
}

#[test]
fn invoke_results_are_there_on_the_normal_path_only() {
    let frame = |after: &str, pad: &str| {
        format!(
            "declare i32 @g()\ndeclare i32 @__gxx_personality_v0(...)\n\
             define i32 @f() personality ptr @__gxx_personality_v0 {{\n\
             %v = invoke i32 @g() to label %ok unwind label %pad\n\
             ok:\n {after}\n\
             pad:\n %e = landingpad {{ ptr, i32 }} cleanup\n {pad}\n}}"
        )
    };
    assert!(messages(&frame("ret i32 %v", "ret i32 0")).is_empty());
    assert!(messages(&frame("ret i32 0", "ret i32 %v"))[0].contains("not defined on every path"));
    let through_phi = "br label %out\nout:\n %r = phi i32 [ %v, %ok ], [ 1, %pad ]\n ret i32 %r";
    assert!(messages(&frame(through_phi, "br label %out")).is_empty());
    let bad_phi = "br label %out\nout:\n %r = phi i32 [ 1, %ok ], [ %v, %pad ]\n ret i32 %r";
    assert!(messages(&frame(bad_phi, "br label %out"))[0].contains("not defined on every path"));
    let loop_back = "%k = add i32 %v, 1\n br label %ok";
    assert!(messages(&frame(loop_back, "ret i32 0")).is_empty());
    // The normal target can also be entered from the pad: the edge does not dominate it.
    assert!(messages(&frame("ret i32 %v", "br label %ok"))[0].contains("not defined on every path"));
}

/// A module with `define i32 @f(i32 %x) { %0: %1 = add i32 %x, 1; ret i32 %1 }`.
fn small() -> (Module, FuncId) {
    let text = "define i32 @f(i32 %x) {\n %1 = add i32 %x, 1\n ret i32 %1\n}\n@g = global i32 0\n";
    let module = parse_module(text).expect("parses");
    let id = module.find_func("f").expect("f");
    (module, id)
}

#[test]
fn functions_that_no_text_could_make() {
    type Change = fn(&mut Func);
    let changes: &[(&str, Change)] = &[
        ("signature out of range", |f| f.sig = TypeId::new(900)),
        ("not a function type", |f| f.sig = f.values[ValueId::new(0)].ty),
        ("as many parameters", |f| {
            f.params.pop();
        }),
        ("parameter 0 is out of range", |f| f.params[0] = ValueId::new(77)),
        ("attributes of parameters", |f| f.param_attrs.clear()),
        ("type is out of range", |f| f.values[ValueId::new(1)].ty = TypeId::new(900)),
        ("constant is out of range", |f| f.values[ValueId::new(1)].def = ValueDef::Const(ConstId::new(900))),
        ("not the result of", |f| f.values[ValueId::new(1)].def = ValueDef::Inst(InstId::new(1))),
        ("bb9 in the layout", |f| f.layout.push(BlockId::new(9))),
        ("stands twice in the layout", |f| f.layout.push(BlockId::new(0))),
        ("i9 is out of range", |f| f.blocks[BlockId::new(0)].insts.insert(0, InstId::new(9))),
        ("stands twice in the function", |f| f.blocks[BlockId::new(0)].insts.insert(0, InstId::new(0))),
        ("does not end in a terminator", |f| {
            f.blocks[BlockId::new(0)].insts.pop();
        }),
        ("terminator in the middle", |f| f.blocks[BlockId::new(0)].insts.swap(0, 1)),
        ("operand is out of range", |f| f.insts[InstId::new(0)].args[0] = ValueId::new(99)),
        ("wrong number of operands", |f| f.insts[InstId::new(0)].args.truncate(1)),
        ("has a type but no result", |f| f.insts[InstId::new(0)].result = None),
        ("result is out of range", |f| f.insts[InstId::new(0)].result = Some(ValueId::new(88))),
        ("location is out of range", |f| f.insts[InstId::new(0)].loc = Some(LocId::new(3))),
        ("bb7 is not in the layout", |f| f.insts[InstId::new(1)].op = Op::Br(BlockId::new(7))),
        ("flags that the operation", |f| f.insts[InstId::new(0)].ints = IntFlags::EXACT),
        ("fast-math flags", |f| f.insts[InstId::new(0)].fast = FastMath::NNAN),
        ("instruction is in no block", |f| {
            f.blocks[BlockId::new(0)].insts.remove(0);
        }),
        ("personality routine is out of range", |f| f.personality = Some(ConstId::new(99))),
    ];
    let (module, id) = small();
    assert!(verify_module(&module).is_empty());
    for (part, change) in changes {
        let mut module = module.clone();
        change(&mut module.funcs[id]);
        let errors = verify(&module, &module.funcs[id]);
        assert!(errors.iter().any(|e| e.to_string().contains(part)), "{part}: {errors:#?}");
    }
}

#[test]
fn types_constants_and_globals() {
    type Change = fn(&mut Module);
    let changes: &[(&str, Change)] = &[
        ("refers to itself", |m| {
            let later = TypeId::new(m.ctx.types.len() + 5);
            m.ctx.types.array(later, 3);
        }),
        ("arrays cannot hold", |m| {
            let void = m.ctx.types.void();
            m.ctx.types.array(void, 3);
        }),
        ("vectors hold", |m| {
            let pair = m.ctx.types.tuple(vec![]);
            m.ctx.types.vector(pair, 2);
        }),
        ("1 to 8388608 bits", |m| {
            m.ctx.types.int(0);
        }),
        ("number of words", |m| {
            let ty = m.ctx.types.int(32);
            m.ctx.consts.intern(Const::Int { ty, words: Default::default() });
        }),
        ("bits above the width", |m| {
            let ty = m.ctx.types.float(FloatKind::Half);
            m.ctx.consts.intern(Const::Float { ty, bits: 1 << 16 });
        }),
        ("number of elements", |m| {
            let ty = m.ctx.types.int(32);
            let ty = m.ctx.types.array(ty, 3);
            m.ctx.consts.intern(Const::Aggregate { ty, elems: vec![] });
        }),
        ("element of another type", |m| {
            let i32 = m.ctx.types.int(32);
            let zero = m.ctx.int(i32, 0);
            let double = m.ctx.types.double();
            let ty = m.ctx.types.array(double, 1);
            m.ctx.consts.intern(Const::Aggregate { ty, elems: vec![zero] });
        }),
        ("number of bytes", |m| {
            let ty = m.ctx.types.int(32);
            let ty = m.ctx.types.array(ty, 3);
            m.ctx.consts.intern(Const::Data { ty, bytes: vec![1] });
        }),
        ("global is out of range", |m| {
            m.ctx.consts.intern(Const::Global(GlobalId::new(8)));
        }),
        ("function is out of range", |m| {
            m.ctx.consts.intern(Const::Func(FuncId::new(8)));
        }),
        ("block is out of range", |m| {
            m.ctx.consts.intern(Const::BlockAddress { func: FuncId::new(0), block: 3 });
        }),
        ("initialiser of another type", |m| m.globals[GlobalId::new(0)].ty = m.ctx.types.double()),
        ("power of two", |m| m.globals[GlobalId::new(0)].align = 3),
        ("name is used twice", |m| m.globals[GlobalId::new(0)].name = "f".to_owned()),
        ("without size", |m| {
            let opaque = StructType { name: Some("o".to_owned()), fields: None, packed: false };
            m.globals[GlobalId::new(0)].ty = m.ctx.types.intern(Type::Struct(opaque));
        }),
        ("inlined into itself", |m| {
            let at = Some(LocId::new(0));
            let text = String::new;
            m.locs.push(crate::module::Loc { file: text(), line: 1, column: 1, scope: text(), inlined_at: at });
        }),
    ];
    for (part, change) in changes {
        let (mut module, _) = small();
        change(&mut module);
        let errors = verify_module(&module);
        assert!(errors.iter().any(|e| e.to_string().contains(part)), "{part}: {errors:#?}");
    }
}

#[test]
fn errors_are_collected_and_name_their_place() {
    let (mut module, id) = small();
    let func = &mut module.funcs[id];
    let bad = Inst {
        op: Op::FNeg,
        args: [ValueId::new(0)].into_iter().collect(),
        ty: func.insts[InstId::new(0)].ty,
        result: None,
        fast: FastMath::empty(),
        ints: IntFlags::empty(),
        loc: None,
        origin: None,
        scoped: None,
        mem: MemClass::Unknown,
    };
    for _ in 0..3 {
        let i = func.make_inst(bad.clone(), false);
        func.blocks[BlockId::new(0)].insts.insert(0, i);
    }
    let errors = verify(&module, &module.funcs[id]);
    let places: Vec<Entity> = errors.iter().map(|e| e.entity).collect();
    let expect = [4, 3, 2].map(|i| Entity::Inst(InstId::new(i)));
    assert_eq!(places, expect);
    assert_eq!(errors[0].to_string(), "@f: i4: negation of what is no float");
}
