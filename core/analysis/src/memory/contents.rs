//! What the program puts into memory that it allocates itself: a forward flow, beside the types of [`super::bytes`], which every access
//! and every copy adds to, in both directions.
//!
//! Objects that one pointer may lead to are of one class, so where boxes of several types lie behind one trait, what is copied into
//! one of them seems to be what another holds. What is copied there is what its source holds, and for memory that the analysed
//! functions allocate all writes are known: stores, each with a type, and copies, from memory of which the same holds. So a
//! class has contents if it is nothing but stack slots and allocations, and everything copied into it has contents (the greatest
//! solution); these are the types of its accesses and what is copied in (the least one). Memory of which the program states
//! what it is has them too.
//!
//! What is not known: memory of callers, global variables, what comes from functions without a body, and what pointers lead to that lie in
//! such memory: a vector behind a parameter, which is grown here, is of one class with the one it had. Where contents contradict themselves
//! (a union), they decide nothing.

use cranelift_entity::{PrimaryMap, SecondaryMap};

use super::bytes::copied_items;
use super::{Class, ClassId, Copied, Object, Proof, add_item};

/// Flows longer than this many copies are given up.
const MAX_ROUNDS: usize = 16;

/// The contents of each class that has any: a class with the types of what is put there as its items.
pub fn contents(classes: &PrimaryMap<ClassId, Class>, copies: &[Copied]) -> SecondaryMap<ClassId, Option<Class>> {
    let mut out: SecondaryMap<ClassId, Option<Class>> = SecondaryMap::new();
    let mut known: SecondaryMap<ClassId, bool> = SecondaryMap::new();
    let own = own_classes(classes);
    for (id, class) in classes.iter() {
        known[id] = own[id] || is_stated(class);
    }
    loop {
        let lost = |c: &&Copied| known[c.dst.0] && !known[c.src.0] && !is_stated(&classes[c.dst.0]);
        let lost: Vec<ClassId> = copies.iter().filter(lost).map(|c| c.dst.0).collect();
        if lost.is_empty() {
            break;
        }
        lost.into_iter().for_each(|id| known[id] = false);
    }
    for (id, class) in classes.iter().filter(|(id, _)| known[*id]) {
        let least = if is_stated(class) { Proof::Asserted } else { Proof::Stated };
        let items = class.items.iter().filter(|(_, proof)| **proof >= least);
        out[id] = Some(Class {
            items: items.map(|(item, proof)| (*item, *proof)).collect(),
            merged: true,
            ..Class::default()
        });
    }
    let flows: Vec<&Copied> =
        copies.iter().filter(|c| known[c.dst.0] && known[c.src.0] && !is_stated(&classes[c.dst.0])).collect();
    for _ in 0..MAX_ROUNDS {
        let mut grown = false;
        for c in &flows {
            let Some(from) = &out[c.src.0] else { continue };
            let found = copied_items(&from.items, c.src.1, c.dst.1, c.len, c.src.0 == c.dst.0);
            let Some(to) = &mut out[c.dst.0] else { continue };
            for item in found.into_iter().filter_map(|(item, _)| c.what.carry(item, false)) {
                grown |= add_item(&mut to.items, item, Proof::Stated);
            }
        }
        if !grown {
            return out;
        }
    }
    SecondaryMap::new()
}

/// Classes of memory in which all is put there by the analysed functions: no pointer to it lies where others put some.
fn own_classes(classes: &PrimaryMap<ClassId, Class>) -> SecondaryMap<ClassId, bool> {
    let made = |o: &Object| matches!(o, Object::Stack(..) | Object::Heap(..));
    let mut own: SecondaryMap<ClassId, bool> = SecondaryMap::new();
    let mut others: Vec<ClassId> = Vec::new();
    for (id, class) in classes.iter() {
        own[id] = !class.opaque && !class.objects.is_empty() && class.objects.iter().all(made);
        others.extend((!own[id]).then_some(id));
    }
    while let Some(id) = others.pop() {
        for to in classes[id].targets() {
            if std::mem::replace(&mut own[to], false) {
                others.push(to);
            }
        }
    }
    own
}

/// Whether it is one piece of memory, of which the program states what it holds.
fn is_stated(class: &Class) -> bool {
    !class.is_several() && class.items.values().any(|proof| *proof == Proof::Asserted)
}
