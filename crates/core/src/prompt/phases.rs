//! The phases that a prompt is held against, and the words that a template has for each of them.

use std::fmt::Write;

use crate::roadmap::phases::Schema;

/// One phase of a step, and the gate that closes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    pub name: String,
    pub gate: Option<String>,
}

/// The phases of one schema version, in order, and the titles under which a prompt may list them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseList {
    pub version: String,
    /// Accepted titles of the section; the first is the one that is written.
    pub titles: Vec<String>,
    pub phases: Vec<Phase>,
}

/// The title that stands for the list where a schema names none.
const TITLE: &str = super::sections::PHASES;

impl From<&Schema> for PhaseList {
    fn from(schema: &Schema) -> PhaseList {
        let phase = |phase: &crate::roadmap::phases::Phase| Phase {
            name: phase.name.clone(),
            gate: phase.gate.clone(),
        };
        PhaseList {
            version: schema.version.clone(),
            titles: schema.titles.clone(),
            phases: schema.phases.iter().map(phase).collect(),
        }
    }
}

impl PhaseList {
    /// The lists that are built in, the oldest first.
    pub fn built_in() -> Vec<PhaseList> {
        Schema::built_in().iter().map(PhaseList::from).collect()
    }

    /// A built-in list by its version: `v3.0`, `v3`, `3.0` and `3` are the same.
    pub fn of_version(version: &str) -> Option<PhaseList> {
        Schema::of_version(version).map(PhaseList::from)
    }

    /// What holds where nothing else is said: the seven phases.
    pub fn usual() -> PhaseList {
        PhaseList::from(Schema::usual())
    }

    /// The list that a prompt speaks of, where nobody says which it should be: the one whose own title is used, else
    /// the usual one. Nothing is guessed from the phases that are there, because a list from which some were
    /// deleted would then pass as a shorter one.
    pub fn of_prompt(text: &str) -> PhaseList {
        let speaks_of = |schema: &&Schema| {
            schema.titles.first().is_some_and(|title| super::outline::has_section(text, title))
        };
        Schema::built_in().iter().find(speaks_of).map_or_else(PhaseList::usual, PhaseList::from)
    }

    /// The title of the section as templates write it.
    pub fn title(&self) -> &str {
        self.titles.first().map_or(TITLE, String::as_str)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.phases.iter().map(|phase| phase.name.as_str())
    }

    /// The names in order, in one line.
    pub fn in_order(&self) -> String {
        self.names().collect::<Vec<_>>().join(", ")
    }

    /// The last phase, after which an agent has nothing more to do.
    pub fn last(&self) -> &str {
        self.phases.last().map_or("COMMIT", |phase| phase.name.as_str())
    }

    /// The table of phases, gates and what is to be done, counted from 0 (K-28).
    pub fn table(&self) -> String {
        let mut table = String::from("| # | Phase | Gate | What to do |\n|---|---|---|---|");
        for (index, phase) in self.phases.iter().enumerate() {
            let gate = phase.gate.as_deref().unwrap_or("-");
            let _ = write!(table, "\n| {index} | {} | {gate} | {} |", phase.name, action(&phase.name));
        }
        table
    }

