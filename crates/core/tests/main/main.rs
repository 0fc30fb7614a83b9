//! All integration tests of the law, in one binary.

mod checks;
mod documents;
mod edits;
mod instances;
mod process_rules;
mod step_machine;
