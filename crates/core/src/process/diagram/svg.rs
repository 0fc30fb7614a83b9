//! The picture as SVG: one file that needs nothing else, readable on a light and on a dark screen and by a screen
//! reader.

use std::fmt::Write as _;

use super::Aside;
use super::Diagram;
use super::Pattern;
use super::Station;
use super::lettering::readable;
use super::plan::BOX_WIDTH;
use super::plan::CARD_WIDTH;
use super::plan::Card;
use super::plan::CardKind;
use super::plan::ENTRY;
use super::plan::LINE_HEIGHT;
use super::plan::MARGIN;
use super::plan::NAME_HEIGHT;
use super::plan::Plan;
use super::plan::Row;
use super::plan::TITLE_HEIGHT;
use super::plan::decides;
use super::text::destination;
use super::when;
use super::who;

/// Stands in every picture, so that one can be told from a file of somebody else's.
pub const MADE_BY: &str = "<!-- Drawn by seriatim from a process definition. -->";

const STYLE: &str = "\
    .ground { fill: #ffffff } text { fill: currentColor; font-family: ui-sans-serif, system-ui, 'Segoe UI', Roboto, \
    'DejaVu Sans', sans-serif; font-size: 12px } .title { font-size: 19px; font-weight: 600 } \
    .name { font-size: 14px; font-weight: 600 } .faint { fill: #5b6675 } .strong { font-weight: 600 }\n\
    .line { fill: none; stroke: #64748b; stroke-width: 1.6 } .point { fill: #64748b }\n\
    .back { fill: none; stroke: #b4540a; stroke-width: 1.6 } .back-point, .back-word { fill: #b4540a }\n\
    .agent { fill: #eef4ff; stroke: #3b6fd4 } .person { fill: #fff4e3; stroke: #c77700 } .both { fill: #f3efff; \
    stroke: #7c5cd6 } .mark { fill: none; stroke: currentColor; stroke-width: 1.4 } .dot { fill: currentColor }\n\
    .card { fill: #f8fafc } .fix { stroke: #7c5cd6; stroke-dasharray: 5 3 } .defer { stroke: #64748b } \
    .block { stroke: #c62828 } .exit { stroke: #0f766e } .side { fill: none; stroke-width: 1.4 }\n\
    @media (prefers-color-scheme: dark) { svg { color: #e5e9f0 } .ground { fill: #10151d } .faint { fill: #a3b0c2 } \
    .line { stroke: #8fa0b5 } .point { fill: #8fa0b5 } .back { stroke: #f0a35e } .back-point, .back-word { fill: \
    #f0a35e } .agent { fill: #16233d; stroke: #6f9bf0 } .person { fill: #352711; stroke: #e2a13f } .both { fill: \
    #261f3f; stroke: #a78bfa } .card { fill: #18202b } .fix { stroke: #a78bfa } .defer { stroke: #8fa0b5 } .block { \
    stroke: #ef6b6b } .exit { stroke: #34b3a5 } }";

/// The diagram as a file.
pub fn svg(diagram: &Diagram) -> String {
    let plan = Plan::of(diagram);
    let mut sheet = Sheet::default();
    sheet.open(diagram, &plan);
    for (row, station) in plan.rows.iter().zip(&diagram.stations) {
        sheet.station(&plan, row, station);
        for card in &row.cards {
            sheet.card(&plan, card);
        }
    }
    sheet.line(&plan);
    sheet.ways(diagram, &plan);
    sheet.put("</svg>");
    sheet.out
}

#[derive(Default)]
struct Sheet {
    out: String,
}

