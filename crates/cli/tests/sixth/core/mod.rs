//! The room of the tally dialect in `core`: its document, its facts, and what `show` presents.

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;
use seriatim_core::check::Surroundings;
use seriatim_core::doc;
use seriatim_core::doc::Fields;
use seriatim_core::doc::Limits;
use seriatim_core::doc::Sink;
use seriatim_core::documents::DocumentKind;
use seriatim_core::documents::no_conditions;
use seriatim_core::documents::nothing_beside;
use seriatim_core::finding::Finding;
use seriatim_core::projection::Fact;
use seriatim_core::sentence::Sentence;
use seriatim_core::sentence::SharedFact;
use seriatim_core::sentence::Telling;
use seriatim_core::sentence::told;
use seriatim_core::view::RunView;
use seriatim_core::view::Section;

/// A list of things to count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) title: String,
    pub(crate) things: Vec<String>,
}

impl Tally {
    pub(crate) fn read(bytes: &[u8]) -> (Option<Tally>, Vec<Finding>) {
        let (tree, mut findings) = doc::parse(bytes, &Limits::default());
        let sink = Sink::default();
        let tally = tree.as_ref().and_then(|tree| {
            let mut top = Fields::of(tree, "a tally", &sink)?;
            let title = top.required_text("tally").value;
            let things = top.lines("things").into_iter().map(|thing| thing.value).collect();
            top.finish();
            Some(Tally { title, things })
        });
        findings.extend(sink.into_findings());
        (tally, findings)
    }
}

pub(crate) const DOCUMENTS: &[DocumentKind] = &[DocumentKind {
    name: "tally",
    recognises: |look| look.tree.is_some_and(|tree| tree.get("tally").is_some()),
    steers: |look| look.tree.is_some_and(|tree| tree.get("tally").is_some()),
    check,
    beside: nothing_beside,
    conditions: no_conditions,
}];

fn check(_name: &str, bytes: &[u8], _around: &Surroundings) -> Vec<Finding> {
    Tally::read(bytes).1
}

/// What a tally puts on record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub(crate) enum TallyFact {
    Opened { title: String, things: usize },
    Counted { thing: String, number: u64 },
    LeftOut { thing: String, by: String },
}

impl Telling for TallyFact {
    fn sentence(&self) -> Sentence {
        match self {
            TallyFact::Opened { title, things } => {
                Sentence::new(format!("\"{title}\" has {things} things to count."))
            }
            TallyFact::Counted { thing, number } => Sentence::good(format!("Counted {number} {thing}.")),
            TallyFact::LeftOut { thing, by } => Sentence::attention(format!("{by} skipped {thing}.")),
        }
    }
}

pub(crate) fn tell(fact: &Value) -> Option<Sentence> {
    told::<TallyFact>(fact).or_else(|| told::<SharedFact>(fact))
}

pub(crate) fn view(facts: &[Fact]) -> RunView {
    let mut section = Section::new("Tally");
    let mut total = 0;
    for fact in facts {
        match serde_json::from_value(fact.data.clone()) {
            Ok(TallyFact::Counted { thing, number }) => {
                total += number;
                section.line(&thing, number.to_string());
            }
            Ok(TallyFact::LeftOut { thing, .. }) => section.line(&thing, "skipped"),
            Ok(TallyFact::Opened { .. }) | Err(_) => {}
        }
    }
    let fields = json!({"total": total}).as_object().cloned().unwrap_or_default();
    RunView { fields, sections: vec![section], ..RunView::default() }
}
