//! `enzyme explain FILE --fn NAME -o page.html`: a function beside its derivative, as a page that needs nothing else, or as JSON.
//!
//! For every line of the source: whether a derivative flows through it, and why; which of its values are kept for the reverse sweep
//! and how many bytes, which are computed again; and the lines of the derivative, in pseudo-source, that come from it. All of it is what
//! the engine decided, told by `enzyme_diff::story`.

use std::collections::BTreeMap;
use std::path::Path;

use enzyme_core::story::{Item, Place, Story, Treatment};
use minijinja::Environment;
use serde::Serialize;

use crate::grad::{self, Failure, Wanted};

const TEMPLATE: &str = include_str!("page.html");

/// All that the page shows.
#[derive(Debug, Serialize)]
struct Page {
    function: String,
    prototype: String,
    forward: bool,
    /// What is kept, in words.
    kept: String,
    files: Vec<File>,
    derivatives: Vec<Derivative>,
}

#[derive(Debug, Serialize)]
struct File {
    name: String,
    lines: Vec<SourceLine>,
}

#[derive(Debug, Default, Serialize)]
struct SourceLine {
    number: u32,
    text: String,
    active: bool,
    /// Bytes that are kept each time the line is reached.
    kept: u64,
    /// Values that are computed again.
    rebuilt: u32,
    items: Vec<Shown>,
}

#[derive(Debug, Serialize)]
struct Shown {
    column: u32,
    what: String,
    active: Option<String>,
    /// Such as `kept: 8 bytes in each iteration`; empty if nothing is done.
    treatment: String,
    /// `kept`, `rebuilt` or nothing.
    kind: &'static str,
}

#[derive(Debug, Serialize)]
struct Derivative {
    name: String,
    function: String,
    lines: Vec<Written>,
}

#[derive(Debug, Serialize)]
struct Written {
    text: String,
    label: bool,
    /// File and line that it comes from; empty if not known.
    at: String,
}

/// Writes the page, or the same as JSON by `--json`; what is printed.
pub fn explain(wanted: &Wanted, output: Option<&Path>) -> Result<String, Failure> {
    let (made, stories) = grad::explained(wanted, false)?;
    let stories = of(&made.function, wanted.forward, stories);
    let prototype = made.prototype(wanted);
    let page = Page {
        function: wanted.function.clone(),
        prototype,
        forward: wanted.forward,
        kept: kept(&stories),
        files: files(&stories, &wanted.file),
        derivatives: stories.iter().map(derivative).collect(),
    };
    let text = if wanted.json {
        serde_json::to_string_pretty(&page).map(|t| t + "\n").map_err(|e| e.to_string())?
    } else {
        render(&page)?
    };
    let Some(output) = output else {
        return Ok(text);
    };
    if output.canonicalize().is_ok_and(|a| wanted.file.canonicalize().is_ok_and(|b| a == b)) {
        return Err(Failure::Usage(format!("{} is what is read; it is not overwritten", output.display())));
    }
    std::fs::write(output, text).map_err(|e| format!("{}: {e}", output.display()))?;
    Ok(String::new())
}

/// The derivative of a function, and those that it calls. The file may have markers of its own, which say nothing here; what was asked for
/// by name was made last.
fn of(function: &str, forward: bool, stories: Vec<Story>) -> Vec<Story> {
    let root = stories.iter().rposition(|s| s.function == function && s.forward == forward);
    let mut wanted: Vec<usize> = root.into_iter().collect();
    let mut next = 0;
    while let Some(n) = wanted.get(next).copied() {
        let called = |s: &Story| stories[n].calls.contains(&s.derivative);
        let more: Vec<usize> = (0..stories.len()).filter(|k| called(&stories[*k]) && !wanted.contains(k)).collect();
        wanted.extend(more);
        next += 1;
    }
    wanted.into_iter().map(|n| stories[n].clone()).collect()
}

fn render(page: &Page) -> Result<String, String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
    environment.set_trim_blocks(false);
    let template = environment.template_from_str(TEMPLATE).map_err(|e| e.to_string())?;
    template.render(page).map_err(|e| e.to_string())
}

fn at(place: &Place) -> String {
    if place.line == 0 { String::new() } else { format!("{}:{}", place.file, place.line) }
}