    /// The gates in words, each with the phases that it closes.
    pub fn gates(&self) -> String {
        let line = |(gate, words): &(&str, &str)| {
            let closed: Vec<&str> = self
                .phases
                .iter()
                .filter(|phase| phase.gate.as_deref() == Some(gate))
                .map(|phase| phase.name.as_str())
                .collect();
            let closes = if closed.is_empty() { "every phase".to_owned() } else { closed.join(", ") };
            format!("- **{gate}** ({closes}): {words}")
        };
        GATES.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Where the work should be after a fifth, a half, four fifths and all of the turns (DS-24).
    pub fn checkpoints(&self, turns: u64) -> String {
        let done = |stage: Stage| {
            let names: Vec<&str> = self.names().filter(|name| stage_of(name) == stage).collect();
            (!names.is_empty()).then(|| names.join(", "))
        };
        let mut lines = vec![];
        for (stage, tenths) in [(Stage::Red, 2), (Stage::Green, 5), (Stage::Refactor, 8)] {
            if let Some(names) = done(stage) {
                let turn = (turns * tenths / 10).max(1);
                lines.push(format!("- By turn ~{turn}, behind you: {names}"));
            }
        }
        let last = done(Stage::Last).unwrap_or_else(|| self.last().to_owned());
        lines.push(format!("- By turn ~{turns}, under way: {last}; or you return with partial work"));
        lines.join("\n")
    }

    /// The checklists, each under the phase that it belongs to (K-11: without a phase of its own the second list
    /// closes the last refactoring).
    pub fn checklists(&self) -> String {
        let index = |name: &str| self.names().position(|known| known == name);
        let last_refactoring = self.phases.iter().rposition(|phase| phase.name.starts_with("REFACTOR"));
        let review = index("REVIEW").or_else(|| self.phases.len().checked_sub(1));
        let after = index("POST_REFACTOR_REVIEW").or(last_refactoring);
        let mut text = String::new();
        for (home, list) in [(review, REVIEW_LIST), (after, AFTER_REFACTORING_LIST)] {
            let Some((index, phase)) = home.and_then(|i| Some((i, self.phases.get(i)?))) else { continue };
            let _ = writeln!(text, "## Checklist of phase {index} ({})\n", phase.name);
            for item in list {
                let _ = writeln!(text, "- [ ] {item}");
            }
            text.push('\n');
        }
        text.trim_end().to_owned()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Red,
    Green,
    Refactor,
    Last,
}

fn stage_of(name: &str) -> Stage {
    match name {
        "FINAL_VALIDATE" | "COMMIT" => Stage::Last,
        _ if name.starts_with("PREPARE") || name.starts_with("RED") => Stage::Red,
        _ if name.starts_with("GREEN") || name.starts_with("CHECK") => Stage::Green,
        _ => Stage::Refactor,
    }
}

/// What is done in a phase. No word here is the name of a phase: the check of a prompt counts those.
fn action(name: &str) -> &'static str {
    match name {
        "PREPARE" => "Activate the acceptance scenario of this step, and see that it is the only active one.",
        "RED_ACCEPTANCE" => "Run the scenario. It has to fail because the behaviour is missing.",
        "RED_UNIT" => "Write a unit test. It has to fail on its assertion.",
        "RED" => "Write the tests first. They have to fail on their assertions.",
        "GREEN_UNIT" => "Write the least code that lets the unit test pass.",
        "CHECK_ACCEPTANCE" => "Run the scenario again and note whether it passes by now.",
        "GREEN_ACCEPTANCE" => "Run every test. All of them pass.",
        "GREEN" => "Write the least code that lets all tests pass, and run all of them.",
        "REVIEW" => "Look at your own work with the checklist at the end.",
        "REFACTOR_L1" => "Mend names until they speak the language of the business.",
        "REFACTOR_L2" => "Split what is long until each function does one thing.",
        "REFACTOR_L3" => "Move what does not belong together until each type has one responsibility.",
        "REFACTOR_L4" => "Bring the structure in line with the patterns of the architecture.",
        "REFACTOR_CONTINUOUS" => "Mend names, functions and responsibilities in small moves, tests green.",
        "POST_REFACTOR_REVIEW" => "Look at what the refactoring changed with the second checklist.",
        "FINAL_VALIDATE" => "Run the whole suite once more.",
        "COMMIT" => "Commit with a message that says what was done and why.",
        _ => "Carry it out as the project defines it.",
    }
}

/// The gates in words (DS-92 to DS-97).
const GATES: [(&str, &str); 6] = [
    ("G1", "exactly one acceptance scenario is active; all others are switched off."),
    ("G2", "the acceptance test fails because business logic is missing, not because of infrastructure."),
    ("G3", "the unit test fails on an assertion, not in its setup and not in compilation."),
    ("G4", "no mocks inside the hexagon: domain and application layers work with real objects."),
    ("G5", "test names and code use the language of the business."),
    ("G6", "all tests are green when the phase ends."),
];

/// DS-100 to DS-106.
const REVIEW_LIST: &[&str] = &[
    "The SOLID principles are followed",
    "Test coverage is adequate (>80%)",
    "Every acceptance criterion of the task is met",
    "The code can be read and maintained by somebody else",
    "There is no obvious vulnerability (OWASP Top 10)",
    "No secret and no credential stands in the code",
    "The language of the business is used throughout",
];

/// DS-107 to DS-112.
const AFTER_REFACTORING_LIST: &[&str] = &[
    "No test that existed before is broken",
    "The code is better than it was: names, structure",
    "No new duplication came in",
    "Patterns of the architecture are applied correctly",
    "All tests still pass",
    "G4 still holds: no mocks inside the hexagon",
];
