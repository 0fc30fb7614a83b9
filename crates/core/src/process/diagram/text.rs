//! The picture for a terminal.

use super::Aside;
use super::Diagram;
use super::Station;
use super::lettering::padded;
use super::lettering::wrap;
use super::when;
use super::who;

/// The width of a box without its frame.
const INNER: usize = 36;
const BOX: usize = INNER + 4;
/// Where the line goes through.
const MIDDLE: usize = BOX / 2;
/// Notes beside a box are never narrower.
const NOTE_COLUMNS_MIN: usize = 24;
const LINES_MAX: usize = 6;

/// A line of the picture: the box or the line between boxes, and what stands beside it.
#[derive(Default)]
struct Row {
    body: String,
    note: String,
}

/// Where ways join and leave a box.
struct Doors {
    enter: usize,
    leave: usize,
}

/// Draws for a terminal of this many columns. Every line ends with a line break.
pub fn text(diagram: &Diagram, columns: usize) -> String {
    let side = if diagram.tracks == 0 { 0 } else { 2 * diagram.tracks + 1 };
    let note_columns = columns.saturating_sub(side + BOX + 3).max(NOTE_COLUMNS_MIN);
    let mut rows = vec![on_line("● begin"), on_line("▼")];
    let mut doors = vec![];
    for (index, station) in diagram.stations.iter().enumerate() {
        if index > 0 {
            rows.extend([on_line("│"), on_line("▼")]);
        }
        doors.push(draw(station, &notes(diagram, index, note_columns), &mut rows));
    }
    for origin in diagram.returns.iter().flat_map(|way| &way.origins) {
        let row = &mut rows[doors[origin.from].leave];
        if let Some(rest) = row.body.strip_prefix('│') {
            row.body = format!("┤{rest}");
        }
    }
    rows.extend([on_line("│"), on_line("● end")]);
    let ways = ways(diagram, &doors, rows.len());
    let mut out = String::new();
    for (row, way) in rows.iter().zip(ways) {
        let line = format!("{way}{}{}", padded(&row.body, BOX), row.note);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn on_line(what: &str) -> Row {
    Row { body: format!("{}{what}", " ".repeat(MIDDLE)), note: String::new() }
}

/// A box with its notes; high enough for both, so that every note touches it.
fn draw(station: &Station, notes: &[Vec<String>], rows: &mut Vec<Row>) -> Doors {
    let mut lines = wrap(&format!("{} {}", station.id, station.name), INNER, LINES_MAX);
    let mark = if station.capability == super::Capability::Decide { "◆ " } else { "" };
    lines.extend(wrap(&format!("{mark}{} · {}", station.capability, who(station.pattern)), INNER, LINES_MAX));
    for remark in &station.remarks {
        lines.extend(wrap(remark, INNER, LINES_MAX));
    }
    let beside: Vec<(bool, &String)> =
        notes.iter().flat_map(|note| note.iter().enumerate().map(|(i, line)| (i == 0, line))).collect();
    lines.resize(lines.len().max(beside.len()).max(2), String::new());
    let ruler = "─".repeat(BOX - 2);
    rows.push(Row { body: format!("┌{ruler}┐"), note: String::new() });
    let first = rows.len();
    for (i, line) in lines.iter().enumerate() {
        let (edge, note) = match beside.get(i) {
            Some((true, note)) => ("├", format!("─ {note}")),
            Some((false, note)) => ("│", format!("  {note}")),
            None => ("│", String::new()),
        };
        rows.push(Row { body: format!("│ {} {edge}", padded(line, INNER)), note });
    }
    let doors = Doors { enter: first, leave: rows.len() - 1 };
    let (left, right) = ("─".repeat(MIDDLE - 1), "─".repeat(BOX - MIDDLE - 2));
    rows.push(Row { body: format!("└{left}┬{right}┘"), note: String::new() });
    doors
}

/// What stands beside a box, each as its lines.
fn notes(diagram: &Diagram, index: usize, columns: usize) -> Vec<Vec<String>> {
    let mut notes = vec![];
    for way in &diagram.returns {
        let target = &diagram.stations[way.to];
        for reason in way.origins.iter().filter(|o| o.from == index).flat_map(|o| &o.reasons) {
            notes.push(format!("RETURN to {}: {}", target.id, reason.words()));
        }
    }
    for aside in &diagram.stations[index].asides {
        notes.push(match aside {
            Aside::Fix { id, name, pattern, invocation } => {
                format!("FIX {id} {name} ({}): {}", who(*pattern), when(*invocation))
            }
            Aside::Defer { reason } => format!("DEFER: {}", reason.words()),
            Aside::Block { reason } => format!("BLOCK: {}", reason.words()),
            Aside::Exit { target, name, reason } => {
                format!("EXIT to {}: {}", destination(target, name.as_deref()), reason.words())
            }
        });
    }
    notes.iter().map(|note| wrap(note, columns, LINES_MAX)).collect()
}

/// Another process as people know it.
pub(super) fn destination(target: &str, name: Option<&str>) -> String {
    match (target, name) {
        ("", _) => "nowhere, as no target is named".to_owned(),
        (target, Some(name)) => format!("{name} ({target})"),
        (target, None) => target.to_owned(),
    }
}

const UP: u8 = 1;
const RIGHT: u8 = 2;
const DOWN: u8 = 4;
const LEFT: u8 = 8;

/// The ways at the side, one text for each row of the picture.
fn ways(diagram: &Diagram, doors: &[Doors], rows: usize) -> Vec<String> {
    if diagram.tracks == 0 {
        return vec![String::new(); rows];
    }
    let columns = 2 * diagram.tracks + 1;
    let mut cells = vec![vec![0u8; columns]; rows];
    for way in &diagram.returns {
        let track = 2 * (diagram.tracks - 1 - way.track);
        let mut ends: Vec<usize> = way.origins.iter().map(|o| doors[o.from].leave).collect();
        ends.push(doors[way.to].enter);
        let (top, bottom) = (ends.iter().min().copied(), ends.iter().max().copied());
        let (Some(top), Some(bottom)) = (top, bottom) else { continue };
        for row in top..bottom {
            cells[row][track] |= DOWN;
            cells[row + 1][track] |= UP;
        }
        for row in ends {
            cells[row][track] |= RIGHT;
            for cell in &mut cells[row][track + 1..] {
                *cell |= LEFT | RIGHT;
            }
        }
    }
    let entered: Vec<usize> = diagram.returns.iter().map(|way| doors[way.to].enter).collect();
    let line = |(row, cells): (usize, &Vec<u8>)| {
        let mut line: String = cells.iter().map(|cell| glyph(*cell)).collect();
        if entered.contains(&row) {
            line.pop();
            line.push('►');
        }
        line
    };
    cells.iter().enumerate().map(line).collect()
}

fn glyph(cell: u8) -> char {
    const UP_DOWN: u8 = UP | DOWN;
    const LEFT_RIGHT: u8 = LEFT | RIGHT;
    match cell {
        0 => ' ',
        UP_DOWN | UP | DOWN => '│',
        LEFT_RIGHT | LEFT | RIGHT => '─',
        c if c == DOWN | RIGHT => '╭',
        c if c == UP | RIGHT => '╰',
        c if c == UP_DOWN | RIGHT => '├',
        c if c == DOWN | LEFT_RIGHT => '┬',
        c if c == UP | LEFT_RIGHT => '┴',
        _ => '┼',
    }
}
