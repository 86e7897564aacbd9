//! Tables for people: right-aligned numbers, colour only on a terminal and only if `NO_COLOR` is unset.

use comfy_table::{Cell, CellAlignment, Color, LineStyle, Table, TableStyle};

/// Three rules and no verticals.
const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// A table with these columns; the first holds names, the others numbers.
pub fn new(columns: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(columns.iter().map(|name| Cell::new(name).set_alignment(CellAlignment::Center)));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        table.force_no_tty();
    }
    table
}

/// A cell of text.
pub fn text(content: impl ToString) -> Cell {
    Cell::new(content)
}

/// A cell that is red if something is wrong, else green.
pub fn verdict(content: impl ToString, good: bool) -> Cell {
    Cell::new(content).fg(if good { Color::Green } else { Color::Red })
}

/// Nanoseconds in the unit that suits them.
pub fn duration(nanoseconds: f64) -> String {
    let (scale, unit) = match nanoseconds {
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "µs"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let number = nanoseconds / scale;
    let decimals = if number < 10.0 {
        2
    } else if number < 100.0 {
        1
    } else {
        0
    };
    format!("{number:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_their_unit() {
        assert_eq!(
            [2.5, 31.0, 999.0, 1e3, 45.67e6, 3e9].map(duration),
            ["2.50 ns", "31.0 ns", "999 ns", "1.00 µs", "45.7 ms", "3.00 s"]
        );
    }
}
