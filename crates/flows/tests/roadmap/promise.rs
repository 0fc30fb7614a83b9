//! Law 1 for the roadmap, as a table: nothing is good by default. Findings: `reviewing`.

use serde_json::json;
use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;

use crate::story::Story;
use crate::world::World;
use crate::world::step;

/// What an agent can do wrong.
const DEEDS: [&str; 10] = [
    "exit 1",
    "killed",
    "timeout",
    "not installed",
    "no report",
    "not JSON",
    "partial",
    "failed",
    "empty outputs",
    "contradictory outputs",
];

/// Any question at all.
const EVERY_QUESTION: &str = "\n";

fn seven() -> World {
    let mut world = World::of("", &[step("01-01", "add", &[])]);
    world.start.only = Some("01-01".to_owned());
    world
}

/// The agent of a phase does it every time that it is called.
fn always(mut world: World, phase: &str, deed: &str) -> World {
    let place = format!("01-01 {phase}");
    let failure = |class, message: &str| Failure::new(class, message);
    for _ in 0..20 {
        world = match deed {
            "exit 1" => world.fails(&place, failure(Class::Crash, "it ended with exit code 1")),
            "killed" => world.fails(&place, failure(Class::Crash, "it was ended by signal 9")),
            "timeout" => world.fails(&place, failure(Class::AgentDeadline, "it did not finish in time")),
            "not installed" => world.fails(&place, failure(Class::Contract, "there is no program `agent`")),
            "no report" => world.fails(&place, failure(Class::Silent, "it ended without a report")),
            "not JSON" => world.fails(&place, failure(Class::Invalid, "its report is not JSON")),
            "partial" => world.reports(&place, json!({"status": "partial", "summary": "half of it"})),
            "failed" => world.fails(&place, failure(Class::Contract, "it gave no reason")),
            // It says that it is done and did nothing.
            "empty outputs" => world.does(&place, |_| {}),
            "contradictory outputs" => {
                let unmet = json!([{"criterion": "add is right", "met": false, "reason": "not for zero"}]);
                world.reports(&place, json!({"status": "done", "summary": "all is well", "criteria": unmet}))
            }
            other => panic!("no such deed: {other}"),
        };
    }
    world.cancelled_at(EVERY_QUESTION)
}

/// What follows, in one line: how often the agent was called for the phase, the questions, and the end.
fn follows(story: &Story, phase: &str) -> String {
    let place = format!("01-01 {phase}");
    let calls = story.calls().iter().filter(|called| **called == place).count();
    let good = if story.ended().good { "GOOD" } else { "not good" };
    format!("{calls} calls, {}, {good}", story.questions().join(", "))
}

// Law 1, K-114: a phase whose agent fails is never closed by itself. A review that changes nothing and says nothing has
// looked, so that saying `done` is its judgement; everywhere else the gates are the evidence.
#[test]
fn no_phase_whose_agent_fails_in_any_way_leads_to_a_good_end() {
    let mut table = vec![];
    for phase in ["RED_UNIT", "GREEN", "REVIEW", "REFACTOR_CONTINUOUS"] {
        for deed in DEEDS {
            let story = always(seven(), phase, deed).run();
            table.push(format!("{phase:20} {deed:22} {}", follows(&story, phase)));
        }
    }
    insta::assert_snapshot!(table.join("\n"));
}
