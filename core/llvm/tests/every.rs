//! Every instruction, type and constant through the mirror and back, compared as LLVM prints them.

#![cfg(feature = "link")]
#![allow(clippy::unwrap_used)]

mod common;

use common::program;
use enzyme_ir::{Builder, Const, Func, FuncId, Linkage, MemClass};
use enzyme_llvm::tools::OwnedModule;

/// A function's text without what export leaves out on purpose: tail markers, profile and loop metadata, assumptions, and
/// without what differs by where the function stands: its own name, linkage, attribute groups.
fn comparable(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|l| !l.contains("@llvm.assume")) {
        let line = line.split(", !prof").next().unwrap_or(line).split(", !llvm.loop").next().unwrap_or(line);
        // The order in which predecessors are listed says nothing.
        let line = line.split("; preds").next().unwrap_or(line).trim_end();
        let line = line.replace("tail call", "call");
        let line = line.split(" #").next().unwrap_or(&line).trim_end_matches(" {").to_owned();
        out.push_str(&line);
        out.push('\n');
    }
    out
}

#[test]
fn instructions_come_back_as_they_were() {
    let mut module = OwnedModule::read(&program("every.ll")).unwrap();
    module.with_session(|session| {
        session.import_module().unwrap();
        let errors = enzyme_ir::verify_module(&session.ir);
        assert!(errors.is_empty(), "{errors:?}");
        let defined: Vec<FuncId> = session.ir.funcs.keys().filter(|f| !session.ir.funcs[*f].is_declaration()).collect();
        assert_eq!(defined.len(), 8);
        for f in defined {
            for with_origin in [true, false] {
                let mut copy = session.ir.funcs[f].clone();
                let name = std::mem::take(&mut copy.name);
                // Operand bundles, inline assembly and attributes of calls need the original.
                if !with_origin && matches!(name.as_str(), "calls" | "windows" | "jumps" | "memory") {
                    continue;
                }
                copy.name = format!("{}.{name}", if with_origin { "copy" } else { "rebuilt" });
                if !with_origin {
                    copy.insts.values_mut().for_each(|i| i.origin = None);
                }
                let copied = copy.name.clone();
                let copy = session.ir.funcs.push(copy);
                session.export_external(&[copy]).unwrap_or_else(|p| panic!("{name}: {p:?}"));
                let original = session.print_llvm(f).unwrap();
                let exported = session.print_llvm(copy).unwrap().replace(&copied, &name);
                let (original, exported) = (comparable(&original), comparable(&exported));
                let difference = original.lines().zip(exported.lines()).find(|(a, b)| a != b && !a.contains("noundef"));
                assert_eq!(difference, None, "{name} {with_origin}\n{exported}");
                assert_eq!(original.lines().count(), exported.lines().count(), "{name}");
            }
        }
        session.verify().unwrap();
    });
}

#[test]
fn constants_and_types_can_be_written_into_a_module_that_has_none_of_them() {
    let mut source = OwnedModule::read(&program("every.ll")).unwrap();
    let (ir, expected) = source.with_session(|session| {
        session.import_module().unwrap();
        (session.ir.clone(), session.print_llvm_module())
    });
    let header =
        "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n";
    let mut module = OwnedModule::parse(header).unwrap();
    module.with_session(|session| {
        session.ir = ir;
        // Addresses of functions and blocks mean those of this module, which has none; they are tested above.
        let skipped = ["function", "block"];
        let ptr = session.ir.ctx.types.ptr();
        let void = session.ir.ctx.types.void();
        let sig = session.ir.ctx.types.func(void, vec![]);
        let mut user = Func::new("user", sig, &[]);
        let entry = user.add_block(None);
        let globals: Vec<_> = session.ir.globals.iter().map(|(g, d)| (g, d.name.clone(), d.space)).collect();
        let mut names = Vec::new();
        for (g, name, space) in globals {
            if skipped.contains(&name.as_str()) {
                continue;
            }
            session.ir.globals[g].linkage = Linkage::External;
            let ty = session.ir.ctx.types.intern(enzyme_ir::Type::Ptr(space));
            let c = session.ir.ctx.consts.intern(Const::Global(g));
            let address = user.constant(c, ty);
            let mut b = Builder::new(&mut session.ir.ctx, &mut user, entry);
            let place = b.alloca(if space == 0 { ptr } else { ty });
            b.store(address, place, 8, MemClass::Unknown);
            names.push(name);
        }
        Builder::new(&mut session.ir.ctx, &mut user, entry).ret(None);
        let user = session.ir.funcs.push(user);
        session.export_external(&[user]).unwrap_or_else(|p| panic!("{p:?}"));
        session.verify().unwrap();
        let text = session.print_llvm_module();
        assert!(names.len() >= 16);
        for name in names {
            let line = |text: &str| text.lines().find(|l| l.starts_with(&format!("@{name} = "))).map(str::to_owned);
            let before = line(&expected).unwrap().replace("private unnamed_addr ", "");
            assert_eq!(line(&text), Some(before));
        }
    });
}
