//! Where floats lie of which the accesses do not tell it.
//!
//! What is copied to a place that is known to the byte only (the flags of a hash map, behind its numbers in one piece of memory), or has its
//! place in an object that others are of one class with, may lie anywhere, as far as its span says. A float lies where its format is
//! aligned, and the places of others of that format in the class show where this is.
//!
//! Not so in memory whose floats are accessed without alignment (packed structures, buffers of bytes), and where the known ones
//! are not as far apart as the format is long: there nothing is changed.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_ir::{ByteType, FloatKind};

use super::bytes::float_stride;
use super::{Class, Item, Proof, Span, add_item};

/// Gives floats at places that are known up to less than their size the places that alignment leaves.
pub fn align(class: &mut Class) {
    if class.unaligned {
        return;
    }
    for kind in class.floats() {
        let size = float_stride(ByteType::Float(kind));
        let Some(first) = common_place(class, kind, size) else { continue };
        let vague = |item: &Item| item.ty == ByteType::Float(kind) && is_vague(item.span, size);
        let aligned = |span: Span| {
            let by = (first - span.offset).rem_euclid(size as i64);
            (by as u64).is_multiple_of(span.stride).then(|| Span { stride: size, ..span.shift(by) }.shift(0))
        };
        let moved: BTreeMap<Item, (Span, Proof)> = class
            .items
            .iter()
            .filter(|(item, _)| vague(item))
            .filter_map(|(item, proof)| Some((*item, (aligned(item.span)?, *proof))))
            .collect();
        class.items.retain(|item, _| !moved.contains_key(item));
        for (item, (span, proof)) in moved {
            add_item(&mut class.items, Item { span, ..item }, proof);
        }
    }
}

/// Whether the places are closer to each other than floats can lie; not so those of a packed array, whose distance is no part
/// of the size.
fn is_vague(span: Span, size: u64) -> bool {
    span.stride != 0 && span.stride < size && size.is_multiple_of(span.stride)
}

/// Where all floats of a format lie whose places are known, up to multiples of its size.
fn common_place(class: &Class, kind: FloatKind, size: u64) -> Option<i64> {
    let known = class.items.iter().filter(|(item, proof)| {
        item.ty == ByteType::Float(kind) && **proof > Proof::Declared && !is_vague(item.span, size)
    });
    let known: Vec<Span> = known.map(|(item, _)| item.span).collect();
    let places: BTreeSet<i64> = known.iter().map(|span| span.offset.rem_euclid(size as i64)).collect();
    places.first().copied().filter(|_| places.len() == 1 && known.iter().all(|span| span.stride.is_multiple_of(size)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Steps;

    const DOUBLE: ByteType = ByteType::Float(FloatKind::Double);

    fn check(known: &[i64], vague: Span, expected: Span) {
        let mut class = Class::default();
        let item = |span| Item::new(span, 8, DOUBLE);
        for offset in known {
            class.items.insert(item(Span::at(*offset).step(16, Steps::Up)), Proof::Accessed);
        }
        class.items.insert(item(vague), Proof::Copied);
        align(&mut class);
        assert_eq!(class.items.get(&item(expected)), Some(&Proof::Copied));
        assert_eq!(class.items.len(), known.len() + 1);
    }

    #[test]
    fn others_show_where_floats_lie() {
        let anywhere = Span::anywhere();
        check(&[8], anywhere, Span { stride: 8, ..anywhere });
        check(&[4], Span::at(2).step(2, Steps::Up), Span::at(4).step(8, Steps::Up));
        check(&[4, 12], Span::at(5).step(1, Steps::Up), Span::at(12).step(8, Steps::Up));
        // Nobody shows it, or several say different things.
        check(&[], anywhere, anywhere);
        check(&[4, 8], anywhere, anywhere);
        check(&[3], Span::at(0).step(4, Steps::Both), Span::at(0).step(4, Steps::Both));
    }

    #[test]
    fn packed_floats_stay() {
        let vague = Item::new(Span::anywhere(), 8, DOUBLE);
        let known = Item { span: Span::at(8), ..vague };
        let items = BTreeMap::from([(vague, Proof::Copied), (known, Proof::Accessed)]);
        let mut class = Class { unaligned: true, items: items.clone(), ..Class::default() };
        align(&mut class);
        assert_eq!(class.items, items);
    }
}
