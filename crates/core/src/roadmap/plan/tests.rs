//! Roadmaps of all shapes: read, checked, and put in order.

mod graphs;
mod reviews;
mod rules;
mod shapes;

use crate::finding::Finding;
use crate::roadmap::plan::Roadmap;

/// A roadmap in the form of schema 2.0.
pub(super) const PLAN: &str = include_str!("tests/plan.yaml");
/// A roadmap in the official form 1.0.
pub(super) const OFFICIAL: &str = include_str!("tests/official.json");

#[track_caller]
fn read(text: &str) -> Roadmap {
    Roadmap::read("roadmap.yaml", text).0.unwrap()
}

/// The findings, one line each.
fn lines(text: &str) -> Vec<String> {
    let line =
        |f: &Finding| format!("{}:{} {} {} {}", f.place.line, f.place.column, f.severity, f.rule, f.message);
    Roadmap::read("roadmap.yaml", text).1.iter().map(line).collect()
}

fn ids(roadmap: &Roadmap) -> Vec<&str> {
    roadmap.ids()
}
