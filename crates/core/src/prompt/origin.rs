//! Where a prompt comes from: the markers in its head block.
//!
//! The **head block** is the run of lines at the very top of which each is blank, or holds nothing but whole HTML
//! comments, or is the title `DES_METADATA` in any notation. It ends before the first other line, also before the
//! title of another section and before a comment that goes over several lines. Markers count only there (K-32): a
//! task description may quote them without meaning them.

use serde::Serialize;

use super::outline::Line;
use super::outline::lines;
use super::outline::names;
use super::outline::title;
use super::sections::METADATA;
use crate::closest::closest;
use crate::finding::Place;

/// What a prompt without an origin marker has as its origin.
pub const AD_HOC: &str = "ad-hoc";
/// The version of the marker block.
pub const VERSION: &str = "1.0";

/// The markers that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Marker {
    Origin,
    StepFile,
    /// Which step of a state file that holds many (K-12).
    StepId,
    Validation,
    Version,
}

impl Marker {
    pub const ALL: [Marker; 5] =
        [Marker::Origin, Marker::StepFile, Marker::StepId, Marker::Validation, Marker::Version];

    pub fn name(self) -> &'static str {
        match self {
            Marker::Origin => "DES-ORIGIN",
            Marker::StepFile => "DES-STEP-FILE",
            Marker::StepId => "DES-STEP-ID",
            Marker::Validation => "DES-VALIDATION",
            Marker::Version => "DES-VERSION",
        }
    }

    /// The line that says `value`.
    pub fn line(self, value: &str) -> String {
        format!("<!-- {}: {value} -->", self.name())
    }

    /// The line as it is shown to somebody who has to write it.
    pub fn example(self) -> String {
        self.line(match self {
            Marker::Origin => "command:/nw:execute",
            Marker::StepFile => "{path}",
            Marker::StepId => "{step id}",
            Marker::Validation => "required",
            Marker::Version => VERSION,
        })
    }

    fn named(name: &str) -> Option<Marker> {
        Marker::ALL.into_iter().find(|marker| marker.name() == name)
    }
}

/// A comment of the head block that begins like a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub reading: Reading,
    pub value: String,
    /// The name as it was written.
    pub written: String,
    pub place: Place,
}

/// How well a marker was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// To the letter: `<!-- NAME: value -->`.
    Exact(Marker),
    /// Only blanks or the case of letters differ. It is understood, because it was plainly meant.
    Loose(Marker),
    /// A slip of the finger: probably this marker, but it is not taken for it.
    Misspelt(Marker),
    /// Begins with `DES-`, and is like no marker.
    Unknown,
}

/// How a marker begins that a body quotes.
const QUOTED: &str = "<!-- DES-";

/// The head block of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub found: Vec<Found>,
    /// The byte where the body begins.
    pub end: usize,
    /// The first line of the body that quotes a marker, which then means nothing.
    pub found_in_body: Option<Place>,
}

/// What is known about a prompt from its markers (DS-06).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Metadata {
    pub origin: String,
    pub step_file: Option<String>,
    pub step_id: Option<String>,
    pub requires_validation: bool,
    pub version: Option<String>,
}

impl Head {
    pub fn of(prompt: &str) -> Head {
        let mut head = Head { end: prompt.len(), ..Head::default() };
        let mut inside = true;
        for line in lines(prompt) {
            if inside && !head.take(&line) {
                inside = false;
                head.end = line.start;
                // Hardly any body quotes a marker, and one look at all of it is quicker than one at each line.
                if !prompt.get(line.start..).is_some_and(|body| body.contains(QUOTED)) {
                    break;
                }
            }
            if !inside && line.text.contains(QUOTED) {
                head.found_in_body = Some(line.place());
                break;
            }
        }
        head
    }

