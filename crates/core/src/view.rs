//! A run as `show` presents it: sections for people, fields for machines. Dialects fill it, the face renders it.

use serde_json::Map;
use serde_json::Value;

use crate::sentence::Mood;

/// What a dialect has to show about a run beyond its attempts, answers and end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunView {
    /// Fields of the JSON document.
    pub fields: Map<String, Value>,
    pub sections: Vec<Section>,
    /// Matters that a person should hear of while the run goes on, each once.
    pub alerts: Vec<String>,
    /// Why the run is suspended, where the dialect suspends runs.
    pub suspended: Option<String>,
}

/// A part with a title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    pub title: String,
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// One line: a label, and what there is to say.
    Line {
        label: String,
        text: String,
        mood: Mood,
    },
    Table {
        heading: Vec<String>,
        rows: Vec<Vec<String>>,
    },
    /// What a command printed. `brief` outputs are shown by their last lines unless more is asked for; the others only
    /// where more is asked for.
    Output {
        title: String,
        command: String,
        exit: Option<i32>,
        text: String,
        brief: bool,
    },
}

impl Section {
    pub fn new(title: impl Into<String>) -> Section {
        Section { title: title.into(), blocks: vec![] }
    }

    pub fn line(&mut self, label: &str, text: impl Into<String>) {
        self.toned(Mood::Neutral, label, text);
    }

    pub fn toned(&mut self, mood: Mood, label: &str, text: impl Into<String>) {
        self.blocks.push(Block::Line { label: label.to_owned(), text: text.into(), mood });
    }

    pub fn table(&mut self, heading: &[&str], rows: Vec<Vec<String>>) {
        if !rows.is_empty() {
            let heading = heading.iter().map(|&column| column.to_owned()).collect();
            self.blocks.push(Block::Table { heading, rows });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

/// Figures over all runs of a dialect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricsView {
    /// The JSON document.
    pub document: Value,
    pub heading: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// A small chart, as SVG.
    pub chart: String,
    pub alerts: Vec<String>,
}
