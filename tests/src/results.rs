//! What the benchmark found: the numbers, as JSON, as tables for people and for Markdown, and as pictures.
//!
//! Ratios are of minima over interleaved rounds, which neighbours disturb least; where medians are meant, the column says so.

use std::path::Path;

use plotters::prelude::*;
use serde::Serialize;

use crate::kernels::{Memory, Printed, Time};
use crate::others::{self, Others};
use crate::{Error, Result, table};

/// Everything.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// The processor's name.
    pub processor: String,
    /// The compiler's name and version.
    pub compiler: String,
    /// By kernel.
    pub kernels: Vec<Row>,
    /// Tools that could not be compared with, and why.
    pub missing: Vec<String>,
}

/// One kernel.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The size that was measured.
    pub size: u64,
    /// -O3 -march=native, strict arithmetic.
    pub strict: Option<Speed>,
    /// The same with -ffast-math and the vector library.
    pub fast: Option<Speed>,
    /// Strict, with the allocator's own settings.
    pub default_malloc: Option<Speed>,
    /// Peak memory of one call.
    pub memory: Option<Space>,
    /// What differentiating costs the compiler.
    pub compilation: Option<Compile>,
    /// Other sizes.
    pub growth: Vec<Growth>,
    /// Other tools on the same mathematics.
    pub others: Option<Others>,
    /// What could not be done, and why.
    pub remarks: Vec<String>,
}

/// Times of the variants of one program.
#[derive(Clone, Debug, Serialize)]
pub struct Speed {
    /// The function.
    pub primal: Time,
    /// Our gradient alone.
    pub gradient: Time,
    /// The handwritten one.
    pub hand: Time,
    /// Our gradient and the value.
    pub value_gradient: Option<Time>,
    /// The handwritten ones.
    pub hand_value: Option<Time>,
    /// By hand, recomputing from checkpoints.
    pub hand_checkpoints: Option<Time>,
    /// One tangent, eight side by side; one adjoint, eight side by side.
    pub lanes: [Option<Time>; 4],
    /// Our gradient under a limit on the tape.
    pub limited: Option<Time>,
    /// Our gradient of the function as clang leaves it at -O0.
    pub unoptimised: Option<Time>,
    /// The gradient of another plugin.
    pub reference: Option<Time>,
    /// Its gradient and the value.
    pub reference_value_gradient: Option<Time>,
}

/// Memory of the variants.
#[derive(Clone, Debug, Serialize)]
pub struct Space {
    /// The function.
    pub primal: Memory,
    /// Our gradient alone.
    pub gradient: Memory,
    /// The handwritten one.
    pub hand: Memory,
    /// Our gradient under a limit on the tape.
    pub limited: Option<Memory>,
    /// By hand, recomputing from checkpoints.
    pub hand_checkpoints: Option<Memory>,
    /// The gradient of another plugin.
    pub reference: Option<Memory>,
    /// Bytes of distinct data that a reverse sweep needs.
    pub kept: u64,
}

/// What the compiler took, and what it made.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Compile {
    /// `clang -O2 -c` without the plugin, in seconds of the processor.
    pub plain: f64,
    /// With it.
    pub with_plugin: f64,
    /// Bytes of the derivative's code at -O3.
    pub code: u64,
    /// Bytes of the handwritten adjoint's.
    pub hand_code: u64,
}

impl Compile {
    /// What the plugin adds, over the time without it.
    pub fn added(&self) -> f64 {
        (self.with_plugin - self.plain) / self.plain
    }
}

/// One other size.
#[derive(Clone, Debug, Serialize)]
pub struct Growth {
    /// The size.
    pub size: u64,
    /// Times.
    pub speed: Speed,
    /// Bytes from malloc: ours and by hand.
    pub heap: Option<(u64, u64)>,
}

impl Speed {
    /// The variants of what a program printed.
    pub fn new(printed: &Printed) -> Result<Self> {
        let needed =
            |name: &str| printed.time(name).ok_or_else(|| Error::Failed(format!("a kernel did not time its {name}")));
        Ok(Self {
            primal: needed("primal")?,
            gradient: needed("gradient")?,
            hand: needed("hand")?,
            value_gradient: printed.time("value_gradient"),
            hand_value: printed.time("hand_value"),
            hand_checkpoints: printed.time("hand_checkpoints"),
            lanes: ["tangent", "eight_tangents", "adjoint", "eight_adjoints"].map(|name| printed.time(name)),
            limited: printed.time("limited.gradient"),
            unoptimised: printed.time("unoptimised.gradient"),
            reference: printed.time("reference.gradient"),
            reference_value_gradient: printed.time("reference.value_gradient"),
        })
    }

