//! Failures: each class with each of its options, and causes that were set where they are known.

use seriatim_core::failure::Class;
use seriatim_core::failure::Failure;
use seriatim_core::failure::FailureCause;

use crate::world::World;

const ROLE: &str = "quality-engineer";

/// The role fails so often with this failure; then it works.
fn failing(failure: &Failure, times: u32) -> World {
    let world = World::new("- architect\n- quality-engineer\n- {gate: approval, name: release}");
    (1..=times).fold(world, |world, call| world.fails(ROLE, call, failure.clone()))
}

/// What the engine does by itself, and one line for each option: calls in all, and the end.
fn rows(failure: &Failure, times: u32) -> Vec<String> {
    let about = "Quality Engineer";
    let seen = failing(failure, times).cancelled_at(about).play();
    let header = seen.question(about).header;
    let mut rows =
        vec![format!("{header} after {} calls, pauses {:?}", seen.calls(ROLE), seen.world().slept_ms)];
    for option in seen.question(about).options {
        let words = if option.needs_text { "other-agent" } else { "" };
        let usual = ["approve", "keep", "confirm", "retry"];
        let story = failing(failure, times).says(about, &option.id, words).usually(&usual).play();
        let result = story.ended().outcome["result"].as_str().unwrap().to_owned();
        rows.push(format!("{} ({}): {} calls, {result}", option.id, option.label, story.calls(ROLE)));
    }
    rows
}

fn of(class: Class) -> Failure {
    Failure::new(class, "it failed")
}

#[test]
fn oc_61_transient_failures_with_each_option() {
    assert_eq!(
        rows(&of(Class::Transport), 3),
        [
            "Failure: Quality Engineer after 3 calls, pauses [1000, 2000]",
            "retry (Retry again): 4 calls, COMPLETED",
            "fix (Manual Fix): 4 calls, COMPLETED",
            "skip (Skip step): 3 calls, COMPLETED",
            "cancel (Cancel action): 3 calls, CANCELLED",
            "rollback (Rollback): 3 calls, ROLLED_BACK"
        ]
    );
    assert_eq!(
        rows(&of(Class::Crash), 3),
        [
            "Failure: Quality Engineer after 3 calls, pauses [1000, 2000]",
            "retry (Retry again): 4 calls, COMPLETED",
            "fix (Manual Fix): 4 calls, COMPLETED",
            "skip (Skip step): 3 calls, COMPLETED",
            "cancel (Cancel action): 3 calls, CANCELLED",
            "rollback (Rollback): 3 calls, ROLLED_BACK"
        ]
    );
}

#[test]
fn oc_38_invalid_and_silent_output_with_each_option() {
    assert_eq!(
        rows(&of(Class::Invalid), 3),
        [
            "Invalid output: Quality Engineer after 3 calls, pauses []",
            "fix (Manual Fix): 4 calls, COMPLETED",
            "different_agent (Retry with different agent): 4 calls, COMPLETED",
            "override (Skip validation): 4 calls, COMPLETED",
            "retry (Retry): 4 calls, COMPLETED",
            "skip (Skip step): 3 calls, COMPLETED",
            "cancel (Cancel action): 3 calls, CANCELLED",
            "rollback (Rollback): 3 calls, ROLLED_BACK"
        ]
    );
    assert_eq!(
        rows(&of(Class::Silent), 3),
        [
            "Invalid output: Quality Engineer after 3 calls, pauses []",
            "fix (Manual Fix): 4 calls, COMPLETED",
            "different_agent (Retry with different agent): 4 calls, COMPLETED",
            "override (Skip validation): 4 calls, COMPLETED",
            "retry (Retry): 4 calls, COMPLETED",
            "skip (Skip step): 3 calls, COMPLETED",
            "cancel (Cancel action): 3 calls, CANCELLED",
            "rollback (Rollback): 3 calls, ROLLED_BACK"
        ]
    );
}

#[test]
fn oc_34_a_deadline_with_each_option() {
    assert_eq!(
        rows(&of(Class::AgentDeadline), 1),
        [
            "Timeout: Quality Engineer after 1 calls, pauses []",
            "retry (Retry): 2 calls, COMPLETED",
            "extend (Extend timeout): 2 calls, COMPLETED",
            "skip (Skip): 1 calls, COMPLETED",
            "cancel (Cancel): 1 calls, CANCELLED",
            "rollback (Rollback): 1 calls, ROLLED_BACK"
        ]
    );
}

#[test]
fn oc_43_missing_files_with_each_option() {
    assert_eq!(
        rows(&of(Class::MissingArtifact), 1),
        [
            "Missing artifacts: Quality Engineer after 1 calls, pauses []",
            "retry (Retry agent): 2 calls, COMPLETED",
            "skip (Skip step): 1 calls, COMPLETED",
            "cancel (Cancel): 1 calls, CANCELLED",
            "rollback (Rollback): 1 calls, ROLLED_BACK"
        ]
    );
}