fn derivative(story: &Story) -> Derivative {
    let lines = story.lines.iter().map(|l| Written { text: l.text.clone(), label: l.label, at: at(&l.place) });
    Derivative { name: story.derivative.clone(), function: story.function.clone(), lines: lines.collect() }
}

/// What is kept, in words: bytes by how deep in loops.
fn kept(stories: &[Story]) -> String {
    let mut by_depth: BTreeMap<u32, u64> = BTreeMap::new();
    for item in stories.iter().flat_map(|s| &s.items) {
        if let Treatment::Kept { bytes, loops, .. } = item.treatment {
            *by_depth.entry(loops).or_default() += bytes;
        }
    }
    let mut out: Vec<String> =
        by_depth.iter().map(|(loops, bytes)| format!("{bytes} bytes {}", often(*loops))).collect();
    out.extend(stories.iter().flat_map(|s| &s.others).map(|(what, bytes)| format!("{what} ({bytes} bytes at a time)")));
    if out.is_empty() { "nothing".to_owned() } else { out.join(", ") }
}

fn often(loops: u32) -> String {
    match loops {
        0 => "once".to_owned(),
        1 => "in each iteration".to_owned(),
        n => format!("in each iteration of {n} nested loops"),
    }
}

fn shown(item: &Item) -> Shown {
    let (treatment, kind) = match &item.treatment {
        Treatment::NotNeeded => (String::new(), ""),
        Treatment::Rebuilt => ("computed again in the reverse sweep".to_owned(), "rebuilt"),
        Treatment::Kept { bytes, loops, why } => {
            let why = why.as_ref().map_or(String::new(), |why| format!("; {why}"));
            (format!("kept: {bytes} bytes {}{why}", often(*loops)), "kept")
        }
    };
    Shown { column: item.place.column, what: item.what.clone(), active: item.active.clone(), treatment, kind }
}

/// The files that operations come from, the one that is named first, as far as they can be read.
fn files(stories: &[Story], named: &Path) -> Vec<File> {
    let mut by_file: BTreeMap<String, BTreeMap<u32, Vec<&Item>>> = BTreeMap::new();
    for item in stories.iter().flat_map(|s| &s.items).filter(|i| i.place.line > 0) {
        by_file.entry(item.place.file.clone()).or_default().entry(item.place.line).or_default().push(item);
    }
    let same = |name: &str| Path::new(name).file_name() == named.file_name();
    let mut out: Vec<File> = by_file.into_iter().map(|(name, items)| file(name, &items, named)).collect();
    out.sort_by_key(|f| !same(&f.name));
    out
}

fn file(name: String, items: &BTreeMap<u32, Vec<&Item>>, named: &Path) -> File {
    let beside = named.parent().map(|folder| folder.join(&name));
    let text = std::fs::read_to_string(&name).ok().or_else(|| std::fs::read_to_string(beside?).ok());
    let last = items.keys().last().copied().unwrap_or(0);
    let source: Vec<&str> = text.as_deref().map(|t| t.lines().collect()).unwrap_or_default();
    let count = source.len().max(last as usize);
    // Of long files what lies around is enough.
    let first = items.keys().next().map_or(1, |l| l.saturating_sub(CONTEXT).max(1));
    let end = (last + CONTEXT).min(u32::try_from(count).unwrap_or(u32::MAX));
    let line = |number: u32| {
        let here = items.get(&number).map(Vec::as_slice).unwrap_or_default();
        let bytes = |i: &&Item| match i.treatment {
            Treatment::Kept { bytes, .. } => bytes,
            _ => 0,
        };
        SourceLine {
            number,
            text: source.get(number as usize - 1).map(|t| (*t).to_owned()).unwrap_or_default(),
            active: here.iter().any(|i| i.active.is_some()),
            kept: here.iter().map(bytes).sum(),
            rebuilt: here.iter().filter(|i| i.treatment == Treatment::Rebuilt).map(|_| 1).sum(),
            items: here.iter().map(|i| shown(i)).collect(),
        }
    };
    File { name, lines: (first..=end.max(first)).map(line).collect() }
}

/// Lines before the first and after the last that something is said of.
const CONTEXT: u32 = 8;
