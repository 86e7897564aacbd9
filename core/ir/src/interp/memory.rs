//! Byte-addressed memory, checked at every access.
//!
//! Each object lives alone. Its address holds, from the top: three bits of generation, 21 bits of slot, 28 bits of
//! offset: 52 bits, as many as addresses of machines have at most. An address thus leads to its object in one step, every object starts aligned
//! to 256 MiB, address arithmetic that leaves an object and comes back is harmless, and an access outside, or to an object that is gone,
//! is noticed. Slots are used again in turn, only after many others were freed, and then under a new generation,
//! so that a stale pointer misses even then (until the generation has gone round).
//!
//! Slot 0 is never used: null and small integers are no addresses.

use std::collections::VecDeque;

use super::trap::Trap;
use crate::ids::FuncId;

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Gone, or never used.
    Free,
    /// Until its function returns.
    Stack,
    /// Until it is freed.
    Heap,
    /// A global variable.
    Global,
    /// A global that may not be written.
    Constant,
    /// A function: has an address but no bytes.
    Function(FuncId),
    /// Made by the interpreter for itself (standard streams).
    Internal,
}

#[derive(Debug)]
struct Slot {
    /// The upper half of a valid address; no address has the mark of a free slot.
    tag: u64,
    generation: u8,
    kind: Kind,
    data: Vec<u8>,
}

const FREE_TAG: u64 = 1 << 63;
const OFFSET_BITS: u32 = 28;
const SLOT_BITS: u32 = 21;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
const GENERATIONS: u8 = 1 << 3;
/// Freed slots that rest before the first of them is used again.
const HEAP_REST: usize = 1 << 16;
const STACK_REST: usize = 1 << 12;
/// Freed slots keep buffers up to this size, to save the system's allocator the work.
const KEPT_CAPACITY: usize = 256;

/// Where in its object an address leads to.
#[inline]
fn offset_of(addr: u64) -> usize {
    (addr & ((1 << OFFSET_BITS) - 1)) as usize
}

/// All objects.
pub(super) struct Memory {
    slots: Vec<Slot>,
    resting_stack: VecDeque<u32>,
    resting_heap: VecDeque<u32>,
    live_bytes: u64,
    max_bytes: u64,
    fill: u8,
    live_heap: usize,
}

impl Memory {
    /// Empty memory; `fill` is what fresh stack and heap bytes hold.
    pub fn new(max_bytes: u64, fill: u8) -> Memory {
        let null = Slot { tag: FREE_TAG, generation: 0, kind: Kind::Free, data: Vec::new() };
        Memory {
            slots: vec![null],
            resting_stack: VecDeque::new(),
            resting_heap: VecDeque::new(),
            live_bytes: 0,
            max_bytes,
            fill,
            live_heap: 0,
        }
    }

    /// Heap objects that were not freed.
    pub fn live_heap(&self) -> usize {
        self.live_heap
    }

    /// A new object; the address of its first byte.
    pub fn allocate(&mut self, size: u64, kind: Kind) -> Result<u64, Trap> {
        let total = self.live_bytes.saturating_add(size);
        if total > self.max_bytes || size >= 1 << OFFSET_BITS {
            return Err(Trap::limit(format!("memory: {size} more bytes wanted, {} in use", self.live_bytes)));
        }
        let queue = if kind == Kind::Stack { &mut self.resting_stack } else { &mut self.resting_heap };
        let rest = if kind == Kind::Stack { STACK_REST } else { HEAP_REST };
        let index = if queue.len() > rest { queue.pop_front() } else { None };
        let index = match index {
            Some(index) => index,
            None if self.slots.len() > SLOT_MASK as usize => return Err(Trap::limit("number of objects in memory")),
            None => {
                self.slots.push(Slot { tag: FREE_TAG, generation: 0, kind: Kind::Free, data: Vec::new() });
                self.slots.len() as u32 - 1
            }
        };
        let fill = if matches!(kind, Kind::Stack | Kind::Heap) { self.fill } else { 0 };
        let Some(slot) = self.slots.get_mut(index as usize) else { return Err(Trap::limit("objects in memory")) };
        slot.generation = (slot.generation + 1) % GENERATIONS;
        slot.tag = (u64::from(slot.generation) << SLOT_BITS) | u64::from(index);
        slot.kind = kind;
        if slot.data.capacity() < size as usize {
            slot.data = vec![fill; size as usize];
        } else {
            slot.data.clear();
            slot.data.resize(size as usize, fill);
        }
        self.live_bytes = total;
        self.live_heap += usize::from(kind == Kind::Heap);
        Ok(slot.tag << OFFSET_BITS)
    }