    fn over_primal(&self, time: Option<Time>) -> Option<f64> {
        time.map(|time| time.minimum / self.primal.minimum)
    }

    /// Time of eight lanes over that of one: tangents from column 0 on, adjoints from 2 on.
    fn eight_over_one(&self, column: usize) -> Option<f64> {
        let [one, eight] = [column, column + 1].map(|n| self.lanes.get(n).copied().flatten());
        Some(eight?.minimum / one?.minimum)
    }

    /// Gradient over handwritten gradient.
    pub fn over_hand(&self) -> f64 {
        self.gradient.minimum / self.hand.minimum
    }
}

impl Space {
    /// The variants of what a program printed.
    pub fn new(printed: &Printed) -> Option<Self> {
        Some(Self {
            primal: printed.memory("primal")?,
            gradient: printed.memory("gradient")?,
            hand: printed.memory("hand")?,
            limited: printed.memory("limited.gradient"),
            hand_checkpoints: printed.memory("hand_checkpoints"),
            reference: printed.memory("reference.gradient"),
            kept: printed.kept.unwrap_or(0),
        })
    }
}

/// A column of numbers: its title and where the number is; columns without a single number are left out.
pub type Column = (&'static str, fn(&Row) -> Option<f64>, Show);

/// How a number is shown, and what closes the column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// A ratio, with the geometric mean.
    Ratio,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// Seconds, in milliseconds.
    Milliseconds,
}

fn strict(row: &Row, number: impl Fn(&Speed) -> Option<f64>) -> Option<f64> {
    row.strict.as_ref().and_then(number)
}

const SPEED: [Column; 17] = [
    ("primal", |row| strict(row, |s| Some(s.primal.minimum)), Show::Time),
    ("gradient", |row| strict(row, |s| s.over_primal(Some(s.gradient))), Show::Ratio),
    ("hand", |row| strict(row, |s| s.over_primal(Some(s.hand))), Show::Ratio),
    ("gradient / hand", |row| strict(row, |s| Some(s.over_hand())), Show::Ratio),
    ("medians: gradient", |row| strict(row, |s| Some(s.gradient.median / s.primal.median)), Show::Ratio),
    ("medians: gradient / hand", |row| strict(row, |s| Some(s.gradient.median / s.hand.median)), Show::Ratio),
    ("with value", |row| strict(row, |s| s.over_primal(s.value_gradient)), Show::Ratio),
    ("with value: hand", |row| strict(row, |s| s.over_primal(s.hand_value)), Show::Ratio),
    ("within a limit", |row| strict(row, |s| s.over_primal(s.limited)), Show::Ratio),
    ("hand, checkpoints", |row| strict(row, |s| s.over_primal(s.hand_checkpoints)), Show::Ratio),
    ("default malloc", |row| row.default_malloc.as_ref().and_then(|s| s.over_primal(Some(s.gradient))), Show::Ratio),
    ("fast: gradient", |row| row.fast.as_ref().and_then(|s| s.over_primal(Some(s.gradient))), Show::Ratio),
    ("fast: gradient / hand", |row| row.fast.as_ref().map(Speed::over_hand), Show::Ratio),
    ("AD at -O0", |row| strict(row, |s| s.over_primal(s.unoptimised)), Show::Ratio),
    ("8 tangents / 1", |row| strict(row, |s| s.eight_over_one(0)), Show::Ratio),
    ("8 adjoints / 1", |row| strict(row, |s| s.eight_over_one(2)), Show::Ratio),
    ("reference", |row| strict(row, |s| s.over_primal(s.reference)), Show::Ratio),
];

fn heap(row: &Row, which: impl Fn(&Space) -> Option<Memory>) -> Option<f64> {
    row.memory.as_ref().and_then(which).map(|memory| memory.heap as f64)
}

const SPACE: [Column; 11] = [
    ("heap: primal", |row| heap(row, |m| Some(m.primal)), Show::Bytes),
    ("gradient", |row| heap(row, |m| Some(m.gradient)), Show::Bytes),
    ("hand", |row| heap(row, |m| Some(m.hand)), Show::Bytes),
    ("within a limit", |row| heap(row, |m| m.limited), Show::Bytes),
    ("hand, checkpoints", |row| heap(row, |m| m.hand_checkpoints), Show::Bytes),
    ("reference", |row| heap(row, |m| m.reference), Show::Bytes),
    ("needed", |row| row.memory.as_ref().map(|m| m.kept as f64), Show::Bytes),
    ("clang -O2", |row| row.compilation.map(|c| c.plain), Show::Milliseconds),
    ("AD / clang", |row| row.compilation.map(|c| c.added()), Show::Ratio),
    ("code: gradient", |row| row.compilation.map(|c| c.code as f64), Show::Bytes),
    ("code: hand", |row| row.compilation.map(|c| c.hand_code as f64), Show::Bytes),
];

