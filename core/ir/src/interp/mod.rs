//! The interpreter: runs any module as native code would, and checks every access.
//!
//! It is the second engine of the tests: what it computes must agree with compiled code, and what is undefined
//! must end in a [`Trap`] with its place instead of passing unseen. A function is decoded once into a compact form
//! (`code`) over a frame of 64-bit registers (`shape`); calls push frames on a stack of their own, so that deep
//! recursion of the program is no recursion of the interpreter. Memory is made of separate objects (`memory`).
//!
//! * Integers up to 128 bits are exact; wider ones can be moved, loaded and stored only.
//! * Floats of every format are exact (`floats`), functions of `<math.h>` as `math` says.
//! * Poison and undefined values read as zero, fresh memory as [`Config::uninit_byte`].
//! * Atomic operations are plain ones: there is one thread. Scalable vectors have `vscale` = 1.
//! * External functions: those of C and C++ run-time libraries that numeric programs use, and what
//!   [`Interp::register`] adds. Output is kept, not printed.
//! * Not handled: unwinding, inline assembly, `va_arg` instructions (compiled C does not contain them), structures in memory among variable arguments, big-endian
//!   layouts, pointers of other than 64 bits.

mod arith;
mod cast;
mod code;
mod constant;
mod decimal;
mod decode;
mod decode_call;
mod decode_inst;
mod exec;
mod exec_slow;
mod external;
mod floats;
mod format;
mod intrinsics;
mod intrinsics_memory;
mod math;
mod memory;
mod shape;
mod start;
mod trap;
mod value;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::rc::Rc;

use code::Compiled;
use exec::Frame;
use external::HostEntry;
use memory::{Kind, Memory};
use shape::Shapes;

use crate::ids::{FuncId, GlobalId};
use crate::module::Module;
use crate::types::Type;

pub use external::Extern;
pub use trap::{Place, Trap};
pub use value::Val;

/// Limits and choices.
#[derive(Clone, Debug)]
pub struct Config {
    /// Steps of one run, roughly instructions (vector operations count once per lane).
    pub max_steps: u64,
    /// Bytes of memory, frames included.
    pub max_bytes: u64,
    /// Nested calls.
    pub max_depth: usize,
    /// Bytes of output kept.
    pub max_output: usize,
    /// What fresh stack and heap memory holds; another value than zero shows use of uninitialised memory.
    pub uninit_byte: u8,
    /// `llvm.fmuladd` rounds once, as on processors where it is compiled to a fused operation.
    pub fuse_multiply_add: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            max_steps: 20_000_000_000,
            max_bytes: 4 << 30,
            max_depth: 1_000_000,
            max_output: 64 << 20,
            uninit_byte: 0,
            fuse_multiply_add: false,
        }
    }
}

/// Most callbacks of external functions (`qsort`) inside one another.
const MAX_NESTED: usize = 32;

/// A module being run: its memory, its output, and the functions decoded so far.
pub struct Interp<'m> {
    module: &'m Module,
    config: Config,
    shapes: Shapes<'m>,
    memory: Memory,
    functions: Vec<u64>,
    globals: Vec<u64>,
    compiled: Vec<Option<Rc<Compiled>>>,
    registered: HashMap<String, Extern>,
    hosts: Vec<HostEntry>,
    host_names: HashMap<String, u32>,
    frames: Vec<Frame>,
    spare: Vec<Vec<u64>>,
    frame_words: u64,
    /// Stack objects of all frames.
    stack: Vec<u64>,
    steps_left: u64,
    nested: usize,
    library: external::Library,
}

