//! The loop that runs decoded functions.
//!
//! The innermost frame is held outside of the interpreter while it runs, so that a step may use both. A register
//! number that malformed code makes too large reads as zero and is not written.

use std::rc::Rc;

use super::code::{Call, Code, Compiled, Reg, Target};
use super::memory::Kind;
use super::shape::{join, scalar_value};
use super::trap::{Place, Trap};
use super::value::Val;
use super::{Interp, arith, floats};
use crate::ids::FuncId;
use crate::op::{FloatPred, IntPred};

/// A function call in progress.
pub(super) struct Frame {
    pub code: Rc<Compiled>,
    pub regs: Vec<u64>,
    /// The next step.
    pub pc: usize,
    /// Where the caller wants the result, and how much of it.
    pub d: Reg,
    pub ret_words: u32,
    /// Stack objects of the callers.
    pub stack_mark: usize,
    /// Arguments beyond the parameters.
    pub varargs: Vec<Val>,
}

/// Why the steps of a frame end for now.
enum Event {
    Call,
    Return { a: Reg, n: u32 },
}

/// Registers kept for reuse.
const SPARE_FRAMES: usize = 64;

#[inline]
fn mask(sh: u8) -> u64 {
    u64::MAX >> (sh & 63)
}

#[inline]
fn signed(value: u64, sh: u8) -> i64 {
    ((value << (sh & 63)) as i64) >> (sh & 63)
}

#[inline]
fn compare(pred: IntPred, a: u64, b: u64, sh: u8) -> bool {
    let (x, y) = ((a << (sh & 63)) as i64, (b << (sh & 63)) as i64);
    match pred {
        IntPred::Eq => a == b,
        IntPred::Ne => a != b,
        IntPred::Ugt => a > b,
        IntPred::Uge => a >= b,
        IntPred::Ult => a < b,
        IntPred::Ule => a <= b,
        IntPred::Sgt => x > y,
        IntPred::Sge => x >= y,
        IntPred::Slt => x < y,
        IntPred::Sle => x <= y,
    }
}

#[inline]
fn compare_f64(pred: FloatPred, x: f64, y: f64) -> bool {
    let unordered = x.is_nan() || y.is_nan();
    match pred {
        FloatPred::False => false,
        FloatPred::Oeq => x == y,
        FloatPred::Ogt => x > y,
        FloatPred::Oge => x >= y,
        FloatPred::Olt => x < y,
        FloatPred::Ole => x <= y,
        FloatPred::One => !unordered && x != y,
        FloatPred::Ord => !unordered,
        FloatPred::Uno => unordered,
        FloatPred::Ueq => unordered || x == y,
        FloatPred::Ugt => unordered || x > y,
        FloatPred::Uge => unordered || x >= y,
        FloatPred::Ult => unordered || x < y,
        FloatPred::Ule => unordered || x <= y,
        FloatPred::Une => unordered || x != y,
        FloatPred::True => true,
    }
}

/// One or two registers as a number.
#[inline]
pub(super) fn read(regs: &[u64], reg: Reg, bits: u32) -> u128 {
    let low = u128::from(regs.get(reg as usize).copied().unwrap_or(0));
    if bits <= 64 { low } else { low | (u128::from(regs.get(reg as usize + 1).copied().unwrap_or(0)) << 64) }
}

/// Writes one or two registers.
#[inline]
pub(super) fn write(regs: &mut [u64], reg: Reg, bits: u32, value: u128) {
    if let Some(low) = regs.get_mut(reg as usize) {
        *low = value as u64;
    }
    if bits > 64
        && let Some(high) = regs.get_mut(reg as usize + 1)
    {
        *high = (value >> 64) as u64;
    }
}

/// Copies `n` registers.
#[inline]
pub(super) fn copy_regs(regs: &mut [u64], d: Reg, a: Reg, n: u32) {
    let (d, a, n) = (d as usize, a as usize, n as usize);
    if a.saturating_add(n) <= regs.len() && d.saturating_add(n) <= regs.len() {
        regs.copy_within(a..a + n, d);
    }
}

