//! Prints instructions.

use cranelift_entity::EntityRef;

use crate::func::{Func, Inst, ValueDef};
use crate::ids::{BlockId, InstId, TypeId, ValueId};
use crate::op::{Access, CallInfo, Clause, FastMath, IntFlags, MemClass, Op, Ordering, TailKind};
use crate::types::Type;

use super::names::Names;
use super::{BAD, Printer};
use crate::text::words;

impl Printer<'_> {
    /// An operand without its type.
    fn value(&mut self, f: &Func, names: &Names, v: Option<ValueId>) {
        match v.and_then(|v| Some((v, f.values.get(v)?))) {
            Some((v, value)) => match value.def {
                ValueDef::Const(c) => self.constant(c, 0),
                ValueDef::Param(_) | ValueDef::Inst(_) => self.out.push_str(names.value(v)),
            },
            None => self.out.push_str(BAD),
        }
    }

    /// An operand with its type.
    pub(super) fn typed(&mut self, f: &Func, names: &Names, v: Option<ValueId>) {
        match v.and_then(|v| f.values.get(v)) {
            Some(value) => self.ty(value.ty),
            None => self.out.push_str(BAD),
        }
        self.out.push(' ');
        self.value(f, names, v);
    }

    fn list(&mut self, f: &Func, names: &Names, args: &[ValueId]) {
        for (i, a) in args.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.typed(f, names, Some(*a));
        }
    }

    fn label(&mut self, names: &Names, b: BlockId) {
        self.put(format_args!("label {}", names.block(b)));
    }

    fn labels(&mut self, names: &Names, blocks: &[BlockId]) {
        for (i, b) in blocks.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.label(names, *b);
        }
    }

    fn align(&mut self, align: u32) {
        if align != 0 {
            self.put(format_args!(", align {align}"));
        }
    }

    fn fast(&mut self, fast: FastMath) {
        if fast.is_all() {
            self.out.push_str("fast ");
            return;
        }
        for (flag, word) in words::FAST_MATH {
            if fast.contains(flag) {
                self.out.push_str(word);
                self.out.push(' ');
            }
        }
    }

    fn ints(&mut self, ints: IntFlags) {
        for (flag, word) in words::INT_FLAGS {
            if ints.contains(flag) {
                self.out.push_str(word);
                self.out.push(' ');
            }
        }
    }

    /// ` seq_cst, align 8` of an atomic access of `ty`; LLVM demands its alignment.
    fn access_end(&mut self, access: &Access, ty: Option<TypeId>) {
        let ctx = &self.module.ctx;
        let mut align = access.align;
        if access.ordering != Ordering::NotAtomic {
            self.put(format_args!(" {}", words::ordering(access.ordering)));
            let is_scalar = |t: &Type| matches!(t, Type::Int(_) | Type::Float(_) | Type::Ptr(_));
            if let Some(ty) = ty.filter(|t| t.index() < ctx.types.len() && is_scalar(&ctx.types[*t]))
                && align == 0
            {
                align = ctx.layout.align_of(&ctx.types, ty) as u32;
            }
        }
        self.align(align);
    }

    /// One instruction, without indentation and newline.
    pub(super) fn inst(&mut self, f: &Func, names: &Names, id: InstId) {
        let Some(inst) = f.insts.get(id) else {
            self.out.push_str(BAD);
            return;
        };
        if let Some(r) = inst.result {
            self.put(format_args!("{} = ", names.value(r)));
        }
        self.operation(f, names, inst);
        let mem = match inst.mem {
            MemClass::Unknown => None,
            MemClass::Primal => Some("primal".to_owned()),
            MemClass::Shadow => Some("shadow".to_owned()),
            MemClass::Tape => Some("tape".to_owned()),
            MemClass::Lane(n) => Some(format!("lane{n}")),
        };
        if let Some(mem) = mem {
            self.put(format_args!(", !enzyme.mem !{{!\"{mem}\"}}"));
        }
        if let Some(loc) = inst.loc.filter(|_| self.with_table) {
            self.out.push_str(", !enzyme.loc ");
            self.loc(loc);
        }
    }

    /// `word [flags] type a, b`.
    fn binary(&mut self, f: &Func, names: &Names, word: &str, inst: &Inst) {
        self.put(format_args!("{word} "));
        self.fast(inst.fast);
        self.ints(inst.ints);
        self.typed(f, names, inst.args.first().copied());
        self.out.push_str(", ");
        self.value(f, names, inst.args.get(1).copied());
    }

    fn operation(&mut self, f: &Func, names: &Names, inst: &Inst) {
        let arg = |i: usize| inst.args.get(i).copied();
        let arg_type = |i: usize| arg(i).and_then(|v| f.values.get(v)).map(|v| v.ty);
        match &inst.op {
            Op::FNeg => {
                self.out.push_str("fneg ");
                self.fast(inst.fast);
                self.typed(f, names, arg(0));
            }
            Op::Binary(op) => self.binary(f, names, words::bin_op(*op), inst),
            Op::Cast(op) => {
                self.put(format_args!("{} ", words::cast_op(*op)));
                self.fast(inst.fast);
                self.ints(inst.ints);
                self.typed(f, names, arg(0));
                self.out.push_str(" to ");
                self.ty(inst.ty);
            }
            Op::ICmp(pred) => {
                self.out.push_str("icmp ");
                self.ints(inst.ints);
                self.put(format_args!("{} ", words::int_pred(*pred)));
                self.typed(f, names, arg(0));
                self.out.push_str(", ");
                self.value(f, names, arg(1));
            }
            Op::FCmp(pred) => {
                self.out.push_str("fcmp ");
                self.fast(inst.fast);
                self.put(format_args!("{} ", words::float_pred(*pred)));
                self.typed(f, names, arg(0));
                self.out.push_str(", ");
                self.value(f, names, arg(1));
            }
            Op::Phi(blocks) => {
                self.out.push_str("phi ");
                self.fast(inst.fast);
                self.ty(inst.ty);
                for (i, b) in blocks.iter().enumerate() {
                    self.out.push_str(if i == 0 { " [ " } else { ", [ " });
                    self.value(f, names, arg(i));
                    self.put(format_args!(", {} ]", names.block(*b)));
                }
            }
            Op::Select => {
                self.out.push_str("select ");
                self.fast(inst.fast);
                self.list(f, names, &inst.args);
            }
            Op::Freeze => {
                self.out.push_str("freeze ");
                self.typed(f, names, arg(0));
            }
            Op::ExtractElement | Op::InsertElement => {
                self.out.push_str(if matches!(inst.op, Op::ExtractElement) { "extract" } else { "insert" });
                self.out.push_str("element ");
                self.list(f, names, &inst.args);
            }
            Op::ShuffleVector(mask) => {
                self.out.push_str("shufflevector ");
                self.list(f, names, &inst.args);
                self.shuffle_mask(mask, inst.ty);
            }
            Op::ExtractValue(path) | Op::InsertValue(path) => {
                self.out.push_str(if matches!(inst.op, Op::ExtractValue(_)) { "extract" } else { "insert" });
                self.out.push_str("value ");
                self.list(f, names, &inst.args);
                for p in path {
                    self.put(format_args!(", {p}"));
                }
            }
            Op::VaArg => {
                self.out.push_str("va_arg ");
                self.typed(f, names, arg(0));
                self.out.push_str(", ");
                self.ty(inst.ty);
            }
            Op::Alloca { .. }
            | Op::Load(_)
            | Op::Store(_)
            | Op::Gep { .. }
            | Op::Fence(_)
            | Op::CmpXchg { .. }
            | Op::AtomicRmw(..) => self.memory(f, names, inst, arg_type(1)),
            Op::Call(call) => self.call(f, names, inst, call, "call"),
            Op::LandingPad { .. } | Op::CleanupPad | Op::CatchPad => self.pad(f, names, inst),
            Op::Ret
            | Op::Br(_)
            | Op::CondBr { .. }
            | Op::Switch { .. }
            | Op::IndirectBr(_)
            | Op::Invoke { .. }
            | Op::CallBr { .. }
            | Op::Resume
            | Op::Unreachable
            | Op::CleanupRet(_)
            | Op::CatchRet(_)
            | Op::CatchSwitch { .. } => self.terminator(f, names, inst, arg_type(0)),
        }
    }

    fn memory(&mut self, f: &Func, names: &Names, inst: &Inst, second: Option<TypeId>) {
        let arg = |i: usize| inst.args.get(i).copied();
        let volatile = |a: &Access| if a.volatile { "volatile " } else { "" };
        let atomic = |a: &Access| if a.ordering == Ordering::NotAtomic { "" } else { "atomic " };
        match &inst.op {
            Op::Alloca { elem, align } => {
                self.out.push_str("alloca ");
                self.ty(*elem);
                let types = &self.module.ctx.types;
                let one = arg(0).and_then(|v| f.values.get(v)).is_some_and(|v| match v.def {
                    ValueDef::Const(c) => {
                        c.index() < self.module.ctx.consts.len()
                            && self.module.ctx.consts.as_u64(c) == Some(1)
                            && matches!(types.find(&Type::Int(32)), Some(i32) if i32 == v.ty)
                    }
                    ValueDef::Param(_) | ValueDef::Inst(_) => false,
                });
                if !one {
                    self.out.push_str(", ");
                    self.typed(f, names, arg(0));
                }
                self.align(*align);
                let types = &self.module.ctx.types;
                if let Some(Type::Ptr(space @ 1..)) = (inst.ty.index() < types.len()).then(|| &types[inst.ty]) {
                    self.put(format_args!(", addrspace({space})"));
                }
            }
            Op::Load(access) => {
                self.put(format_args!("load {}{}", atomic(access), volatile(access)));
                self.ty(inst.ty);
                self.out.push_str(", ");
                self.typed(f, names, arg(0));
                self.access_end(access, Some(inst.ty));
            }
            Op::Store(access) => {
                self.put(format_args!("store {}{}", atomic(access), volatile(access)));
                self.list(f, names, &inst.args);
                let ty = arg(0).and_then(|v| f.values.get(v)).map(|v| v.ty);
                self.access_end(access, ty);
            }
            Op::Gep { elem, flags } => {
                self.out.push_str("getelementptr ");
                self.gep_flags(*flags);
                self.ty(*elem);
                self.out.push_str(", ");
                self.list(f, names, &inst.args);
            }
            Op::Fence(ordering) => self.put(format_args!("fence {}", words::ordering(*ordering))),
            Op::CmpXchg { success, failure, weak, access } => {
                let weak = if *weak { "weak " } else { "" };
                self.put(format_args!("cmpxchg {weak}{}", volatile(access)));
                self.list(f, names, &inst.args);
                self.put(format_args!(" {}", words::ordering(*success)));
                let rest = Access { ordering: *failure, ..*access };
                self.access_end(&rest, second);
            }
            Op::AtomicRmw(op, access) => {
                self.put(format_args!("atomicrmw {}{} ", volatile(access), words::rmw_op(*op)));
                self.list(f, names, &inst.args);
                self.access_end(access, second);
            }
            _ => self.out.push_str(BAD),
        }
    }

    fn call(&mut self, f: &Func, names: &Names, inst: &Inst, call: &CallInfo, word: &str) {
        if call.tail != TailKind::None {
            self.put(format_args!("{} ", words::tail_kind(call.tail)));
        }
        self.put(format_args!("{word} "));
        self.fast(inst.fast);
        self.out.push_str(&words::convention(call.conv));
        let types = &self.module.ctx.types;
        match (call.sig.index() < types.len()).then(|| &types[call.sig]) {
            Some(Type::Func { ret, variadic: false, .. }) => self.ty(*ret),
            Some(_) => self.ty(call.sig),
            None => self.out.push_str(BAD),
        }
        self.out.push(' ');
        self.value(f, names, inst.args.first().copied());
        self.out.push('(');
        let rest = inst.args.get(1..).unwrap_or(&[]);
        let (args, bundle) = rest.split_at((call.num_args as usize).min(rest.len()));
        self.list(f, names, args);
        let is_variadic = f.sig.index() < types.len() && matches!(types[f.sig], Type::Func { variadic: true, .. });
        if call.tail == TailKind::MustTail && is_variadic {
            // The rest of the caller's arguments goes on.
            self.out.push_str(if args.is_empty() { "..." } else { ", ..." });
        }
        self.out.push(')');
        if !bundle.is_empty() {
            self.out.push_str(" [ \"ignore\"(");
            self.list(f, names, bundle);
            self.out.push_str(") ]");
        }
    }

    fn pad(&mut self, f: &Func, names: &Names, inst: &Inst) {
        match &inst.op {
            Op::LandingPad { cleanup, clauses } => {
                self.out.push_str("landingpad ");
                self.ty(inst.ty);
                if *cleanup {
                    self.out.push_str("\n          cleanup");
                }
                for (i, c) in clauses.iter().enumerate() {
                    self.out.push_str(match c {
                        Clause::Catch => "\n          catch ",
                        Clause::Filter => "\n          filter ",
                    });
                    self.typed(f, names, inst.args.get(i).copied());
                }
            }
            op => {
                self.out.push_str(if matches!(op, Op::CleanupPad) { "cleanuppad" } else { "catchpad" });
                self.out.push_str(" within ");
                self.value(f, names, inst.args.first().copied());
                self.out.push_str(" [");
                self.list(f, names, inst.args.get(1..).unwrap_or(&[]));
                self.out.push(']');
            }
        }
    }

    fn unwind_to(&mut self, names: &Names, to: &Option<BlockId>) {
        self.out.push_str(" unwind ");
        match to {
            Some(b) => self.label(names, *b),
            None => self.out.push_str("to caller"),
        }
    }

    fn terminator(&mut self, f: &Func, names: &Names, inst: &Inst, first: Option<TypeId>) {
        let arg = inst.args.first().copied();
        match &inst.op {
            Op::Ret if inst.args.is_empty() => self.out.push_str("ret void"),
            Op::Ret => {
                self.out.push_str("ret ");
                self.typed(f, names, arg);
            }
            Op::Br(to) => {
                self.out.push_str("br ");
                self.label(names, *to);
            }
            Op::CondBr { then_to, else_to } => {
                self.out.push_str("br ");
                self.typed(f, names, arg);
                self.out.push_str(", ");
                self.labels(names, &[*then_to, *else_to]);
            }
            Op::Switch { default, cases } => {
                self.out.push_str("switch ");
                self.typed(f, names, arg);
                self.out.push_str(", ");
                self.label(names, *default);
                self.out.push_str(" [\n");
                for (c, b) in cases {
                    self.out.push_str("    ");
                    match first {
                        Some(ty) => self.ty(ty),
                        None => self.out.push_str(BAD),
                    }
                    self.out.push(' ');
                    self.constant(*c, 0);
                    self.out.push_str(", ");
                    self.label(names, *b);
                    self.out.push('\n');
                }
                self.out.push_str("  ]");
            }
            Op::IndirectBr(targets) => {
                self.out.push_str("indirectbr ");
                self.typed(f, names, arg);
                self.out.push_str(", [");
                self.labels(names, targets);
                self.out.push(']');
            }
            Op::Invoke { call, normal, unwind } => {
                self.call(f, names, inst, call, "invoke");
                self.out.push_str("\n          to ");
                self.label(names, *normal);
                self.out.push_str(" unwind ");
                self.label(names, *unwind);
            }
            Op::CallBr { call, default, indirect } => {
                self.call(f, names, inst, call, "callbr");
                self.out.push_str("\n          to ");
                self.label(names, *default);
                self.out.push_str(" [");
                self.labels(names, indirect);
                self.out.push(']');
            }
            Op::Resume => {
                self.out.push_str("resume ");
                self.typed(f, names, arg);
            }
            Op::Unreachable => self.out.push_str("unreachable"),
            Op::CleanupRet(to) => {
                self.out.push_str("cleanupret from ");
                self.value(f, names, arg);
                self.unwind_to(names, to);
            }
            Op::CatchRet(to) => {
                self.out.push_str("catchret from ");
                self.value(f, names, arg);
                self.out.push_str(" to ");
                self.label(names, *to);
            }
            Op::CatchSwitch { handlers, unwind } => {
                self.out.push_str("catchswitch within ");
                self.value(f, names, arg);
                self.out.push_str(" [");
                self.labels(names, handlers);
                self.out.push(']');
                self.unwind_to(names, unwind);
            }
            _ => self.out.push_str(BAD),
        }
    }
}