impl<'m> Interp<'m> {
    /// Lays out the globals of a module.
    pub fn new(module: &'m Module, config: Config) -> Result<Interp<'m>, Trap> {
        if module.ctx.layout.big_endian {
            return Err(Trap::unsupported("big-endian memory"));
        }
        let mut interp = Interp {
            module,
            shapes: Shapes::new(module),
            memory: Memory::new(config.max_bytes, config.uninit_byte),
            functions: Vec::new(),
            globals: Vec::new(),
            compiled: vec![None; module.funcs.len()],
            registered: HashMap::new(),
            hosts: Vec::new(),
            host_names: HashMap::new(),
            frames: Vec::new(),
            spare: Vec::new(),
            frame_words: 0,
            stack: Vec::new(),
            steps_left: config.max_steps,
            nested: 0,
            library: external::Library::default(),
            config,
        };
        for (id, _) in module.funcs.iter() {
            let address = interp.memory.allocate(0, Kind::Function(id))?;
            interp.functions.push(address);
        }
        interp.open_streams()?;
        for (_, global) in module.globals.iter() {
            // A declaration may have a type without size; then only its address matters.
            let size = match interp.shapes.ty(global.ty) {
                Type::Struct(s) if s.fields.is_none() => 0,
                _ => interp.shapes.size_of(global.ty)?,
            };
            let size = if global.init.is_none() { size.max(64) } else { size };
            let address = interp.memory.allocate(size, Kind::Global)?;
            interp.globals.push(address);
        }
        for (id, global) in module.globals.iter() {
            let address = interp.global_address(id);
            match global.init {
                Some(init) => interp.write_const(address, init, global.ty, 0)?,
                None => interp.fill_external_global(&global.name, address)?,
            }
            if global.constant {
                interp.memory.seal(address);
            }
        }
        Ok(interp)
    }

    /// The module being run.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Calls a function. A limit on steps counts from here.
    pub fn run(&mut self, func: FuncId, args: &[Val]) -> Result<Option<Val>, Trap> {
        if self.nested == 0 {
            self.steps_left = self.config.max_steps;
        }
        if self.nested >= MAX_NESTED {
            return Err(Trap::limit("callbacks inside one another"));
        }
        let (ret, params, variadic) = self.module.signature(func);
        if args.len() < params.len() || (args.len() > params.len() && !variadic) {
            return Err(Trap::fault(format!("{} arguments for {} parameters", args.len(), params.len())));
        }
        let code = self.compiled(func)?;
        let mut words = Vec::with_capacity(code.words);
        for (arg, ty) in args.iter().zip(&params) {
            self.shapes.push_words(arg, *ty, &mut words)?;
        }
        let varargs = args.get(params.len()..).unwrap_or(&[]).to_vec();
        self.nested += 1;
        let result = self.run_to_end(code, words, varargs);
        self.nested -= 1;
        let words = result?;
        match self.shapes.ty(ret) {
            Type::Void => Ok(None),
            _ => self.shapes.take_value(ret, &mut words.as_slice()).map(Some),
        }
    }

    /// Calls the function at an address.
    pub fn call_address(&mut self, address: u64, args: &[Val]) -> Result<Option<Val>, Trap> {
        match self.memory.function_at(address) {
            Some(func) => self.run(func, args),
            None => Err(Trap::fault(format!("a call of {address:#x}, which is no function"))),
        }
    }

    /// Makes `name` callable where the module only declares it; goes before what the interpreter knows itself.
    pub fn register<F>(&mut self, name: impl Into<String>, function: F)
    where
        F: for<'a> Fn(&mut Interp<'a>, &[Val]) -> Result<Option<Val>, Trap> + 'static,
    {
        let name = name.into();
        self.host_names.remove(&name);
        self.registered.insert(name, Rc::new(function));
        self.compiled.fill(None);
    }

    /// The address of a function.
    pub fn function_address(&self, func: FuncId) -> u64 {
        self.functions.get(func.as_u32() as usize).copied().unwrap_or(0)
    }

    /// The address of a global variable.
    pub fn global_address(&self, global: GlobalId) -> u64 {
        self.globals.get(global.as_u32() as usize).copied().unwrap_or(0)
    }

    /// What the program wrote to standard output.
    pub fn output(&self) -> String {
        String::from_utf8_lossy(&self.library.output).into_owned()
    }

    /// What the program wrote to standard error.
    pub fn error_output(&self) -> String {
        String::from_utf8_lossy(&self.library.errors).into_owned()
    }

    /// Steps taken since the last [`Interp::run`] began.
    pub fn steps(&self) -> u64 {
        self.config.max_steps - self.steps_left
    }

    /// Heap objects that the program has not freed.
    pub fn live_heap_allocations(&self) -> usize {
        self.memory.live_heap()
    }

    /// Zeroed memory that lives as long as the interpreter and counts as no heap object.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, Trap> {
        self.memory.allocate(bytes, Kind::Internal)
    }

    /// Fresh memory that holds `values`.
    pub fn alloc_f64s(&mut self, values: &[f64]) -> Result<u64, Trap> {
        let address = self.alloc(values.len() as u64 * 8)?;
        self.write_f64s(address, values)?;
        Ok(address)
    }

    /// Reads bytes.
    pub fn read_bytes(&self, address: u64, len: usize) -> Result<Vec<u8>, Trap> {
        self.memory.bytes(address, len).map(<[u8]>::to_vec)
    }

    /// Writes bytes.
    pub fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), Trap> {
        self.memory.bytes_mut(address, bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    /// Reads `double`s.
    pub fn read_f64s(&self, address: u64, count: usize) -> Result<Vec<f64>, Trap> {
        let bytes = self.memory.bytes(address, count.saturating_mul(8))?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
    }

    /// Writes `double`s.
    pub fn write_f64s(&mut self, address: u64, values: &[f64]) -> Result<(), Trap> {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.write_bytes(address, &bytes)
    }

    /// Reads `float`s.
    pub fn read_f32s(&self, address: u64, count: usize) -> Result<Vec<f32>, Trap> {
        let bytes = self.memory.bytes(address, count.saturating_mul(4))?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
    }

    /// Writes `float`s.
    pub fn write_f32s(&mut self, address: u64, values: &[f32]) -> Result<(), Trap> {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.write_bytes(address, &bytes)
    }

    /// Reads an integer of `N` bytes, least significant first.
    pub fn read_u64(&self, address: u64) -> Result<u64, Trap> {
        self.memory.load::<8>(address).map(u64::from_le_bytes)
    }

    /// Writes a 64-bit integer or pointer.
    pub fn write_u64(&mut self, address: u64, value: u64) -> Result<(), Trap> {
        self.memory.store(address, value.to_le_bytes())
    }

    /// Reads a 32-bit integer.
    pub fn read_u32(&self, address: u64) -> Result<u32, Trap> {
        self.memory.load::<4>(address).map(u32::from_le_bytes)
    }

    /// Writes a 32-bit integer.
    pub fn write_u32(&mut self, address: u64, value: u32) -> Result<(), Trap> {
        self.memory.store(address, value.to_le_bytes())
    }
}
