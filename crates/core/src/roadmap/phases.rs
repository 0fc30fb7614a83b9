//! The phases of a step: which there are, in which order, and which words a generation uses for them.
//!
//! A list of phases is data. Five generations are built in; a project may bring its own (K-01).

mod generations;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::doc;
use crate::doc::Fields;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::has_errors;

/// One phase of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// From 0 on (K-28).
    pub index: usize,
    pub name: String,
    /// The gate that closes it: `G1` to `G6`.
    pub gate: Option<String>,
    /// It may be pre-set as not applicable for steps without an acceptance test (K-10).
    pub atdd_only: bool,
    /// It is pre-set as not applicable only where the roadmap says so itself (K-10).
    pub skip_if_stated: bool,
}

/// The phases of one generation, and its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    pub version: String,
    /// The status of a phase that was carried out: `EXECUTED` or `COMPLETED` (K-03).
    pub done: String,
    /// The status of a phase that failed; where it is that of a finished one, the outcome says `FAIL` (K-04).
    pub failed: String,
    /// The titles under which a prompt may list the phases, the preferred one first.
    pub titles: Vec<String>,
    pub phases: Vec<Phase>,
}

static BUILT_IN: LazyLock<Vec<Schema>> = LazyLock::new(generations::all);
static SEVEN: LazyLock<Schema> = LazyLock::new(generations::seven);

/// What a phase list is called in messages.
const WHAT: &str = "the phase schema";

impl Schema {
    /// The generations that are built in, the oldest first.
    pub fn built_in() -> &'static [Schema] {
        &BUILT_IN
    }

    /// The generation that is used where nothing says otherwise: seven phases.
    pub fn usual() -> &'static Schema {
        &SEVEN
    }

    /// A built-in generation by its number: `1`, `v1`, `1.0`, `v1.0` and `1.0.0` are the same.
    pub fn of_version(version: &str) -> Option<&'static Schema> {
        let major = |text: &str| {
            let text = text.trim();
            let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
            digits.split('.').next().and_then(|major| major.parse::<u32>().ok())
        };
        let wanted = major(version)?;
        Schema::built_in().iter().find(|schema| major(&schema.version) == Some(wanted))
    }

    /// Reads a schema, or says everything that keeps it from being one.
    pub fn parse(text: &str) -> Result<Schema, Vec<Finding>> {
        let document = doc::read(text.as_bytes(), &Limits::default())?;
        let sink = Sink::default();
        let schema = Schema::of(&document.root, &sink);
        let mut findings = document.findings;
        findings.extend(sink.into_findings());
        match schema {
            Some(schema) if !has_errors(&findings) => Ok(schema),
            _ => Err(findings),
        }
    }

    fn of(root: &Node, sink: &Sink) -> Option<Schema> {
        let mut fields = Fields::of(root, WHAT, sink)?;
        let version = fields.required_text("version").value;
        let done = fields.text("done").map_or_else(|| "COMPLETED".to_owned(), |word| word.value);
        let failed = fields.text("failed").map_or_else(|| done.clone(), |word| word.value);
        let titles = fields.lines("titles").into_iter().map(|title| title.value).collect();
        let list = fields.required("phases");
        let mut phases: Vec<Phase> = vec![];
        for node in list.and_then(Node::as_seq).unwrap_or_default() {
            let Some(phase) = phase(node, phases.len(), sink) else { continue };
            if phases.iter().any(|known| known.name == phase.name) {
                let message = format!("the phase `{}` is listed twice", phase.name);
                sink.push(Finding::error("duplicate-phase", node.place, message).help("remove one of them"));
                continue;
            }
            phases.push(phase);
        }
        if let Some(list) = list
            && phases.is_empty()
        {
            sink.push(Finding::error("type", list.place, "the phase schema needs a list of phases"));
        }
        fields.finish();
        Some(Schema { version, done, failed, titles, phases })
    }

    /// The built-in generation that a file's phase names belong to; none where not one name is known.
    pub fn detect<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<&'static Schema> {
        Schema::detect_in(Schema::built_in(), names)
    }

    /// The same among the built-in generations and a project's own.
    pub fn detect_among<'s, 'n>(
        own: &'s [Schema],
        names: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'s Schema> {
        match own {
            [] => Schema::detect(names),
            own => Schema::detect_in(own.iter().chain(Schema::built_in()), names),
        }
    }

    /// The schema that phase names belong to: the one with exactly these, else the smallest that has them all, else
    /// the one that knows most of them.
    pub fn detect_in<'s, 'n>(
        schemas: impl IntoIterator<Item = &'s Schema>,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'s Schema> {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let known =
            |schema: &Schema| schema.phases.iter().filter(|p| names.contains(p.name.as_str())).count();
        schemas
            .into_iter()
            .filter(|schema| known(schema) > 0)
            .min_by_key(|schema| (names.len() - known(schema), schema.phases.len() - known(schema)))
    }

    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.phases.iter().map(|phase| phase.name.as_str())
    }
}

/// The name of the phase in which the work is committed; the gate before it looks at all phases before it (K-02).
pub const COMMIT: &str = "COMMIT";

/// A phase is a mapping, or its bare name.
fn phase(node: &Node, index: usize, sink: &Sink) -> Option<Phase> {
    if let Some(name) = node.as_str() {
        return Some(Phase { index, name: name.to_owned(), ..Phase::default() });
    }
    let mut fields = Fields::of(node, "a phase", sink)?;
    let name = fields.required_text("name").value;
    let gate = fields.text("gate").map(|gate| gate.value);
    let atdd_only = fields.flag("atdd_only").is_some_and(|flag| flag.value);
    let skip_if_stated = fields.flag("skip_if_stated").is_some_and(|flag| flag.value);
    // A roadmap's own list carries these; the order of the list is what counts.
    fields.ignore(&["index", "description"]);
    fields.finish();
    Some(Phase { index, name, gate, atdd_only, skip_if_stated })
}
