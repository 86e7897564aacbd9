//! What LLVM knows of a prepared clone, as tables over the mirror's ids.

use std::ffi::c_void;

use enzyme_ir::facts::{Overwritten, Steady, UndoneStore, Written};
use enzyme_ir::{ByteRun, ByteType, Facts, Func};

use super::body::{BodyMap, operand};
use super::float_kind;
use crate::ffi::{self, ArgFact, ByteRunFact, FactSink, HostRef, SteadyLoad, Str, TripCount, ValueRef};
use crate::session::{ExternalWrites, Session};

/// Facts as LLVM states them.
#[derive(Default)]
pub(super) struct Asked {
    trips: Vec<TripCount>,
    /// Stable loads, and whether only their type says so.
    loads: Vec<(ValueRef, bool)>,
    stores: Vec<ValueRef>,
    /// Loads, what may overwrite what they have read, and whether all that may goes through other pointers.
    overwritten: Vec<(ValueRef, ValueRef, bool)>,
    steady: Vec<SteadyLoad>,
    undone: Vec<ffi::UndoneStore>,
    /// Loads that can be done again, with a store that is undone before.
    repeated: Vec<(ValueRef, ValueRef)>,
    /// Phis, and the loads whose value they have.
    stand_for: Vec<(ValueRef, ValueRef)>,
    args: Vec<ArgFact>,
    runs: Vec<ByteRunFact>,
    fallbacks: Vec<ValueRef>,
    overlapping: Vec<ValueRef>,
    vector_calls: Vec<ValueRef>,
    guesses: Vec<ValueRef>,
    writes: Option<fn(&str) -> ExternalWrites>,
}

unsafe extern "C" fn on_harmless(context: *mut c_void, name: Str) -> u8 {
    // SAFETY: as in `on_trip`.
    let asked = unsafe { &*context.cast::<Asked>() };
    match asked.writes.map(|f| f(&name.to_text())) {
        Some(ExternalWrites::OnlyArguments) => 1,
        Some(ExternalWrites::Nothing) => 2,
        Some(ExternalWrites::Unknown) | None => 0,
    }
}

unsafe extern "C" fn on_trip(context: *mut c_void, fact: TripCount) {
    // SAFETY: `ask` passes an `Asked` that outlives the call and that nobody else holds meanwhile.
    unsafe { &mut *context.cast::<Asked>() }.trips.push(fact);
}

unsafe extern "C" fn on_load(context: *mut c_void, load: ValueRef, by_type: u8) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.loads.push((load, by_type != 0));
}

unsafe extern "C" fn on_store(context: *mut c_void, store: ValueRef) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.stores.push(store);
}

unsafe extern "C" fn on_overwritten(context: *mut c_void, load: ValueRef, write: ValueRef, apart: u8) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.overwritten.push((load, write, apart != 0));
}

unsafe extern "C" fn on_steady(context: *mut c_void, fact: SteadyLoad) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.steady.push(fact);
}

unsafe extern "C" fn on_undone(context: *mut c_void, fact: ffi::UndoneStore) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.undone.push(fact);
}

unsafe extern "C" fn on_repeated(context: *mut c_void, load: ValueRef, store: ValueRef) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.repeated.push((load, store));
}

unsafe extern "C" fn on_stands_for(context: *mut c_void, phi: ValueRef, load: ValueRef) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.stand_for.push((phi, load));
}

unsafe extern "C" fn on_arg(context: *mut c_void, fact: ArgFact) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.args.push(fact);
}

unsafe extern "C" fn on_run(context: *mut c_void, run: ByteRunFact) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.runs.push(run);
}

unsafe extern "C" fn on_vector_call(context: *mut c_void, call: ValueRef) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.vector_calls.push(call);
}

unsafe extern "C" fn on_fallback(context: *mut c_void, call: ValueRef) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.fallbacks.push(call);
}

unsafe extern "C" fn on_overlapping(context: *mut c_void, copy: ValueRef) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.overlapping.push(copy);
}

unsafe extern "C" fn on_guess(context: *mut c_void, call: ValueRef) {
    // SAFETY: as in `on_trip`.
    unsafe { &mut *context.cast::<Asked>() }.guesses.push(call);
}

/// Asks for all facts. Trip counts and conditions are written into the function, so this comes before its instructions are read.
pub(super) fn ask(host: HostRef, function: ValueRef, writes: Option<fn(&str) -> ExternalWrites>) -> Asked {
    let mut asked = Asked { writes, ..Asked::default() };
    let sink = FactSink {
        context: (&raw mut asked).cast(),
        trip_count: on_trip,
        stable_load: on_load,
        stable_store: on_store,
        overwritten: on_overwritten,
        steady_load: on_steady,
        undone_store: on_undone,
        repeated_load: on_repeated,
        stands_for: on_stands_for,
        stable_arg: on_arg,
        byte_run: on_run,
        fallback: on_fallback,
        vector_call: on_vector_call,
        guess: on_guess,
        overlapping: on_overlapping,
        harmless: on_harmless,
    };
    // SAFETY: the function is a clone in the host's module; the sink lives across the call.
    unsafe { ffi::enz_trip_counts(host, function, &raw const sink) };
    // SAFETY: as above.
    unsafe { ffi::enz_memory_facts(host, function, &raw const sink) };
    // SAFETY: as above.
    unsafe { ffi::enz_type_facts(host, function, &raw const sink) };
    asked
}

