//! Which sources reach which stops of a network, and with what marks: a way from one stop to another adds marks, or lets only
//! some pass.
//!
//! Sets of sources, one for each stop and set of marks, go along the ways until nothing new arrives (a work list over bit sets):
//! a step takes a number of words for all sources together, each way is walked again only when more has come to where it begins.
//! A source that has arrived with more marks is not kept with fewer: nothing asks that a mark be missing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fixedbitset::FixedBitSet;
use indexmap::IndexSet;

bitflags::bitflags! {
    /// What is known of an integer on its way.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub struct Marks: u8 {
        /// It was computed with.
        const WORKED = 1;
        /// It was in other functions.
        const CROSSED = 2;
        /// It was in memory where no floats lie.
        const KEPT = 4;
    }
}

impl Marks {
    pub fn worked(worked: bool) -> Marks {
        if worked { Marks::WORKED } else { Marks::empty() }
    }
}

/// How many sets of marks there are.
const SETS: usize = Marks::all().bits() as usize + 1;

/// What a way does to what takes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Way {
    /// Marks that it adds.
    pub added: Marks,
    /// Only what then has one of these passes; all, if there are none.
    pub asked: Marks,
    /// What was kept counts as if it had been in other functions.
    pub kept_is_crossed: bool,
}

impl Way {
    pub fn adding(added: Marks) -> Way {
        Way { added, asked: Marks::empty(), kept_is_crossed: false }
    }

    pub fn asking(asked: Marks) -> Way {
        Way { asked, ..Way::adding(Marks::empty()) }
    }

    fn pass(self, mut marks: Marks) -> Option<Marks> {
        if self.kept_is_crossed && marks.contains(Marks::KEPT) {
            marks |= Marks::CROSSED;
        }
        marks |= self.added;
        (self.asked.is_empty() || marks.intersects(self.asked)).then_some(marks)
    }
}

/// Stops of type `N`, sources of type `S`.
pub struct Network<S, N> {
    sources: IndexSet<S>,
    stops: IndexSet<N>,
    ways: BTreeMap<usize, BTreeSet<(usize, Way)>>,
    begins: BTreeSet<(usize, Marks, usize)>,
}

impl<S, N> Default for Network<S, N> {
    fn default() -> Self {
        Network { sources: IndexSet::new(), stops: IndexSet::new(), ways: BTreeMap::new(), begins: BTreeSet::new() }
    }
}

impl<S: Copy + Eq + std::hash::Hash, N: Copy + Eq + std::hash::Hash> Network<S, N> {
    pub fn begin(&mut self, source: S, stop: N, marks: Marks) {
        let (source, stop) = (self.sources.insert_full(source).0, self.stops.insert_full(stop).0);
        self.begins.insert((stop, marks, source));
    }

    pub fn lead(&mut self, from: N, to: N, way: Way) {
        let (from, to) = (self.stops.insert_full(from).0, self.stops.insert_full(to).0);
        self.ways.entry(from).or_default().insert((to, way));
    }

    pub fn stops(&self) -> impl Iterator<Item = N> {
        self.stops.iter().copied()
    }

    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Each source at each stop of those asked for, with the most marks that it has there.
    pub fn arrivals(&self, asked: impl Fn(N) -> bool) -> Vec<(N, S, Marks)> {
        let mut at: Vec<[FixedBitSet; SETS]> = Vec::new();
        at.resize_with(self.stops.len(), Default::default);
        let mut queue: VecDeque<(usize, Marks)> = VecDeque::new();
        let mut queued: BTreeSet<(usize, Marks)> = BTreeSet::new();
        for (stop, marks, source) in &self.begins {
            if let Some(set) = at.get_mut(*stop).and_then(|sets| sets.get_mut(usize::from(marks.bits()))) {
                set.grow_and_insert(*source);
            }
            if queued.insert((*stop, *marks)) {
                queue.push_back((*stop, *marks));
            }
        }
        while let Some((from, marks)) = queue.pop_front() {
            queued.remove(&(from, marks));
            let Some(moving) = set(&at, from, marks).cloned() else { continue };
            for (to, way) in self.ways.get(&from).into_iter().flatten() {
                let Some(marks) = way.pass(marks) else { continue };
                if arrive(&mut at, *to, marks, &moving) && queued.insert((*to, marks)) {
                    queue.push_back((*to, marks));
                }
            }
        }
        let mut out = Vec::new();
        for (n, sets) in self.stops.iter().zip(&at).filter(|(n, _)| asked(**n)) {
            for (marks, set) in (0..).map_while(Marks::from_bits).zip(sets) {
                let sources = set.ones().filter_map(|s| self.sources.get_index(s));
                out.extend(sources.map(|s| (*n, *s, marks)));
            }
        }
        out
    }
}

fn set(at: &[[FixedBitSet; SETS]], stop: usize, marks: Marks) -> Option<&FixedBitSet> {
    at.get(stop)?.get(usize::from(marks.bits()))
}

/// Whether anything of what comes is new there.
fn arrive(at: &mut [[FixedBitSet; SETS]], stop: usize, marks: Marks, coming: &FixedBitSet) -> bool {
    let Some(sets) = at.get_mut(stop) else { return false };
    let mut new = coming.clone();
    for (more, known) in (0..).map_while(Marks::from_bits).zip(sets.iter()) {
        if more.contains(marks) {
            new.difference_with(known);
        }
    }
    let any = !new.is_clear();
    if let Some(known) = sets.get_mut(usize::from(marks.bits())).filter(|_| any) {
        known.union_with(&new);
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_has_the_marks_of_its_ways() {
        let mut net: Network<&str, &str> = Network::default();
        net.begin("x", "a", Marks::empty());
        net.begin("y", "b", Marks::CROSSED);
        net.lead("a", "b", Way::adding(Marks::WORKED));
        net.lead("b", "a", Way::adding(Marks::empty()));
        net.lead("b", "end", Way::asking(Marks::CROSSED));
        net.lead("b", "kept", Way { kept_is_crossed: true, ..Way::adding(Marks::KEPT) });
        net.lead("kept", "end", Way { kept_is_crossed: true, ..Way::asking(Marks::CROSSED) });
        let mut ends = net.arrivals(|n| n == "end");
        ends.retain(|(_, source, marks)| *source == "x" || !marks.contains(Marks::KEPT));
        let with = |source, marks| ("end", source, marks);
        assert!(ends.contains(&with("x", Marks::all())));
        assert!(ends.contains(&with("y", Marks::CROSSED | Marks::WORKED)));
        assert!(ends.iter().all(|(_, source, marks)| *source == "y" || *marks == Marks::all()));
    }

    #[test]
    fn nothing_passes_without_what_is_asked() {
        let mut net: Network<u8, u8> = Network::default();
        net.begin(1, 1, Marks::WORKED);
        net.lead(1, 2, Way::asking(Marks::CROSSED | Marks::KEPT));
        assert!(net.arrivals(|n| n == 2).is_empty());
        assert_eq!(net.arrivals(|n| n == 1), [(1, 1, Marks::WORKED)]);
    }
}