    #[inline]
    fn slot(&self, addr: u64) -> Option<&Slot> {
        let tag = addr >> OFFSET_BITS;
        self.slots.get((tag & SLOT_MASK) as usize).filter(|s| s.tag == tag)
    }

    #[inline]
    fn slot_mut(&mut self, addr: u64) -> Option<&mut Slot> {
        let tag = addr >> OFFSET_BITS;
        self.slots.get_mut((tag & SLOT_MASK) as usize).filter(|s| s.tag == tag)
    }

    /// Ends an object; the address must be that of its first byte.
    pub fn release(&mut self, addr: u64, kind: Kind) -> Result<(), Trap> {
        let Some(slot) = self.slot_mut(addr).filter(|s| s.kind == kind && offset_of(addr) == 0) else {
            return Err(self.explain_free(addr));
        };
        let size = slot.data.len() as u64;
        slot.tag = FREE_TAG;
        slot.kind = Kind::Free;
        slot.data.clear();
        if slot.data.capacity() > KEPT_CAPACITY {
            slot.data = Vec::new();
        }
        self.live_bytes -= size;
        let index = ((addr >> OFFSET_BITS) & SLOT_MASK) as u32;
        if kind == Kind::Stack {
            self.resting_stack.push_back(index);
        } else {
            self.live_heap -= usize::from(kind == Kind::Heap);
            self.resting_heap.push_back(index);
        }
        Ok(())
    }

    /// Size of the object that `addr` is the start of, if it is a live one of `kind`.
    pub fn size_at(&self, addr: u64, kind: Kind) -> Result<u64, Trap> {
        match self.slot(addr).filter(|s| s.kind == kind && offset_of(addr) == 0) {
            Some(slot) => Ok(slot.data.len() as u64),
            None => Err(self.explain_free(addr)),
        }
    }

    /// Bytes from `addr` to the end of its object.
    pub fn rest_at(&self, addr: u64) -> Option<u64> {
        let slot = self.slot(addr)?;
        (slot.data.len() as u64).checked_sub(offset_of(addr) as u64)
    }

    /// The function whose address this is.
    pub fn function_at(&self, addr: u64) -> Option<FuncId> {
        match self.slot(addr)?.kind {
            Kind::Function(f) if offset_of(addr) == 0 => Some(f),
            _ => None,
        }
    }

    /// Makes a global read-only.
    pub fn seal(&mut self, addr: u64) {
        if let Some(slot) = self.slot_mut(addr)
            && slot.kind == Kind::Global
        {
            slot.kind = Kind::Constant;
        }
    }

    /// `len` bytes to read.
    #[inline]
    pub fn bytes(&self, addr: u64, len: usize) -> Result<&[u8], Trap> {
        let tag = addr >> OFFSET_BITS;
        if let Some(slot) = self.slots.get((tag & SLOT_MASK) as usize)
            && slot.tag == tag
        {
            let offset = offset_of(addr);
            if let Some(bytes) = slot.data.get(offset..offset.saturating_add(len)) {
                return Ok(bytes);
            }
        }
        Err(self.explain(addr, len, "read"))
    }

    /// `len` bytes to write.
    #[inline]
    pub fn bytes_mut(&mut self, addr: u64, len: usize) -> Result<&mut [u8], Trap> {
        let tag = addr >> OFFSET_BITS;
        let index = (tag & SLOT_MASK) as usize;
        let offset = offset_of(addr);
        let valid = self.slots.get(index).is_some_and(|slot| {
            slot.tag == tag && slot.kind != Kind::Constant && slot.data.len() >= offset.saturating_add(len)
        });
        if !valid {
            return Err(self.explain(addr, len, "write"));
        }
        let bytes = self.slots.get_mut(index).and_then(|slot| slot.data.get_mut(offset..offset + len));
        bytes.ok_or_else(|| Trap::fault("write out of bounds"))
    }