/// Turns handles into ids. What the mirror does not hold is left out, which is always sound.
pub(super) fn translate(session: &mut Session, func: &mut Func, map: &mut BodyMap, asked: &Asked, out: &mut Facts) {
    for trip in &asked.trips {
        let Some(header) = map.blocks.get(&trip.header).copied() else { continue };
        if let Ok(count) = operand(session, func, map, trip.count) {
            out.trip_counts.insert(header, count);
        }
    }
    for (load, by_type) in &asked.loads {
        let Some(i) = map.insts.get(load) else { continue };
        out.stable_loads.insert(*i);
        if *by_type {
            out.typed_loads.insert(*i);
        }
    }
    out.stable_stores.extend(asked.stores.iter().filter_map(|s| map.insts.get(s)));
    for (load, write, apart) in &asked.overwritten {
        if let (Some(load), Some(write)) = (map.insts.get(load), map.insts.get(write)) {
            out.overwritten.insert(*load, Overwritten { by: *write, apart: *apart });
        }
    }
    for steady in &asked.steady {
        let parts = (map.insts.get(&steady.load).copied(), map.blocks.get(&steady.header).copied());
        let (Some(i), Some(header)) = parts else {
            continue;
        };
        let mut told = |handle: Option<ValueRef>| handle.map(|h| operand(session, func, map, h)).transpose();
        let (Ok(condition), Ok(most)) = (told(steady.condition), told(steady.most)) else { continue };
        out.steady_loads.insert(i, Steady { header, condition, varies: steady.varies, most });
    }
    translate_undone(session, func, map, asked, out);
    out.stable_args.extend(asked.args.iter().filter_map(|a| Some((*map.insts.get(&a.call)?, a.arg))));
    out.guesses.extend(asked.guesses.iter().filter_map(|c| map.insts.get(c)));
    out.overlapping.extend(asked.overlapping.iter().filter_map(|c| map.insts.get(c)));
    out.vector_calls.extend(asked.vector_calls.iter().filter_map(|c| map.insts.get(c)));
    out.fallbacks.extend(asked.fallbacks.iter().filter_map(|c| map.insts.get(c)));
    for run in &asked.runs {
        let ty = match run.kind {
            0 => ByteType::Float(float_kind(run.float_kind)),
            1 => ByteType::Pointer,
            _ => ByteType::Integer,
        };
        let described = ByteRun { offset: run.offset, size: run.size, ty };
        match run.inst {
            Some(inst) => {
                let Some(id) = map.insts.get(&inst) else { continue };
                out.access_types.entry(*id).or_default().push(described);
            }
            None => {
                out.param_types.entry(run.param).or_default().push(described);
                if run.is_alone != 0 {
                    out.alone.insert(run.param);
                }
            }
        }
    }
}

/// Stores that can be undone, and what can be read again then. A load of which a store is lost is lost, too.
fn translate_undone(session: &mut Session, func: &mut Func, map: &mut BodyMap, asked: &Asked, out: &mut Facts) {
    for fact in &asked.undone {
        let parts = (map.insts.get(&fact.store).copied(), map.insts.get(&fact.old).copied());
        let (Some(store), Some(old)) = parts else { continue };
        let mut written = None;
        if let (Some(header), Some(start)) = (fact.header, fact.start) {
            let mut steps = Vec::new();
            for (l, stride) in fact.headers.iter().zip(&fact.strides).take(fact.steps as usize) {
                if let (Some(l), Some(stride)) = (l.and_then(|l| map.blocks.get(&l).copied()), stride)
                    && let Ok(stride) = operand(session, func, map, *stride)
                {
                    steps.push((l, stride));
                }
            }
            let header = map.blocks.get(&header).copied();
            let (Some(header), Ok(start)) = (header, operand(session, func, map, start)) else { continue };
            if steps.len() != fact.steps as usize {
                continue;
            }
            written = Some(Written { header, start, steps });
        }
        out.undone_stores.insert(store, UndoneStore { old, written });
    }
    for (load, store) in &asked.repeated {
        if let (Some(load), Some(store)) = (map.insts.get(load), map.insts.get(store)) {
            out.repeated_loads.entry(*load).or_default().push(*store);
        }
    }
    let lost =
        asked.repeated.iter().filter(|(_, s)| map.insts.get(s).is_none_or(|s| !out.undone_stores.contains_key(s)));
    for load in lost.filter_map(|(l, _)| map.insts.get(l)).copied().collect::<Vec<_>>() {
        out.repeated_loads.remove(&load);
    }
    for (phi, load) in &asked.stand_for {
        let (Some(phi), Some(load)) = (map.insts.get(phi).copied(), map.insts.get(load).copied()) else { continue };
        if let Some(phi) = func.insts[phi].result {
            out.stand_for.insert(load, phi);
        }
    }
}
