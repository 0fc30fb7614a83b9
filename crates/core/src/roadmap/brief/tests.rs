//! What an agent is told, and what makes a prompt unfit.

mod checks;
mod prompts;

use super::*;
use crate::roadmap::plan::Roadmap;

const PLAN: &str = include_str!("../plan/tests/plan.yaml");
const STATUS: &str = "docs/feature/tea-kettle/execution-status.yaml";

fn context(schema: &Schema) -> Context {
    Context::of(&Roadmap::read("roadmap.yaml", PLAN).0.unwrap(), "01-01", schema).unwrap()
}

fn gates(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn assignment<'a>(context: &'a Context, phase: &'a str) -> Assignment<'a> {
    Assignment {
        context,
        agent: "software-crafter",
        schema: Schema::usual(),
        call: Call::Phase,
        phase: Some(phase),
        status_path: STATUS,
        feedback: &[],
        quick: false,
        gates: &[],
        legacy: None,
    }
}