    /// `N` bytes.
    #[inline]
    pub fn load<const N: usize>(&self, addr: u64) -> Result<[u8; N], Trap> {
        let tag = addr >> OFFSET_BITS;
        if let Some(slot) = self.slots.get((tag & SLOT_MASK) as usize)
            && slot.tag == tag
            && let Some(bytes) = slot.data.get(offset_of(addr)..)
            && let Some(found) = bytes.first_chunk::<N>()
        {
            return Ok(*found);
        }
        Err(self.explain(addr, N, "read"))
    }

    /// Writes `N` bytes.
    #[inline]
    pub fn store<const N: usize>(&mut self, addr: u64, value: [u8; N]) -> Result<(), Trap> {
        let tag = addr >> OFFSET_BITS;
        if let Some(slot) = self.slots.get_mut((tag & SLOT_MASK) as usize)
            && slot.tag == tag
            && slot.kind != Kind::Constant
            && let Some(bytes) = slot.data.get_mut(offset_of(addr)..)
            && let Some(place) = bytes.first_chunk_mut::<N>()
        {
            *place = value;
            return Ok(());
        }
        Err(self.explain(addr, N, "write"))
    }

    /// Copies `len` bytes as `memmove` does.
    pub fn copy(&mut self, to: u64, from: u64, len: u64) -> Result<(), Trap> {
        if len == 0 {
            return Ok(());
        }
        let count = usize::try_from(len).unwrap_or(usize::MAX);
        let source = self.bytes(from, count)?;
        if count <= 64 {
            let mut buffer = [0u8; 64];
            if let Some(part) = buffer.get_mut(..count) {
                part.copy_from_slice(source);
                self.bytes_mut(to, count)?.copy_from_slice(part);
            }
            return Ok(());
        }
        let buffer = source.to_vec();
        self.bytes_mut(to, count)?.copy_from_slice(&buffer);
        Ok(())
    }

    /// The bytes of a C string, without its end.
    pub fn c_string(&self, addr: u64) -> Result<&[u8], Trap> {
        let rest = self.rest_at(addr).unwrap_or(0) as usize;
        let bytes = self.bytes(addr, rest.max(1))?;
        match bytes.iter().position(|b| *b == 0) {
            Some(end) => Ok(bytes.get(..end).unwrap_or(&[])),
            None => Err(Trap::fault("a string without an end: read past its object")),
        }
    }

    #[cold]
    fn explain(&self, addr: u64, len: usize, what: &str) -> Trap {
        let index = ((addr >> OFFSET_BITS) & SLOT_MASK) as u32;
        let offset = offset_of(addr);
        let before = (1 << OFFSET_BITS) - offset as i64;
        if addr < 1 << OFFSET_BITS {
            return Trap::fault(format!("{what} of {len} bytes through a null pointer (address {addr:#x})"));
        }
        // An address before the start of an object lies at the end of the space of the slot before.
        if let Some(slot) = self.slot(addr.wrapping_add(1 << OFFSET_BITS)).filter(|_| before <= 1 << (OFFSET_BITS - 1))
        {
            let (kind, size) = (kind_name(slot.kind), slot.data.len());
            let offset = -before;
            return Trap::fault(format!(
                "{what} out of bounds: {len} bytes at offset {offset} of a {kind} object of {size} bytes"
            ));
        }
        let message = match (self.slot(addr), self.slots.get(index as usize)) {
            (Some(slot), _) => match slot.kind {
                Kind::Function(_) => format!("{what} of {len} bytes of a function's code"),
                Kind::Constant if offset.saturating_add(len) <= slot.data.len() => {
                    format!("{what} of {len} bytes of read-only memory")
                }
                kind => format!(
                    "{what} out of bounds: {len} bytes at offset {offset} of {} {} object of {} bytes",
                    if kind == Kind::Internal { "an" } else { "a" },
                    kind_name(kind),
                    slot.data.len()
                ),
            },
            (None, Some(_)) if addr >> 63 == 0 && index != 0 => {
                format!("{what} of {len} bytes of memory that is no longer alive (address {addr:#x})")
            }
            _ => format!("{what} of {len} bytes at {addr:#x}, which is no address"),
        };
        Trap::fault(message)
    }