    /// Takes a line in if it belongs to the head block.
    fn take(&mut self, line: &Line<'_>) -> bool {
        if let Some(title) = title(line.text).filter(|_| !line.fenced) {
            return names(title.words, METADATA);
        }
        let Some(comments) = comments(line.text) else { return false };
        self.found.extend(comments.into_iter().filter_map(|inner| marker(inner, line.place())));
        true
    }

    /// The value of a marker; the first one counts.
    pub fn value(&self, wanted: Marker) -> Option<&str> {
        self.all(wanted).next().map(|found| found.value.as_str())
    }

    /// Every occurrence of a marker that is understood.
    pub fn all(&self, wanted: Marker) -> impl Iterator<Item = &Found> {
        self.found.iter().filter(move |found| {
            matches!(found.reading, Reading::Exact(marker) | Reading::Loose(marker) if marker == wanted)
        })
    }

    /// Whether the block demands validation (DS-05).
    pub fn requires_validation(&self) -> bool {
        self.all(Marker::Validation).any(|found| found.value.eq_ignore_ascii_case("required"))
    }

    /// The command that the origin names, without its arguments.
    pub fn command(&self) -> Option<&str> {
        self.commands().next()
    }

    /// The commands of all origins. There should be one; two of them contradict each other.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.all(Marker::Origin).filter_map(|found| {
            let origin = found.value.as_str();
            let command =
                origin.strip_prefix("command:").or_else(|| origin.starts_with('/').then_some(origin))?;
            command.split_whitespace().next()
        })
    }

    /// Whether anything in the block looks as if it was meant as a marker.
    pub fn is_tagged(&self) -> bool {
        self.found.iter().any(|found| found.reading != Reading::Unknown)
    }

    pub fn metadata(&self) -> Metadata {
        let owned = |marker| self.value(marker).map(str::to_owned);
        Metadata {
            origin: owned(Marker::Origin).unwrap_or_else(|| AD_HOC.to_owned()),
            step_file: owned(Marker::StepFile),
            step_id: owned(Marker::StepId),
            requires_validation: self.requires_validation(),
            version: owned(Marker::Version),
        }
    }
}

/// What the markers of a prompt say (DS-04 to DS-06).
pub fn extract(prompt: &str) -> Metadata {
    Head::of(prompt).metadata()
}

/// The insides of the comments of which a line consists, or `None` where it has something else.
fn comments(line: &str) -> Option<Vec<&str>> {
    let mut rest = line.trim();
    let mut found = vec![];
    while !rest.is_empty() {
        let (inner, behind) = rest.strip_prefix("<!--")?.split_once("-->")?;
        found.push(inner);
        rest = behind.trim_start();
    }
    Some(found)
}

fn marker(inner: &str, place: Place) -> Option<Found> {
    let words = inner.trim();
    if !words.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("DES-") || start == "DES_") {
        return None;
    }
    let (written, value) = words.split_once(':').unwrap_or((words, ""));
    let (name, value) = (written.trim(), value.trim());
    let exact = Marker::named(name).filter(|_| !value.is_empty() && is_exact(inner, name, value));
    let reading = exact.map_or_else(|| guessed(name, value), Reading::Exact);
    Some(Found { reading, value: value.to_owned(), written: name.to_owned(), place })
}

/// Whether a comment is ` NAME: value ` to the letter.
fn is_exact(inner: &str, name: &str, value: &str) -> bool {
    let rest = inner.strip_prefix(' ').and_then(|rest| rest.strip_prefix(name));
    rest.and_then(|rest| rest.strip_prefix(": ")).and_then(|rest| rest.strip_suffix(' ')) == Some(value)
}

/// What a marker that is not written to the letter was meant to be.
fn guessed(name: &str, value: &str) -> Reading {
    let folded = name.to_ascii_uppercase().replace(['_', ' '], "-");
    if let Some(marker) = Marker::named(&folded).filter(|_| !value.is_empty()) {
        return Reading::Loose(marker);
    }
    let meant = closest(&folded, Marker::ALL.map(Marker::name)).and_then(Marker::named);
    meant.map_or(Reading::Unknown, Reading::Misspelt)
}