impl Sheet {
    fn put(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn words(&mut self, class: &str, x: u32, y: u32, text: &str) {
        let _ = writeln!(self.out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(text));
    }

    fn path(&mut self, class: &str, way: &str, rest: &str) {
        let _ = writeln!(self.out, "<path class=\"{class}\" d=\"{way}\"{rest}/>");
    }

    /// Frame, description for those who do not see it, style, title.
    fn open(&mut self, diagram: &Diagram, plan: &Plan) {
        let (width, height) = (plan.width, plan.height);
        let _ = writeln!(
            self.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"seriatim-title seriatim-desc\" color=\"#1f2937\">"
        );
        self.put(MADE_BY);
        let _ =
            writeln!(self.out, "<title id=\"seriatim-title\">{}</title>", escaped(&readable(&diagram.name)));
        let _ = writeln!(self.out, "<desc id=\"seriatim-desc\">{}</desc>", escaped(&described(diagram)));
        let _ = writeln!(self.out, "<style>\n{STYLE}\n</style>");
        for (id, class) in [("seriatim-point", "point"), ("seriatim-back", "back-point")] {
            let _ = writeln!(
                self.out,
                "<marker id=\"{id}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"10\" \
                 markerHeight=\"10\" markerUnits=\"userSpaceOnUse\" orient=\"auto-start-reverse\">\
                 <path class=\"{class}\" d=\"M0 0.8 10 5 0 9.2z\"/></marker>"
            );
        }
        let _ = writeln!(self.out, "<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>");
        let mut y = MARGIN + 16;
        for line in &plan.title {
            self.words("title", MARGIN, y, line);
            y += TITLE_HEIGHT;
        }
        self.words("faint", MARGIN, y - 4, &readable(&diagram.id));
    }

    /// Begin, end, and the line between them.
    fn line(&mut self, plan: &Plan) {
        let x = plan.line_x();
        let (begin, end) = (plan.begin_y, plan.end_y);
        let _ = writeln!(self.out, "<circle class=\"point\" cx=\"{x}\" cy=\"{begin}\" r=\"7\"/>");
        self.words("faint", x + 16, begin + 4, "begin");
        let mut from = begin + 7;
        for row in &plan.rows {
            let way = format!("M{x} {from}V{}", row.y);
            self.path("line", &way, " marker-end=\"url(#seriatim-point)\"");
            from = row.y + row.height;
        }
        let way = format!("M{x} {from}V{}", end - 9);
        self.path("line", &way, " marker-end=\"url(#seriatim-point)\"");
        let _ = writeln!(self.out, "<circle class=\"line\" cx=\"{x}\" cy=\"{end}\" r=\"8\"/>");
        let _ = writeln!(self.out, "<circle class=\"point\" cx=\"{x}\" cy=\"{end}\" r=\"4\"/>");
        self.words("faint", x + 16, end + 4, "end");
    }

    fn station(&mut self, plan: &Plan, row: &Row, station: &Station) {
        let class = match station.pattern {
            Pattern::HumanOnly | Pattern::HumanLed => "person",
            Pattern::Partnership => "both",
            Pattern::AiLed | Pattern::AiOnly => "agent",
        };
        let (x, y, height) = (plan.box_x, row.y, row.height);
        let _ = writeln!(
            self.out,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{height}\" rx=\"8\"/>"
        );
        let middle = y + height / 2;
        match class {
            "person" => self.person(x + 24, middle),
            "agent" => self.agent(x + 24, middle),
            _ => {
                self.person(x + 24, middle - 12);
                self.agent(x + 24, middle + 12);
            }
        }
        if decides(station) {
            let way = format!("M{} {}l8 8-8 8-8-8z", x + BOX_WIDTH - 18, y + 8);
            self.path("mark", &way, "");
        }
        let mut at = middle - row.words_height() / 2 + 14;
        for line in &row.name {
            self.words("name", x + 46, at, line);
            at += NAME_HEIGHT;
        }
        for line in &row.meta {
            self.words("faint", x + 46, at - 2, line);
            at += LINE_HEIGHT;
        }
    }

    fn person(&mut self, x: u32, y: u32) {
        let _ = writeln!(self.out, "<circle class=\"mark\" cx=\"{x}\" cy=\"{}\" r=\"4\"/>", y - 5);
        self.path("mark", &format!("M{} {}c0-9 16-9 16 0z", x - 8, y + 9), "");
    }

    fn agent(&mut self, x: u32, y: u32) {
        let (left, top) = (x - 8, y - 6);
        let _ = writeln!(
            self.out,
            "<rect class=\"mark\" x=\"{left}\" y=\"{top}\" width=\"16\" height=\"13\" rx=\"3\"/>"
        );
        self.path("mark", &format!("M{x} {top}v-4"), "");
        for eye in [x - 3, x + 3] {
            let _ = writeln!(self.out, "<circle class=\"dot\" cx=\"{eye}\" cy=\"{y}\" r=\"1.4\"/>");
        }
    }

    fn card(&mut self, plan: &Plan, card: &Card) {
        let (x, y, height) = (plan.card_x, card.y, card.height);
        let (class, both) = match card.kind {
            CardKind::Fix => ("fix", " marker-start=\"url(#seriatim-point)\""),
            CardKind::Defer => ("defer", ""),
            CardKind::Block => ("block", ""),
            CardKind::Exit => ("exit", ""),
        };
        let middle = y + height / 2;
        let way = format!("M{} {middle}H{x}", plan.box_x + BOX_WIDTH);
        self.path(&format!("side {class}"), &way, &format!("{both} marker-end=\"url(#seriatim-point)\""));
        if card.kind == CardKind::Exit {
            // A sign that points away.
            let way = format!(
                "M{x} {y}h{}l14 {}-14 {}h-{}z",
                CARD_WIDTH - 14,
                height / 2,
                height - height / 2,
                CARD_WIDTH - 14
            );
            self.path(&format!("card {class}"), &way, "");
        } else {
            let round = if card.kind == CardKind::Defer { 14 } else { 4 };
            let _ = writeln!(
                self.out,
                "<rect class=\"card {class}\" x=\"{x}\" y=\"{y}\" width=\"{CARD_WIDTH}\" height=\"{height}\" \
                 rx=\"{round}\"/>"
            );
        }
        let mark = match card.kind {
            CardKind::Fix => format!("M{} {}h10m-5-5v10", x + 12, y + 18),
            CardKind::Defer => format!("M{} {}v10m6-10v10", x + 14, y + 13),
            CardKind::Block => format!("M{} {}h6l4 4v6l-4 4h-6l-4-4v-6zl6 14", x + 14, y + 11),
            CardKind::Exit => format!("M{} {}h10m-4-4 4 4-4 4", x + 12, y + 18),
        };
        self.path(&format!("side {class}"), &mark, " style=\"stroke-dasharray:none\"");
        let mut at = y + 22;
        for line in &card.title {
            self.words("strong", x + 30, at, line);
            at += LINE_HEIGHT;
        }
        for line in &card.lines {
            self.words("faint", x + 12, at, line);
            at += LINE_HEIGHT;
        }
    }

    /// Ways back, each from its words over its track to the step that it enters.
    fn ways(&mut self, diagram: &Diagram, plan: &Plan) {
        const BEND: u32 = 7;
        for label in plan.rows.iter().flat_map(|row| &row.labels) {
            let way = &diagram.returns[label.way];
            let (track, enter) = (plan.track_x(way.track), plan.rows[way.to].y + ENTRY);
            let (y, x) = (label.y, plan.box_x);
            let (near, far) = if enter < y { (y - BEND, enter + BEND) } else { (y + BEND, enter - BEND) };
            let path = format!(
                "M{x} {y}H{}Q{track} {y} {track} {near}V{far}Q{track} {enter} {} {enter}H{x}",
                track + BEND,
                track + BEND
            );
            self.path("back", &path, " marker-end=\"url(#seriatim-back)\"");
            let lines = u32::try_from(label.lines.len()).unwrap_or(u32::MAX);
            let mut at = (y - 6).saturating_sub(LINE_HEIGHT * lines.saturating_sub(1));
            for line in &label.lines {
                self.words("back-word", plan.label_x + 4, at, line);
                at += LINE_HEIGHT;
            }
        }
    }
}

/// The same in words.
fn described(diagram: &Diagram) -> String {
    let mut said = vec![];
    let about = readable(&diagram.description);
    if !about.is_empty() {
        said.push(about);
    }
    for (i, station) in diagram.stations.iter().enumerate() {
        let (name, doer) = (readable(&station.name), who(station.pattern));
        said.push(format!("Step {}: {name}, {}, {doer}.", i + 1, station.capability));
        for way in &diagram.returns {
            let target = &diagram.stations[way.to];
            for reason in way.origins.iter().filter(|o| o.from == i).flat_map(|o| &o.reasons) {
                said.push(format!("Back to {}: {}.", readable(&target.name), readable(&reason.words())));
            }
        }
        said.extend(station.asides.iter().map(|aside| readable(&told(aside))));
    }
    said.join(" ")
}

fn told(aside: &Aside) -> String {
    match aside {
        Aside::Fix { name, invocation, .. } => format!("Fix {name}: {}.", when(*invocation)),
        Aside::Defer { reason } => format!("Put off: {}.", reason.words()),
        Aside::Block { reason } => format!("Stopped: {}.", reason.words()),
        Aside::Exit { target, name, reason } => {
            format!("Handed over to {}: {}.", destination(target, name.as_deref()), reason.words())
        }
    }
}

/// Text inside an element.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
