//! Names of values and blocks within a function, as LLVM gives them.

use std::collections::{HashMap, HashSet};

use cranelift_entity::SecondaryMap;

use crate::func::Func;
use crate::ids::{BlockId, ValueId};

use super::BAD;
use crate::text::lexer::escape;

/// Appends a name with its sigil, in quotes where it must be.
pub(super) fn write_name(sigil: char, name: &str, out: &mut String) {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'$' | b'.' | b'_');
    let starts_well = name.bytes().next().is_some_and(|c| !c.is_ascii_digit());
    out.push(sigil);
    if starts_well && name.bytes().all(is_plain) {
        out.push_str(name);
        return;
    }
    out.push('"');
    escape(name.as_bytes(), out);
    out.push('"');
}

/// The name of each parameter, result and block, with its sigil. Hints that repeat get a number appended; what has no
/// hint is numbered in the order of LLVM: parameters, then blocks and results in layout order.
pub(super) struct Names {
    values: SecondaryMap<ValueId, String>,
    blocks: SecondaryMap<BlockId, String>,
}

struct Chooser<'a> {
    taken: HashSet<String>,
    repeats: HashMap<&'a str, u32>,
    next: u32,
}

impl<'a> Chooser<'a> {
    fn choose(&mut self, hint: Option<&'a str>) -> String {
        // LLVM allows no NUL in names.
        let Some(hint) = hint.filter(|h| !h.is_empty() && !h.contains('\0')) else {
            self.next += 1;
            return format!("%{}", self.next - 1);
        };
        let mut name = hint.to_owned();
        while self.taken.contains(&name) {
            let count = self.repeats.entry(hint).or_insert(0);
            *count += 1;
            name = format!("{hint}.{count}");
        }
        let mut out = String::with_capacity(name.len() + 1);
        write_name('%', &name, &mut out);
        self.taken.insert(name);
        out
    }
}

impl Names {
    pub(super) fn new(func: &Func) -> Names {
        let mut chooser = Chooser { taken: HashSet::new(), repeats: HashMap::new(), next: 0 };
        let mut values = SecondaryMap::new();
        let mut blocks = SecondaryMap::new();
        let hint = |v: &ValueId| func.value_names.get(v).map(String::as_str);
        for p in func.params.iter().filter(|p| func.values.is_valid(**p)) {
            values[*p] = chooser.choose(hint(p));
        }
        for b in &func.layout {
            let Some(block) = func.blocks.get(*b) else { continue };
            blocks[*b] = chooser.choose(block.name.as_deref());
            for r in block.insts.iter().filter_map(|i| func.insts.get(*i)?.result) {
                if func.values.is_valid(r) {
                    values[r] = chooser.choose(hint(&r));
                }
            }
        }
        Names { values, blocks }
    }

    pub(super) fn value(&self, v: ValueId) -> &str {
        self.values.get(v).filter(|n| !n.is_empty()).map_or(BAD, |n| n)
    }

    pub(super) fn block(&self, b: BlockId) -> &str {
        self.blocks.get(b).filter(|n| !n.is_empty()).map_or(BAD, |n| n)
    }
}
