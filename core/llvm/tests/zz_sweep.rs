//! temporary
#![cfg(feature = "link")]
use enzyme_llvm::tools::OwnedModule;
use enzyme_llvm::PrepareOptions;
#[test]
fn sweep() {
    for path in std::env::var("SWEEP").unwrap().split(' ') {
        for prepared in [false, true] {
            let mut module = match OwnedModule::read(path.as_ref()) { Ok(m) => m, Err(e) => { println!("{e}"); continue; } };
            module.with_session(|s| {
                let t = std::time::Instant::now();
                let mut done = 0;
                let mut ids = vec![];
                if !prepared {
                    if let Err(p) = s.import_module() { println!("{path}: import {:?}", &p[..1]); }
                    for e in enzyme_ir::verify_module(&s.ir).iter().take(5) { println!("{path}: verify {e:?}"); }
                } else {
                    let names: Vec<String> = s.print_llvm_module().lines().filter(|l| l.starts_with("define")).map(|l| { let a = l.find('@').unwrap(); let l = &l[a+1..]; let l = l.trim_start_matches('"'); l[..l.find(['(', '"']).unwrap()].to_owned() }).collect();
                    for n in names { let Some(f) = s.find_function(&n) else { println!("{path}: no {n}"); continue }; if !s.has_body(f) { continue; } if let Err(p) = s.define_body(f, &PrepareOptions::default()) { println!("{path}: {n} {p:?}"); }
                      for e in enzyme_ir::verify(&s.ir, &s.ir.funcs[f]).iter().take(3) { println!("{path}: verify {n} {e:?}"); } }
                }
                for f in s.ir.funcs.keys().collect::<Vec<_>>() {
                    if s.ir.funcs[f].is_declaration() { continue; }
                    let mut c = s.ir.funcs[f].clone(); c.name = format!("copy.{}", c.name);
                    let c = s.ir.funcs.push(c);
                    if let Err(p) = s.export(&[c]) { println!("{path}: export {p:?}"); } else { done += 1; ids.push(c); }
                }
                if let Err(p) = s.verify() { println!("{path}: VERIFY {p}"); }
                s.optimise(&ids, enzyme_llvm::Level{speed:2,size:0});
                s.finish(&[]);
                if let Err(p) = s.verify() { println!("{path}: VERIFY2 {p}"); }
                println!("{path} {prepared}: {done} functions {:?}", t.elapsed());
            });
        }
    }
}
