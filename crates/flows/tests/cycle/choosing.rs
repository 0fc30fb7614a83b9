//! Every option of every question, once: each is a type that the flow knows, and each leads somewhere.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::json;
use seriatim_core::choices::Choices;
use seriatim_core::cycle::choices::ApprovalChoice;
use seriatim_core::cycle::choices::BlockedChoice;
use seriatim_core::cycle::choices::ClarifyChoice;
use seriatim_core::cycle::choices::ContextChoice;
use seriatim_core::cycle::choices::GoalChoice;
use seriatim_core::cycle::choices::OccupiedChoice;
use seriatim_core::cycle::choices::PauseChoice;
use seriatim_core::cycle::choices::PlanlessChoice;
use seriatim_core::cycle::choices::RiskChoice;
use seriatim_core::cycle::choices::UndeliveredChoice;
use seriatim_core::failure::Class;
use seriatim_flows::cycle::DOCUMENT;
use seriatim_flows::registry::End;

use crate::world::GOAL;
use crate::world::World;
use crate::world::step;

/// A world in which the question with this header is the first one.
fn before(header: &str) -> World {
    let world = World::new();
    match header {
        "A cycle is open" => {
            let open = "# Cycle 009: work\n\nA goal that a person wrote by hand.\n";
            world.file(DOCUMENT, open)
        }
        "Goal" => {
            let mut world = world;
            world.start.goal = None;
            world
        }
        "Before the plan" => {
            world.reports("planner", json!({"kind": "questions", "questions": ["To whom?"]}))
        }
        "Context is missing" => {
            world.reports("judge", json!({"kind": "context_request", "need": "the tone"}))
        }
        "A risky step" => world.reports("planner", step(json!({"risk": "high"}))),
        "The work was held" => world.shows("actor", "rm -rf build"),
        "Approval" => world,
        "Not committed" => {
            world.delivery_fails(Class::Transport, "the remote is away").answers("Approval", "merge")
        }
        "Paused" => world.insufficient(5),
        "No usable plan" => world.fails("planner", Class::Crash, "it ended with exit code 7"),
        other => panic!("a cycle does not ask `{other}`"),
    }
}

/// Ids of the options by the header of their question.
fn questions() -> Vec<(&'static str, Vec<&'static str>)> {
    fn ids<C: Choices>() -> Vec<&'static str> {
        C::ALL.iter().map(|choice| choice.id()).collect()
    }
    vec![
        ("A cycle is open", ids::<OccupiedChoice>()),
        ("Goal", ids::<GoalChoice>()),
        ("Before the plan", ids::<ClarifyChoice>()),
        ("Context is missing", ids::<ContextChoice>()),
        ("A risky step", ids::<RiskChoice>()),
        ("The work was held", ids::<BlockedChoice>()),
        ("Approval", ids::<ApprovalChoice>()),
        ("Not committed", ids::<UndeliveredChoice>()),
        ("Paused", ids::<PauseChoice>()),
        ("No usable plan", ids::<PlanlessChoice>()),
    ]
}

// CY-11, CY-95
#[test]
fn cy_95_every_option_of_every_question_is_taken_and_stop_ends_the_cycle() {
    let mut offered: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (header, ids) in questions() {
        for id in ids {
            let world = before(header);
            let story = match id {
                "approve" | "cancel" | "stop" | "retry" | "commit" | "merge" | "squash" => {
                    world.answers(header, id)
                }
                "provide_input" | "changes" | "guide" | "new_goal" => world.says(header, id, GOAL),
                other => panic!("no test knows the option `{other}`"),
            }
            .run();
            let question = story.question(header);
            offered.entry(header).or_default().extend(question.options.into_iter().map(|option| option.id));
            let ends = matches!(id, "stop" | "cancel");
            let expected = if ends { End::Cancelled } else { End::Completed };
            assert_eq!(story.ended.status, expected, "{header} -> {id}");
            assert_eq!(story.ended.good, !ends, "{header} -> {id}");
            if id == "stop" {
                let archive = "docs/context/archive/2026-01-18_cycle-001_incomplete.md";
                assert_eq!(
                    story.ended.message,
                    format!(
                        "ada stopped the cycle. Its document is in {archive}; the files are as they are."
                    ),
                    "{header}"
                );
                assert_eq!(story.ended.outcome["result"], "STOPPED", "{header}");
                assert_eq!(story.document(), "", "{header}");
                assert!(story.files[archive].contains("ada stopped the cycle."), "{header}");
                assert_eq!(story.facts("cycle_ended")[0]["end"], "incomplete", "{header}");
            }
        }
    }
    for (header, ids) in questions() {
        let ids: BTreeSet<String> = ids.into_iter().map(str::to_owned).collect();
        assert_eq!(offered[header], ids, "{header}");
    }
}

#[test]
fn ids_labels_and_consequences_of_the_options_are_as_people_know_them() {
    let mut text = String::new();
    for (header, _) in questions() {
        let story = before(header).cancelled_at(header).run();
        let question = story.question(header);
        text.push_str(&format!("{header}: {}\n", question.question));
        for option in question.options {
            let words = if option.needs_text { " (with words)" } else { "" };
            text.push_str(&format!("  {} | {} | {}{words}\n", option.id, option.label, option.description));
        }
    }
    insta::assert_snapshot!(text);
}
