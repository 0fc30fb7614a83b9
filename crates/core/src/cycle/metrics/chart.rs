//! The metrics as a picture: a bar for each value, and a mark where its goal is.

use super::Row;

const WIDTH: u32 = 640;
const ROW_HEIGHT: u32 = 28;
const BAR_LEFT: u32 = 160;
const BAR_WIDTH: u32 = 200;

/// An SVG that shows every row. Bars that miss their goal differ in pattern as well as in colour.
pub(super) fn draw(rows: &[Row]) -> String {
    let height = ROW_HEIGHT * u32::try_from(rows.len()).unwrap_or(0) + 16;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n<title>Metrics of the cycles</title>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let mut top = 8;
    for row in rows {
        svg.push_str(&draw_row(row, top));
        top += ROW_HEIGHT;
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_row(row: &Row, top: u32) -> String {
    let missed = row.metric.met() == Some(false);
    let (fill, stroke) = if missed { ("#fff", "#b00") } else { ("#47a", "#47a") };
    let text = |x: u32, words: &str| {
        format!("<text x=\"{x}\" y=\"{}\" fill=\"#222\">{}</text>\n", top + 16, escaped(words))
    };
    let length = row.metric.value.map_or(0, |value| width_of(value, row.full));
    let mut svg = text(8, row.name);
    svg.push_str(&format!(
        "<rect x=\"{BAR_LEFT}\" y=\"{}\" width=\"{length}\" height=\"14\" fill=\"{fill}\" stroke=\"{stroke}\"/>\n",
        top + 5
    ));
    if let Some(goal) = row.metric.goal {
        let x = BAR_LEFT + width_of(goal.number(), row.full);
        svg.push_str(&format!(
            "<line x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\" stroke=\"#222\" stroke-dasharray=\"2 2\"/>\n",
            top + 1,
            top + 23
        ));
    }
    let goal = if row.goal.is_empty() { String::new() } else { format!(", goal {}", row.goal) };
    svg.push_str(&text(BAR_LEFT + BAR_WIDTH + 12, &format!("{}{goal}", row.value)));
    svg
}

/// Whole points, so that the same numbers give the same bytes everywhere.
fn width_of(value: f64, full: f64) -> u32 {
    (f64::from(BAR_WIDTH) * (value / full).clamp(0.0, 1.0)).round() as u32
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
