//! The sections and commands that are built in, as tables.
//!
//! `_section-definitions.yaml` and `_validation-schema.json` beside the templates say the same as documents, and a
//! test holds them together. A hook needs these at each start, and reading documents would take it longer than
//! everything else that it says.

use super::registry::Command;
use super::registry::Level;
use super::registry::Registry;
use super::sections::CONTEXT;
use super::sections::METADATA;
use super::sections::PHASES;
use super::sections::SectionSet;
use super::sections::Sections;
use super::sections::TIMEOUT;

/// Mandatory and optional sections.
type Set = (&'static [&'static str], &'static [&'static str]);

/// A command, how strictly it is checked, and the names of its template and its sections.
type Row = (&'static str, Level, Option<(&'static str, &'static str)>);

/// The sections of a prompt that has a state file and a list of phases.
const OF_A_STEP: Set = (
    &[
        METADATA,
        "AGENT_IDENTITY",
        CONTEXT,
        PHASES,
        "QUALITY_GATES",
        "OUTCOME_RECORDING",
        "BOUNDARY_RULES",
        TIMEOUT,
    ],
    &["REVIEW_CRITERIA", "RECOVERY_INSTRUCTIONS"],
);

/// The sections of a prompt for planning.
const OF_A_PLAN: Set = (
    &[METADATA, "AGENT_IDENTITY", CONTEXT, "OUTCOME_RECORDING", "BOUNDARY_RULES", TIMEOUT],
    &["RECOVERY_INSTRUCTIONS"],
);

/// The sections of each kind of prompt.
const SECTIONS: [(&str, Set); 5] = [
    ("execute_step", OF_A_STEP),
    ("develop_orchestrate", OF_A_STEP),
    ("baseline_create", OF_A_PLAN),
    ("roadmap_create", OF_A_PLAN),
    ("split_steps", OF_A_PLAN),
];

const COMMANDS: [Row; 7] = [
    ("/nw:execute", Level::Full, Some(("execute-step", "execute_step"))),
    ("/nw:develop", Level::Full, Some(("develop-orchestrate", "develop_orchestrate"))),
    ("/nw:baseline", Level::Partial, Some(("baseline-create", "baseline_create"))),
    ("/nw:roadmap", Level::Partial, Some(("roadmap-create", "roadmap_create"))),
    ("/nw:split", Level::Partial, Some(("split-steps", "split_steps"))),
    ("/nw:review", Level::None, None),
    ("/nw:research", Level::None, None),
];

pub(super) fn sections() -> Sections {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut sections = Sections::default();
    for (name, (mandatory, optional)) in SECTIONS {
        sections.insert(name, SectionSet { mandatory: owned(mandatory), optional: owned(optional) });
    }
    sections
}

pub(super) fn registry() -> Registry {
    let mut registry = Registry::default();
    for (name, level, made_from) in COMMANDS {
        registry.insert(Command {
            name: name.to_owned(),
            level,
            // What is checked in full is checked against its state file as well.
            step_file: level == Level::Full,
            template: made_from.map(|(template, _)| template.to_owned()),
            sections: made_from.map(|(_, sections)| sections.to_owned()),
        });
    }
    registry
}