/// A bare number of bytes, with three digits.
fn bytes(number: f64) -> String {
    match number {
        n if n < 1e3 => format!("{n:.0} B"),
        n if n < 1e6 => format!("{:.1} kB", n / 1e3),
        n => format!("{:.2} MB", n / 1e6),
    }
}

fn shown(number: f64, show: Show) -> String {
    match show {
        Show::Ratio => format!("{number:.2}"),
        Show::Time => table::duration(number),
        Show::Bytes => bytes(number),
        Show::Milliseconds => format!("{:.0} ms", 1e3 * number),
    }
}

/// The geometric mean, if there are positive numbers.
pub fn geometric_mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for number in numbers.filter(|number| *number > 0.0) {
        sum += number.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// Head and lines of a table.
struct Cells {
    head: Vec<String>,
    lines: Vec<Vec<String>>,
}

fn cells(rows: &[Row], columns: &[Column]) -> Cells {
    let used: Vec<&Column> =
        columns.iter().filter(|(_, number, _)| rows.iter().any(|row| number(row).is_some())).collect();
    let head = ["kernel", "size"].into_iter().chain(used.iter().map(|(title, ..)| *title)).map(str::to_owned).collect();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for row in rows {
        let mut line = vec![row.name.clone(), if row.size > 0 { row.size.to_string() } else { "refused".to_owned() }];
        line.extend(used.iter().map(|(_, number, show)| number(row).map_or_else(String::new, |n| shown(n, *show))));
        lines.push(line);
    }
    let mut means = vec!["geometric mean".to_owned(), String::new()];
    means.extend(used.iter().map(|(_, number, show)| {
        let mean = (*show == Show::Ratio).then(|| geometric_mean(rows.iter().filter_map(number))).flatten();
        mean.map_or_else(String::new, |mean| shown(mean, *show))
    }));
    lines.push(means);
    Cells { head, lines }
}

impl Cells {
    fn markdown(&self) -> String {
        let line = |words: &[String]| format!("| {} |\n", words.join(" | "));
        let rule = format!("| --- |{}\n", " ---: |".repeat(self.head.len() - 1));
        line(&self.head) + &rule + &self.lines.iter().map(|words| line(words)).collect::<String>()
    }

    fn terminal(&self) -> String {
        let head: Vec<&str> = self.head.iter().map(String::as_str).collect();
        let mut rows = table::new(&head);
        for line in &self.lines {
            rows.add_row(line.iter().map(table::text));
        }
        rows.to_string()
    }
}

impl Results {
    /// Tables for a terminal.
    pub fn terminal(&self) -> String {
        let tables: Vec<String> = self.tables().iter().map(Cells::terminal).collect();
        format!("{}\n{}", tables.join("\n\n"), self.remarks())
    }

    /// Tables in Markdown.
    pub fn markdown(&self) -> String {
        let tables: Vec<String> = self.tables().iter().map(Cells::markdown).collect();
        let growth = self.growth();
        let growth = if growth.is_empty() { growth } else { format!("\nGrowth with the size:\n\n{growth}") };
        format!("{}, {}.\n\n{}{growth}{}", self.processor, self.compiler, tables.join("\n"), self.remarks())
    }

    /// JSON.
    pub fn json(&self) -> Result<String> {
        serde_json::to_string_pretty(self).map_err(|error| Error::Failed(format!("writing JSON: {error}")))
    }

    /// Other tools, if they were measured, have the table for themselves.
    fn tables(&self) -> Vec<Cells> {
        let columns: &[&[Column]] =
            if self.kernels.iter().any(|row| row.others.is_some()) { &[&others::COLUMNS] } else { &[&SPEED, &SPACE] };
        columns.iter().map(|columns| cells(&self.kernels, columns)).collect()
    }

    fn remarks(&self) -> String {
        let remarks =
            self.kernels.iter().flat_map(|row| row.remarks.iter().map(|what| format!("- {}: {what}\n", row.name)));
        let missing = self.missing.iter().map(|what| format!("- {what}\n"));
        let remarks: String = missing.chain(remarks).collect();
        if remarks.is_empty() { remarks } else { format!("\n{remarks}") }
    }

    fn growth(&self) -> String {
        let mut text = String::new();
        for row in self.kernels.iter().filter(|row| !row.growth.is_empty()) {
            text.push_str(&format!("- {}:", row.name));
            for point in &row.growth {
                let ratio = point.speed.gradient.minimum / point.speed.primal.minimum;
                let heap = point.heap.map_or_else(String::new, |(ours, hand)| {
                    format!(", {} against {}", bytes(ours as f64), bytes(hand as f64))
                });
                text.push_str(&format!(
                    " {} ({ratio:.2}, {:.2} of by hand{heap});",
                    point.size,
                    point.speed.over_hand()
                ));
            }
            text.pop();
            text.push('\n');
        }
        text
    }

    /// Draws gradient and handwritten adjoint over the primal, one pair of bars for each kernel.
    pub fn plot(&self, path: &Path) -> Result<()> {
        let rows: Vec<(&Row, &Speed)> =
            self.kernels.iter().filter_map(|row| row.strict.as_ref().map(|speed| (row, speed))).collect();
        draw(path, &rows).map_err(|error| Error::Failed(format!("drawing {}: {error}", path.display())))
    }
}

fn draw(path: &Path, rows: &[(&Row, &Speed)]) -> Result<(), Box<dyn std::error::Error>> {
    const WIDTH: u32 = 900;
    const LINE: u32 = 26;
    let ratio = |speed: &Speed, time: Time| time.minimum / speed.primal.minimum;
    let longest = rows.iter().map(|(_, s)| ratio(s, s.gradient).max(ratio(s, s.hand))).fold(4.0, f64::max);
    let root = SVGBackend::new(path, (WIDTH, LINE * (rows.len() as u32 + 4))).into_drawing_area();
    root.fill(&WHITE)?;
    let count = rows.len() as f64;
    let mut chart = ChartBuilder::on(&root)
        .caption("time of the gradient / time of the primal (blue: ours, grey: by hand)", ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(110)
        .build_cartesian_2d((0.3..longest * 1.2).log_scale(), -0.5..count - 0.5)?;
    let name = |position: &f64| {
        let index = (count - 1.0 - position).round();
        rows.get(index as usize).map_or_else(String::new, |(row, _)| row.name.clone())
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(rows.len() + 1)
        .y_label_formatter(&name)
        .x_label_formatter(&|ratio| format!("{ratio:.1}"))
        .draw()?;
    for (index, (_, speed)) in rows.iter().enumerate() {
        let middle = count - 1.0 - index as f64;
        let bars = [(speed.gradient, 0.0, RGBColor(38, 84, 160)), (speed.hand, -0.35, RGBColor(160, 160, 160))];
        for (time, low, colour) in bars {
            let corners = [(0.3, middle + low), (ratio(speed, time), middle + low + 0.35)];
            chart.draw_series([Rectangle::new(corners, colour.filled())])?;
        }
    }
    chart.draw_series(LineSeries::new([(1.0, -0.5), (1.0, count - 0.5)], BLACK))?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let time = |nanoseconds: f64| Time { minimum: nanoseconds, median: 2.0 * nanoseconds };
        let speed = Speed {
            primal: time(100.0),
            gradient: time(250.0),
            hand: time(200.0),
            value_gradient: None,
            hand_value: None,
            hand_checkpoints: None,
            lanes: [None; 4],
            limited: None,
            unoptimised: None,
            reference: None,
            reference_value_gradient: None,
        };
        Row { name: "heat".to_owned(), size: 40, strict: Some(speed), ..Row::default() }
    }

    #[test]
    fn tables_have_the_columns_that_were_measured() {
        let results =
            Results { processor: "P".to_owned(), compiler: "C".to_owned(), kernels: vec![row()], missing: vec![] };
        let markdown = results.markdown();
        assert!(markdown.contains("| heat | 40 | 100 ns | 2.50 | 2.00 | 1.25 |"), "{markdown}");
        assert!(!markdown.contains("reference"));
        assert!(results.json().unwrap().contains("\"gradient\""));
    }

    #[test]
    fn means_are_geometric() {
        assert!((geometric_mean([2.0, 8.0].into_iter()).unwrap() - 4.0).abs() < 1e-12);
        assert!(geometric_mean(std::iter::empty()).is_none());
    }

    #[test]
    fn bytes_have_their_unit() {
        assert_eq!([12.0, 1234.0, 9e6].map(bytes), ["12 B", "1.2 kB", "9.00 MB"]);
    }
}