impl Interp<'_> {
    /// The decoded form of a function.
    pub(super) fn compiled(&mut self, id: FuncId) -> Result<Rc<Compiled>, Trap> {
        let index = id.as_u32() as usize;
        if let Some(Some(code)) = self.compiled.get(index) {
            return Ok(Rc::clone(code));
        }
        let code = self.compile(id)?;
        if let Some(slot) = self.compiled.get_mut(index) {
            *slot = Some(Rc::clone(&code));
        }
        Ok(code)
    }

    /// Runs a function to its return; `words` are its parameters.
    pub(super) fn run_to_end(
        &mut self,
        code: Rc<Compiled>,
        words: Vec<u64>,
        varargs: Vec<Val>,
    ) -> Result<Vec<u64>, Trap> {
        let (floor, stack_mark, frame_words) = (self.frames.len(), self.stack.len(), self.frame_words);
        let result = self.enter(code, words, 0, u32::MAX, varargs).and_then(|frame| self.run_frames(frame, floor));
        if result.is_err() {
            self.frames.truncate(floor);
            self.release_stack(stack_mark);
            self.frame_words = frame_words;
        }
        result
    }

    /// A frame whose registers begin with the parameters in `regs`.
    fn enter(
        &mut self,
        code: Rc<Compiled>,
        mut regs: Vec<u64>,
        d: Reg,
        ret_words: u32,
        varargs: Vec<Val>,
    ) -> Result<Frame, Trap> {
        if self.frames.len() >= self.config.max_depth {
            return Err(Trap::limit(format!("{} nested calls", self.frames.len())));
        }
        self.frame_words += code.words as u64;
        if self.frame_words.saturating_mul(8) > self.config.max_bytes {
            return Err(Trap::limit(format!("memory of frames: {} nested calls", self.frames.len())));
        }
        regs.resize(code.param_words, 0);
        regs.extend_from_slice(&code.constants);
        regs.resize(code.words, 0);
        let stack_mark = self.stack.len();
        let mut at = 0usize;
        for param in &code.params {
            if let Some(size) = param.byval
                && let Some(reg) = regs.get_mut(at)
            {
                let copy = self.memory.allocate(size, Kind::Stack)?;
                self.stack.push(copy);
                self.memory.copy(copy, *reg, size)?;
                *reg = copy;
            }
            at += param.words as usize;
        }
        Ok(Frame { code, regs, pc: 0, d, ret_words, stack_mark, varargs })
    }

    /// Frees stack objects until `mark` are left.
    pub(super) fn release_stack(&mut self, mark: usize) {
        while self.stack.len() > mark {
            if let Some(address) = self.stack.pop() {
                // It was allocated by `alloca` and by nobody freed, since `free` refuses stack objects.
                let _ = self.memory.release(address, Kind::Stack);
            }
        }
    }

    fn run_frames(&mut self, first: Frame, floor: usize) -> Result<Vec<u64>, Trap> {
        let mut frame = first;
        loop {
            match self.steps_of(&mut frame) {
                Ok(Event::Return { a, n }) => {
                    self.release_stack(frame.stack_mark);
                    self.frame_words -= frame.code.words as u64;
                    let result = frame.regs.get(a as usize..a as usize + n as usize).unwrap_or(&[]);
                    if self.frames.len() == floor {
                        return Ok(result.to_vec());
                    }
                    let Some(mut caller) = self.frames.pop() else { return Ok(result.to_vec()) };
                    for (i, word) in result.iter().take(frame.ret_words as usize).enumerate() {
                        if let Some(reg) = caller.regs.get_mut(frame.d as usize + i) {
                            *reg = *word;
                        }
                    }
                    if self.spare.len() < SPARE_FRAMES {
                        frame.regs.clear();
                        self.spare.push(std::mem::take(&mut frame.regs));
                    }
                    frame = caller;
                }
                Ok(Event::Call) => {
                    let code = Rc::clone(&frame.code);
                    let Some(Code::Call(call)) = code.code.get(frame.pc.wrapping_sub(1)) else {
                        return Err(Trap::fault("a call that is none"));
                    };
                    match self.enter_call(call, &frame.regs) {
                        Ok(callee) => self.frames.push(std::mem::replace(&mut frame, callee)),
                        Err(trap) => return Err(self.place_trap(trap, &frame)),
                    }
                }
                Err(trap) => return Err(self.place_trap(trap, &frame)),
            }
        }
    }

    fn place_trap(&self, trap: Trap, frame: &Frame) -> Trap {
        trap.with_place(|| {
            let func = self.module.funcs.get(frame.code.id);
            let id = frame.code.insts.get(frame.pc.saturating_sub(1)).copied().flatten();
            let inst = id.and_then(|i| func?.insts.get(i));
            let op = inst.map(|i| format!("{:?}", i.op)).unwrap_or_default();
            let op = op.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned();
            let source = inst.and_then(|i| i.loc).filter(|l| self.module.locs.get(*l).is_some());
            let name = |f: &Frame| self.module.funcs.get(f.code.id).map(|f| f.name.clone()).unwrap_or_default();
            Place {
                func: name(frame),
                inst: id,
                op,
                source: source.map(|l| self.module.describe_loc(l)),
                callers: self.frames.iter().rev().take(8).map(name).collect(),
            }
        })
    }

    fn enter_call(&mut self, call: &Call, regs: &[u64]) -> Result<Frame, Trap> {
        let id = match call.target {
            Target::Func(id) => id,
            Target::Address(reg) => {
                let address = regs.get(reg as usize).copied().unwrap_or(0);
                let found = self.memory.function_at(address);
                found.ok_or_else(|| Trap::fault(format!("a call of {address:#x}, which is no function")))?
            }
        };
        let code = self.compiled(id)?;
        if call.args.len() < code.params.len() {
            return Err(Trap::fault(format!(
                "a call with {} arguments of a function with {} parameters",
                call.args.len(),
                code.params.len()
            )));
        }
        if call.words > code.ret_words {
            return Err(Trap::fault("a call that wants a result of another size than the function returns"));
        }
        let mut words = self.spare.pop().unwrap_or_default();
        let mut varargs = Vec::new();
        for (i, arg) in call.args.iter().enumerate() {
            let part = regs.get(arg.reg as usize..(arg.reg + arg.words) as usize).unwrap_or(&[]);
            match code.params.get(i) {
                Some(param) if param.words != arg.words => {
                    return Err(Trap::fault(format!("a call whose argument {i} has another size than the parameter")));
                }
                Some(_) => words.extend_from_slice(part),
                None if code.variadic => varargs.push(match arg.scalar {
                    Some(scalar) => scalar_value(scalar, part),
                    None => self.shapes.take_value(arg.ty, &mut &*part)?,
                }),
                None => {}
            }
        }
        self.enter(code, words, call.d, call.words, varargs)
    }

    /// Runs a frame until it calls or returns.
    fn steps_of(&mut self, frame: &mut Frame) -> Result<Event, Trap> {
        let code = Rc::clone(&frame.code);
        let steps = code.code.as_slice();
        let mut pc = frame.pc;
        let mut left = self.steps_left;
        macro_rules! get {
            ($r:expr) => {
                frame.regs.get(*$r as usize).copied().unwrap_or(0)
            };
        }
        macro_rules! float {
            ($r:expr) => {
                f64::from_bits(get!($r))
            };
        }
        macro_rules! set {
            ($d:expr, $value:expr) => {{
                let value: u64 = $value;
                if let Some(reg) = frame.regs.get_mut(*$d as usize) {
                    *reg = value;
                }
            }};
        }
        macro_rules! check {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(trap) => {
                        frame.pc = pc;
                        self.steps_left = left;
                        return Err(trap);
                    }
                }
            };
        }
        loop {
            let Some(step) = steps.get(pc) else {
                frame.pc = pc;
                return Err(Trap::fault("the end of a function without a return"));
            };
            pc += 1;
            if left == 0 {
                check!(Err(Trap::limit(format!("{} steps", self.config.max_steps))));
            }
            left -= 1;
            match step {
                Code::Mov { d, a } => set!(d, get!(a)),
                Code::MovN { d, a, n } => copy_regs(&mut frame.regs, *d, *a, *n),
                Code::Set { d, value } => set!(d, *value),
                Code::Jump(to) => pc = *to as usize,
                Code::CondBr { c, then_to, else_to } => {
                    pc = if get!(c) & 1 == 1 { *then_to } else { *else_to } as usize;
                }
                Code::Switch(switch) => {
                    let regs = frame.regs.get(switch.value as usize..(switch.value + switch.words) as usize);
                    let value = join(regs.unwrap_or(&[]));
                    let found = switch.cases.binary_search_by_key(&value, |c| c.0).ok();
                    let target = found.and_then(|i| switch.cases.get(i)).map_or(switch.default, |c| c.1);
                    pc = target as usize;
                }
                Code::Ret { a, n } => {
                    frame.pc = pc;
                    self.steps_left = left;
                    return Ok(Event::Return { a: *a, n: *n });
                }
                Code::Call(_) => {
                    frame.pc = pc;
                    self.steps_left = left;
                    return Ok(Event::Call);
                }
                Code::Trap(trap) => check!(Err((**trap).clone())),

                Code::Add { d, a, b, sh } => set!(d, get!(a).wrapping_add(get!(b)) & mask(*sh)),
                Code::Sub { d, a, b, sh } => set!(d, get!(a).wrapping_sub(get!(b)) & mask(*sh)),
                Code::Mul { d, a, b, sh } => set!(d, get!(a).wrapping_mul(get!(b)) & mask(*sh)),
                Code::And { d, a, b } => set!(d, get!(a) & get!(b)),
                Code::Or { d, a, b } => set!(d, get!(a) | get!(b)),
                Code::Xor { d, a, b } => set!(d, get!(a) ^ get!(b)),
                Code::Shl { d, a, b, sh } => {
                    let by = get!(b);
                    set!(d, if by < 64 { (get!(a) << by) & mask(*sh) } else { 0 });
                }
                Code::LShr { d, a, b } => {
                    let by = get!(b);
                    set!(d, if by < 64 { get!(a) >> by } else { 0 });
                }
                Code::AShr { d, a, b, sh } => {
                    let by = get!(b).min(63);
                    set!(d, (signed(get!(a), *sh) >> by) as u64 & mask(*sh));
                }
                Code::Int { op, bits, d, a, b } => {
                    let bits = u32::from(*bits);
                    let (x, y) = (read(&frame.regs, *a, bits), read(&frame.regs, *b, bits));
                    let value = check!(arith::binary(*op, bits, x, y).map_err(Trap::fault));
                    write(&mut frame.regs, *d, bits, value);
                }
                Code::ICmp { pred, d, a, b, sh } => set!(d, u64::from(compare(*pred, get!(a), get!(b), *sh))),
                Code::ICmpWide { pred, bits, d, a, b } => {
                    let bits = u32::from(*bits);
                    let (x, y) = (read(&frame.regs, *a, bits), read(&frame.regs, *b, bits));
                    set!(d, u64::from(arith::compare(*pred, bits, x, y)));
                }

                Code::FAdd64 { d, a, b } => set!(d, (float!(a) + float!(b)).to_bits()),
                Code::FSub64 { d, a, b } => set!(d, (float!(a) - float!(b)).to_bits()),
                Code::FMul64 { d, a, b } => set!(d, (float!(a) * float!(b)).to_bits()),
                Code::FDiv64 { d, a, b } => set!(d, (float!(a) / float!(b)).to_bits()),
                Code::FNeg64 { d, a } => set!(d, get!(a) ^ (1 << 63)),
                Code::FMulAdd64 { d, a, b, c } => set!(d, (float!(a) * float!(b) + float!(c)).to_bits()),
                Code::FCmp64 { pred, d, a, b } => set!(d, u64::from(compare_f64(*pred, float!(a), float!(b)))),
                Code::Float { op, kind, d, a, b } => {
                    let (x, y) = (read(&frame.regs, *a, kind.bits()), read(&frame.regs, *b, kind.bits()));
                    write(&mut frame.regs, *d, kind.bits(), floats::binary(*kind, *op, x, y));
                }
                Code::Math1 { kind: crate::FloatKind::Double, d, a, f } => set!(d, (f.double)(float!(a)).to_bits()),
                Code::Math2 { kind: crate::FloatKind::Double, d, a, b, f } => {
                    set!(d, (f.double)(float!(a), float!(b)).to_bits());
                }
                Code::ZExt { d, a, sh } => set!(d, get!(a) & mask(*sh)),
                Code::SExt { d, a, from_sh, to_sh } => set!(d, signed(get!(a), *from_sh) as u64 & mask(*to_sh)),
                Code::SToF64 { d, a, sh } => set!(d, (signed(get!(a), *sh) as f64).to_bits()),
                Code::Select { d, c, a, b } => set!(d, if get!(c) & 1 == 1 { get!(a) } else { get!(b) }),

                Code::Load8 { d, a } => set!(d, u64::from_le_bytes(check!(self.memory.load::<8>(get!(a))))),
                Code::Load4 { d, a } => {
                    set!(d, u64::from(u32::from_le_bytes(check!(self.memory.load::<4>(get!(a))))));
                }
                Code::Load1 { d, a, sh } => {
                    let [byte] = check!(self.memory.load::<1>(get!(a)));
                    set!(d, u64::from(byte) & mask(*sh));
                }
                Code::Store8 { a, v } => check!(self.memory.store(get!(a), get!(v).to_le_bytes())),
                Code::Store4 { a, v } => check!(self.memory.store(get!(a), (get!(v) as u32).to_le_bytes())),
                Code::Store1 { a, v } => check!(self.memory.store(get!(a), [get!(v) as u8])),
                Code::Offset { d, a, by } => set!(d, get!(a).wrapping_add_signed(*by)),
                Code::Index { d, a, i, scale, by, sh } => {
                    let index = signed(get!(i), *sh).wrapping_mul(i64::from(*scale)).wrapping_add(i64::from(*by));
                    set!(d, get!(a).wrapping_add_signed(index));
                }
                Code::Alloca { d, count, size } => {
                    let size = get!(count).saturating_mul(*size);
                    let address = check!(self.memory.allocate(size, Kind::Stack));
                    self.stack.push(address);
                    set!(d, address);
                }
                Code::Host(host) => {
                    frame.pc = pc;
                    self.steps_left = left;
                    let result = self.host(host, frame);
                    left = self.steps_left;
                    check!(result);
                }
                rare => check!(self.rare_step(rare, frame)),
            }
        }
    }
}
