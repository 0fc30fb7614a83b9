//! Failures: what is tried again by itself, after which pause, and what a person is asked at once.

use crate::action_support::RELEASE;
use crate::action_support::Workshop;

const ALONE: &str = "- backend-developer\n- {gate: approval, name: release}\n";
const ROLE: &str = "backend-developer";

/// OC-20, OC-61, OC-81, OC-82, K-40: three calls in all; how long the other side asks to wait counts.
#[test]
fn oc_82_a_rate_limit_and_a_network_error_are_told_apart_and_waited_for() {
    let workshop = Workshop::of(ALONE);
    workshop.table(&[
        (ROLE, 1, "failed transient '429 Too Many Requests, retry after 1500 ms'"),
        (ROLE, 2, "failed transient 'connection reset by peer'"),
    ]);
    workshop.build(&[RELEASE]).exits(0);
    assert_eq!(workshop.pauses(), [1500, 2000]);
    assert_eq!(
        workshop.told("waiting"),
        [
            "Transient error: 429 Too Many Requests, retry after 1500 ms. Retrying in 2s...",
            "Transient error: connection reset by peer. Retrying in 2s...",
        ]
    );
    assert_eq!(workshop.error_types(), ["RateLimitError", "NetworkError"]);
    assert!(workshop.errors().iter().all(|error| error["nature"] == "transient"));
    workshop.verify();
}

/// OC-74: a pause of hours is nobody's to decide but a person's.
#[test]
fn oc_61_a_very_long_pause_is_asked_about() {
    let workshop = Workshop::of(ALONE);
    workshop.table(&[(ROLE, 0, "failed transient 'rate limit exceeded, retry after 7200 s'")]);
    workshop.build(&[]).exits(3).says("RateLimitError");
    assert_eq!((workshop.count(ROLE), workshop.pauses()), (1, vec![]));
}

/// OC-21, OC-81: a permanent failure is reported at once, with what can be done about it.
#[test]
fn oc_63_a_permanent_failure_is_not_retried() {
    let workshop = Workshop::of(ALONE);
    workshop.table(&[(ROLE, 0, "failed permanent '401 unauthorized'")]);
    workshop.build(&[]).exits(3);
    assert_eq!((workshop.count(ROLE), workshop.pauses()), (1, vec![]));
    let error = workshop.errors().pop().unwrap();
    assert_eq!((&error["error_type"], &error["nature"]), (&"AuthorizationError".into(), &"permanent".into()));
    assert!(workshop.question().details().contains("Give the agent the permission"));
    workshop.usual().resume(&[("Failure", "retry", ""), RELEASE]).exits(0);
}

/// K-105: the program of an agent that cannot be started would not start the next time either.
#[test]
fn oc_63_exit_codes_126_and_127_and_a_missing_program_are_not_retried() {
    let workshop = Workshop::of(ALONE);
    workshop.table(&[(ROLE, 1, "exit 127"), (ROLE, 2, "exit 126")]);
    workshop.build(&[("Failure", "retry", ""), ("Failure", "retry", ""), RELEASE]).exits(0);
    assert_eq!((workshop.count(ROLE), workshop.pauses()), (3, vec![]));
    assert_eq!(workshop.error_types(), ["ProgramNotFound", "ProgramNotFound"]);
    workshop.configure("[agents.backend-developer]\nkind = \"command\"\nargv = [\"no-such-program-here\"]\n");
    workshop.build(&[]).exits(3).says("ProgramNotFound").says("Install the program of the agent");
}

/// OC-31, OC-32, OC-33, OC-34, K-44: it is ended, what it wrote is kept, and four options are offered.
#[test]
fn oc_34_a_timeout_offers_four_options_and_more_time_is_given() {
    let workshop = Workshop::of(
        "- {agent: backend-developer, timeout: 4s, optional: true}\n- {gate: approval, name: release}\n",
    );
    let slow = r#"put engine/api.sh 'echo half\n'; echo $$ >"$HOME/began"; read word <"$HOME/hold""#;
    workshop.table(&[(ROLE, 1, slow)]);
    let (mut began, _hold) = (workshop.fifo("began"), workshop.fifo("hold"));
    let engine = workshop.start();
    let agent = began.process(&engine);
    engine.output().exits(3).says("may take 8 s, or as long as you write");
    agent.has_ended();
    assert_eq!(workshop.env.read("engine/api.sh"), "echo half\n");
    let question = workshop.question();
    assert_eq!(question.header(), "Timeout: Backend Developer");
    assert_eq!(question.labels()[..4], ["Retry", "Extend timeout", "Skip", "Cancel"]);
    question.every_option_has_its_consequence();
    let error = workshop.errors().pop().unwrap();
    assert_eq!((&error["error_type"], &error["agent"]), (&"TimeoutError".into(), &ROLE.into()));
    assert_eq!(error["action"], "build");
    assert!(error["duration_ms"].as_u64().unwrap() >= 4000, "{error:#}");
    workshop.resume(&[("Timeout", "extend", "45m"), RELEASE]).exits(0);
    assert_eq!(workshop.brief(ROLE, 2)["limits"]["timeout_ms"], 45 * 60_000);
    assert_eq!((workshop.count(ROLE), workshop.pauses()), (2, vec![]));
    workshop.verify();
}

/// OC-23 to OC-30 by the table of the contract; the configuration wins. OC-34: a role that is needed is not skipped.
#[test]
fn oc_25_roles_have_their_default_time_unless_it_is_configured() {
    let workshop = Workshop::new();
    workshop.agent("security", "timeout = \"7m\"\n");
    workshop.build(&[RELEASE]).exits(0);
    let minutes = |role: &str| workshop.brief(role, 1)["limits"]["timeout_ms"].as_u64().unwrap() / 60_000;
    let roles = ["backend-developer", "frontend-developer", "quality-engineer", "security"];
    assert_eq!(roles.map(minutes), [30, 30, 20, 7]);
}

/// OC-21, OC-111: the guide is read when the role begins, and nobody works without one.
#[test]
fn oc_07_a_role_without_its_guide_does_not_begin() {
    let workshop = Workshop::of(ALONE);
    let guide = "agents/backend-developer/SKILL.md";
    let text = workshop.env.read(guide);
    std::fs::remove_file(workshop.env.path(guide)).unwrap();
    workshop
        .build(&[])
        .exits(3)
        .says("the guide of the role backend-developer is not there")
        .says("ContractError");
    assert_eq!(workshop.calls(), Vec::<String>::new());
    workshop.env.file(guide, text.replace("The guide of", "The newest guide of"));
    workshop.resume(&[("Failure", "retry", ""), RELEASE]).exits(0);
    assert!(
        workshop.brief(ROLE, 1)["prompt"].as_str().unwrap().contains("The newest guide of backend-developer")
    );
    assert_eq!(workshop.outcome()["compliance"]["role_guides_loaded"], true);
}

/// OC-91: whatever ends a role badly is on record, in the logs and before a person.
#[test]
fn oc_90_no_failure_is_swallowed() {
    let workshop = Workshop::of(ALONE);
    workshop.table(&[(ROLE, 1, "usual"), (ROLE, 2, "report 'no json'"), (ROLE, 3, "kill -9 $$")]);
    workshop.build(&[]).exits(3).says("EXECUTION FAILURE").says("it was killed from outside");
    assert_eq!(workshop.error_types(), ["SilentCompletion", "ValidationError", "CrashError"]);
    assert_eq!(workshop.shown()["failed_attempts"].as_array().unwrap().len(), 3);
    assert_eq!(workshop.question().0["tried"].as_array().unwrap().len(), 3);
}
