//! The picture as Mermaid text, for documents that draw it themselves.

use std::fmt::Write as _;

use super::Aside;
use super::Capability;
use super::Diagram;
use super::Pattern;
use super::lettering::readable;
use super::text::destination;
use super::when;
use super::who;

/// The diagram as a Mermaid flow chart.
pub fn mermaid(diagram: &Diagram) -> String {
    let mut out = String::from("flowchart TD\n  begin((begin))\n");
    for (i, station) in diagram.stations.iter().enumerate() {
        let label = format!(
            "{} {}<br/>{}, {}",
            escaped(&station.id),
            escaped(&station.name),
            station.capability,
            who(station.pattern)
        );
        let (open, close) = match (station.capability, station.pattern) {
            (Capability::Decide, _) => ("{\"", "\"}"),
            (_, Pattern::HumanOnly | Pattern::HumanLed) => ("([\"", "\"])"),
            _ => ("[\"", "\"]"),
        };
        let _ = writeln!(out, "  s{}{open}{label}{close}", i + 1);
    }
    out.push_str("  done((end))\n");
    let line: Vec<String> = (1..=diagram.stations.len()).map(|i| format!("s{i}")).collect();
    let _ = writeln!(out, "  begin --> {}done", line.iter().map(|s| format!("{s} --> ")).collect::<String>());
    for way in &diagram.returns {
        for origin in &way.origins {
            let words: Vec<String> = origin.reasons.iter().map(|r| escaped(&r.words())).collect();
            let words = words.join("<br/>");
            let _ = writeln!(out, "  s{} -. \"RETURN: {words}\" .-> s{}", origin.from + 1, way.to + 1);
        }
    }
    for (i, station) in diagram.stations.iter().enumerate() {
        for (k, aside) in station.asides.iter().enumerate() {
            let _ = writeln!(out, "  {}", beside(aside, i + 1, k + 1));
        }
    }
    out
}

/// One thing beside a step, with the way to it.
fn beside(aside: &Aside, station: usize, number: usize) -> String {
    let node = format!("s{station}x{number}");
    match aside {
        Aside::Fix { id, name, pattern, invocation } => {
            let label = format!("{} {}<br/>fix, {}", escaped(id), escaped(name), who(*pattern));
            format!("s{station} -. \"{}\" .- {node}[/\"{label}\"/]", when(*invocation))
        }
        Aside::Defer { reason } => {
            format!("s{station} -->|\"{}\"| {node}([\"DEFER\"])", escaped(&reason.words()))
        }
        Aside::Block { reason } => {
            format!("s{station} -->|\"{}\"| {node}{{{{\"BLOCK\"}}}}", escaped(&reason.words()))
        }
        Aside::Exit { target, name, reason } => {
            let label = escaped(&destination(target, name.as_deref()));
            format!("s{station} -->|\"{}\"| {node}>\"{label}\"]", escaped(&reason.words()))
        }
    }
}

/// Text that stands inside quotation marks of Mermaid, which knows characters by name or number.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in readable(text).chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '#' => out.push_str("#35;"),
            '`' => out.push_str("#96;"),
            ';' => out.push_str("#59;"),
            '\\' => out.push_str("#92;"),
            c => out.push(c),
        }
    }
    out
}