#[test]
fn oc_14_a_breach_of_scope_with_each_option() {
    assert_eq!(
        rows(&of(Class::Scope), 3),
        [
            "Failure: Quality Engineer after 3 calls, pauses []",
            "retry (Retry again): 4 calls, COMPLETED",
            "fix (Manual Fix): 4 calls, COMPLETED",
            "skip (Skip step): 3 calls, COMPLETED",
            "cancel (Cancel action): 3 calls, CANCELLED",
            "rollback (Rollback): 3 calls, ROLLED_BACK"
        ]
    );
}

#[test]
fn oc_63_permanent_failures_with_each_option() {
    let expected = rows(&of(Class::Contract), 1);
    assert_eq!(
        expected,
        [
            "Failure: Quality Engineer after 1 calls, pauses []",
            "retry (Retry): 2 calls, COMPLETED",
            "fix (Manual Fix): 2 calls, COMPLETED",
            "skip (Skip step): 1 calls, COMPLETED",
            "cancel (Cancel action): 1 calls, CANCELLED",
            "rollback (Rollback): 1 calls, ROLLED_BACK"
        ]
    );
    assert_eq!(rows(&of(Class::Denied), 1), expected);
    // A disk that refuses something behind work that is done is a partial failure: only the label differs.
    assert_eq!(rows(&of(Class::Storage), 1)[2..], expected[2..]);
}

/// OC-20, K-105: the cause decides what the engine does by itself, and no sentence does.
#[test]
fn oc_20_causes_decide_about_retries() {
    let pauses = |failure: Failure, times| {
        let seen = failing(&failure, times).usually(&["skip", "approve"]).play();
        (seen.calls(ROLE), seen.world().slept_ms.clone())
    };
    let limit = |ms| of(Class::Transport).because(Some(FailureCause::RateLimit { retry_after_ms: Some(ms) }));
    assert_eq!(pauses(limit(5000), 1), (2, vec![5000]));
    assert_eq!(pauses(limit(7_200_000), 1), (1, vec![]));
    assert_eq!(pauses(of(Class::Crash).because(Some(FailureCause::NoProgram)), 1), (1, vec![]));
    assert_eq!(pauses(of(Class::Contract).because(Some(FailureCause::NoProgram)), 1), (1, vec![]));
    assert_eq!(pauses(of(Class::Transport).because(Some(FailureCause::Unauthorised)), 1), (1, vec![]));
    assert_eq!(pauses(of(Class::Transport).because(Some(FailureCause::Unavailable)), 1), (2, vec![1000]));
    assert_eq!(pauses(Failure::interrupted(), 5), (6, vec![]));
    let wordy = Failure::new(Class::Crash, "there is no program named `x` (exit code 127)");
    assert_eq!(pauses(wordy, 1), (2, vec![1000]));
}

/// OC-34: more time is what the person wrote, else twice as much.
#[test]
fn oc_34_a_role_gets_the_time_that_a_person_gives_it() {
    use seriatim_core::action::facts::ActionFact;
    let story = failing(&of(Class::AgentDeadline), 1)
        .says("Timeout", "extend", "45m")
        .says("Gate release", "approve", "")
        .play();
    let times: Vec<u64> = story
        .facts
        .iter()
        .filter_map(|fact| match fact {
            ActionFact::RoleCalled { role, timeout_ms, .. } if role == ROLE => Some(*timeout_ms),
            _ => None,
        })
        .collect();
    assert_eq!(times[1], 45 * 60_000);
}

/// OC-40: another agent does the work when a person names it.
#[test]
fn oc_40_another_agent_is_the_one_that_a_person_names() {
    let story = failing(&of(Class::Invalid), 3)
        .says("Invalid output", "different_agent", "other-agent")
        .says("Gate release", "approve", "")
        .play();
    assert_eq!(story.world().prompts.last().unwrap().0, "other-agent");
    let fallback = failing(&of(Class::Invalid), 3)
        .starting(|start| drop(start.fallbacks.insert(ROLE.to_owned(), "second".to_owned())))
        .says("Invalid output", "different_agent", "")
        .says("Gate release", "approve", "")
        .play();
    assert_eq!(fallback.world().prompts.last().unwrap().0, "second");
}

/// OC-72, OC-90: every failure has its report under `logs/errors/`.
#[test]
fn oc_72_each_failure_has_its_report() {
    let story = failing(&of(Class::Crash), 2).says("Gate release", "approve", "").play();
    let reports: Vec<&str> =
        story.written().into_iter().filter(|path| path.starts_with("logs/errors/")).collect();
    assert_eq!(reports.len(), 2);
    assert!(story.world().files[reports[0]].contains("\"error_type\": \"CrashError\""));
    let refused = failing(&of(Class::Crash), 1).breaks("write").says("Gate release", "approve", "").play();
    assert!(refused.log.contains(&"The error log could not be written: the disk refuses it.".to_owned()));
}
