//! What the schedule of a checkpointed loop will do, as far as it is known when compiling: for the plan that is printed.
//!
//! The schedule itself is `core/llvm/bridge/checkpoint.c`, which reckons in the same way when the program runs (Griewank, Walther,
//! "Algorithm 799: revolve", ACM TOMS 26, 2000).

/// So many states are looked at to say how many steps are repeated.
const MOST_COUNTED: u64 = 1 << 16;
/// How a schedule shares out what it may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shares {
    /// Steps that are reversed at once.
    pub block: u64,
    /// States that are kept.
    pub states: u64,
}

/// How a schedule shares out so many bytes (`share_out` of `checkpoint.c`), where a state takes `state` and what a step
/// caches `row`, 0 if nobody knows.
pub fn share_out(bytes: u64, state: u64, row: u64, steps: Option<u64>) -> Shares {
    let state = state.max(1);
    let mut best = Shares { block: 1, states: (bytes / state).max(1) };
    if row == 0 || bytes < state {
        return best;
    }
    let Some(steps) = steps else {
        let block = (bytes / 2).min(bytes - state) / row;
        return if block > 1 { Shares { block, states: ((bytes - block * row) / state).max(1) } } else { best };
    };
    let (mut least, mut block) = (None, 1u64);
    while let Some(caches) = block.checked_mul(row).filter(|n| *n <= bytes - state) {
        let count = steps.div_ceil(block);
        let states = ((bytes - caches) / state).min(count).max(1);
        let again = repeated(count, states).saturating_sub(count.saturating_sub(1)).saturating_mul(block);
        let taken = (again, caches + states * state);
        if least.is_none_or(|l| taken < l) {
            least = Some(taken);
            best = Shares { block, states };
        }
        if count <= 1 {
            break;
        }
        block += 1 + block / 8;
    }
    best
}

/// Of (c + r)! / (c! r!) no more than a large number.
fn choose(n: u128, k: u128) -> u128 {
    let k = k.min(n - k);
    let mut c = 1u128;
    for i in 0..k {
        c = c.saturating_mul(n - i) / (i + 1);
        // From here on it only grows.
        if c >= 1 << 100 {
            return 1 << 100;
        }
    }
    c
}

/// The least number of times that no step has to be done more often where `steps` are reversed with `states` kept: the least r
/// for which (c + r)! / (c! r!) is not below the steps.
fn repetitions(steps: u128, states: u128) -> u128 {
    // r = steps always is enough.
    let (mut low, mut r) = (0u128, steps);
    while low < r {
        let middle = (low + r) / 2;
        if choose(states + middle, middle) < steps {
            low = middle + 1;
        } else {
            r = middle;
        }
    }
    r
}

/// Steps done again where `steps` are reversed with `states` kept, with those from the start to the last one (Griewank and
/// Walther 2000).
pub fn repeated(steps: u64, states: u64) -> u64 {
    let (steps, states) = (u128::from(steps), u128::from(states.max(1)));
    let r = repetitions(steps, states);
    let less = if r == 0 { 0 } else { choose(states + r, r - 1) };
    u64::try_from((r * steps).saturating_sub(less)).unwrap_or(u64::MAX)
}

/// Where the last of `states` states is kept on the way to the end; none if there are too many to look.
fn last_kept(steps: u64, states: u64) -> Option<u64> {
    if states >= steps {
        return Some(steps.saturating_sub(1));
    }
    if states > MOST_COUNTED {
        return None;
    }
    let (mut at, mut left) = (0u64, states.max(1));
    while left > 1 && steps - at > 1 {
        let (rest, c) = (u128::from(steps - at), u128::from(left));
        let r = repetitions(rest, c);
        let (most, behind) = (choose(c + r - 1, r - 1), choose(c + r - 2, r - 1));
        let ahead = if rest <= 2 { 1 } else { rest.saturating_sub(behind).min(most).clamp(1, rest - 1) };
        at += u64::try_from(ahead).ok()?;
        left -= 1;
    }
    Some(at)
}

/// Steps that a checkpointed loop does beside those that every gradient does: all once, since the derivative of a block does
/// them itself, and those from states on to where they are reversed. None if nobody counts them.
pub fn done_again(steps: u64, states: u64, block: u64) -> Option<u64> {
    let count = steps.div_ceil(block.max(1));
    let blocks = repeated(count, states).saturating_sub(last_kept(count, states)?);
    Some(steps.saturating_add(blocks.saturating_mul(block)))
}

#[cfg(test)]
mod tests {
    use super::{Shares, done_again, repeated, share_out};

    #[test]
    fn counts_of_repeated_steps() {
        // Griewank and Walther, "Evaluating Derivatives", chapter 12: 10 steps with 3 states are reversed with 15.
        assert_eq!(repeated(1, 1), 0);
        assert_eq!(repeated(4, 1), 6);
        assert_eq!(repeated(10, 3), 15);
        assert_eq!(repeated(10, 10), 9);
        // As fast for any count: one state, and more states than steps.
        assert_eq!(repeated(1 << 31, 1), (1 << 30) * ((1 << 31) - 1));
        assert_eq!(repeated(u64::MAX, u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn what_is_granted_goes_to_states_and_caches() {
        // One repetition of all suffices: as much for either.
        assert_eq!(share_out(1 << 20, 8_048, 8_000, Some(1000)), Shares { block: 33, states: 31 });
        // Nothing is known of the caches, or nothing fits beside a state.
        assert_eq!(share_out(1 << 20, 8_048, 0, Some(1000)), Shares { block: 1, states: 130 });
        assert_eq!(share_out(10_000, 8_048, 8_000, Some(1000)), Shares { block: 1, states: 1 });
        // Blocks of one step take fewer repetitions than none.
        let few = share_out(100_000, 8_048, 8_000, Some(1000));
        assert!(few.block > 1 && few.block * 8_000 + few.states * 8_048 <= 100_000, "{few:?}");
        assert_eq!(share_out(1 << 20, 8_048, 8_000, None), Shares { block: 65, states: 65 });
        assert_eq!(share_out(100, 88, 8, None), Shares { block: 1, states: 1 });
    }

    #[test]
    fn steps_that_are_done_beside_those_of_every_gradient() {
        assert_eq!(done_again(1000, 31, 33), Some(1000));
        assert_eq!(done_again(10, 10, 1), Some(10));
        // One state: 9 + 8 + ... + 1 on the way to each.
        assert_eq!(done_again(10, 1, 1), Some(10 + 45));
        // The second of two states is kept at step 1: from there one step to the last.
        assert_eq!(done_again(3, 2, 1), Some(3 + 1));
        assert_eq!(done_again(u64::MAX, u64::MAX, 1), Some(u64::MAX));
        assert_eq!(done_again(u64::MAX, 1 << 40, 1), None);
    }
}
