//! Start and end of a whole program: globals that others define, constructors, `main`, `atexit`.

use super::Interp;
use super::memory::Kind;
use super::trap::Trap;
use super::value::Val;
use crate::consts::Const;

impl Interp<'_> {
    /// Gives a declared global its content, as far as it is known.
    pub(super) fn fill_external_global(&mut self, name: &str, address: u64) -> Result<(), Trap> {
        let stream = match name {
            "stdin" | "__stdinp" => 0,
            "stdout" | "__stdoutp" => 1,
            "stderr" | "__stderrp" => 2,
            _ => return Ok(()),
        };
        let object = self.library.streams.get(stream).copied().unwrap_or(0);
        self.write_u64(address, object)
    }

    /// Runs the functions of a list such as `llvm.global_ctors`, the lowest priority number first.
    fn run_list(&mut self, name: &str) -> Result<(), Trap> {
        let module = self.module;
        let Some(global) = module.find_global(name) else { return Ok(()) };
        let Some(init) = module.globals[global].init else { return Ok(()) };
        let consts = &module.ctx.consts;
        let Const::Aggregate { elems, .. } = &consts[init] else { return Ok(()) };
        let mut list = Vec::new();
        for elem in elems {
            let Const::Aggregate { elems: fields, .. } = &consts[*elem] else { continue };
            let (Some(priority), Some(function)) = (fields.first(), fields.get(1)) else { continue };
            if let Const::Func(function) = consts[*function] {
                list.push((consts.as_u64(*priority).unwrap_or(65_535), function));
            }
        }
        list.sort_by_key(|entry| entry.0);
        for (_, function) in list {
            self.run(function, &[])?;
        }
        Ok(())
    }

    /// Runs the constructors of the module's globals.
    pub fn run_constructors(&mut self) -> Result<(), Trap> {
        self.run_list("llvm.global_ctors")
    }

    /// Runs the program: constructors, `main` with the arguments given (the first is the program's name), what
    /// `atexit` registered. The result is the status that the program exits with. The limit on steps counts for
    /// the whole.
    pub fn run_main(&mut self, args: &[&str]) -> Result<i32, Trap> {
        self.steps_left = self.config.max_steps;
        self.nested += 1;
        let status = self.run_program(args);
        self.nested -= 1;
        status
    }

    fn run_program(&mut self, args: &[&str]) -> Result<i32, Trap> {
        let Some(main) = self.module.find_func("main").filter(|f| !self.module.funcs[*f].is_declaration()) else {
            return Err(Trap::fault("a program without `main`"));
        };
        let (_, params, _) = self.module.signature(main);
        let mut pointers = Vec::new();
        for arg in args {
            let address = self.memory.allocate(arg.len() as u64 + 1, Kind::Internal)?;
            self.write_bytes(address, arg.as_bytes())?;
            pointers.extend(address.to_le_bytes());
        }
        pointers.extend([0u8; 16]);
        let argv = self.memory.allocate(pointers.len() as u64, Kind::Internal)?;
        self.write_bytes(argv, &pointers)?;
        let environment = argv + pointers.len() as u64 - 8;
        let all = [Val::int(args.len() as i64), Val::Ptr(argv), Val::Ptr(environment)];
        let given = all.get(..params.len()).ok_or_else(|| Trap::fault("`main` with more than three parameters"))?;
        let outcome = self.run_constructors().and_then(|()| self.run(main, given));
        let status = match outcome {
            Ok(value) => value.and_then(|v| v.as_i32()).unwrap_or(0),
            Err(Trap::Exit(status)) => status,
            Err(trap) => return Err(trap),
        };
        while let Some((function, arg)) = self.library.at_exit.pop() {
            let given = arg.map(Val::Ptr);
            match self.call_address(function, given.as_slice()) {
                Ok(_) => {}
                Err(Trap::Exit(status)) => return Ok(status),
                Err(trap) => return Err(trap),
            }
        }
        self.run_list("llvm.global_dtors")?;
        Ok(status)
    }
}