    #[cold]
    fn explain_free(&self, addr: u64) -> Trap {
        match self.slot(addr) {
            Some(slot) if offset_of(addr) != 0 => {
                Trap::fault(format!("free of a pointer into the middle of a {} object", kind_name(slot.kind)))
            }
            Some(slot) => Trap::fault(format!("free of a {} object", kind_name(slot.kind))),
            None if addr >> OFFSET_BITS == 0 => Trap::fault(format!("free of {addr:#x}, which is no address")),
            None => Trap::fault(format!("double free, or free of what was never allocated (address {addr:#x})")),
        }
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Free => "freed",
        Kind::Stack => "stack",
        Kind::Heap => "heap",
        Kind::Global => "global",
        Kind::Constant => "constant",
        Kind::Function(_) => "function",
        Kind::Internal => "internal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<impl std::fmt::Debug, Trap>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn accesses_are_checked() {
        let mut m = Memory::new(1 << 20, 0);
        let a = m.allocate(16, Kind::Heap).unwrap();
        m.store(a + 8, 7u64.to_le_bytes()).unwrap();
        assert_eq!(m.load::<8>(a + 8).unwrap(), 7u64.to_le_bytes());
        assert!(message(m.load::<8>(a + 9)).contains("out of bounds"));
        assert!(message(m.load::<8>(a - 8)).contains("offset -8 of a heap object of 16 bytes"));
        assert!(message(m.load::<1>(0)).contains("null"));
        assert!(message(m.release(a + 8, Kind::Heap)).contains("middle"));
        m.release(a, Kind::Heap).unwrap();
        assert!(message(m.load::<1>(a)).contains("no longer alive"));
        assert!(message(m.release(a, Kind::Heap)).contains("double free"));
        assert!(message(m.bytes(u64::MAX, usize::MAX)).contains("no address"));
    }

    #[test]
    fn stale_pointers_miss_after_slots_are_used_again() {
        let mut m = Memory::new(1 << 20, 0xaa);
        let first = m.allocate(4, Kind::Stack).unwrap();
        m.release(first, Kind::Stack).unwrap();
        for _ in 0..3 * STACK_REST {
            let a = m.allocate(4, Kind::Stack).unwrap();
            assert_ne!(a, first);
            assert_eq!(m.load::<4>(a).unwrap(), [0xaa; 4]);
            m.release(a, Kind::Stack).unwrap();
        }
        assert!(m.slots.len() < 2 * STACK_REST);
        assert!(m.load::<4>(first).is_err());
    }

    #[test]
    fn limits_and_constants() {
        let mut m = Memory::new(100, 0);
        assert!(matches!(m.allocate(101, Kind::Heap), Err(Trap::Limit { .. })));
        let g = m.allocate(4, Kind::Global).unwrap();
        m.store(g, *b"abc\0").unwrap();
        m.seal(g);
        assert!(message(m.store(g, [1u8])).contains("read-only"));
        assert_eq!(m.c_string(g).unwrap(), b"abc");
        assert!(message(m.release(g, Kind::Heap)).contains("constant"));
    }

    #[test]
    fn overlapping_copies() {
        let mut m = Memory::new(1 << 20, 0);
        let a = m.allocate(200, Kind::Heap).unwrap();
        for i in 0..100 {
            m.store(a + i, [i as u8]).unwrap();
        }
        m.copy(a + 1, a, 99).unwrap();
        assert_eq!(m.bytes(a, 4).unwrap(), [0, 0, 1, 2]);
        assert!(m.copy(a + 150, a, 51).is_err());
    }
}
