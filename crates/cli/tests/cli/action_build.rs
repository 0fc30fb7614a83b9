//! Roles side by side and one behind the other: good work is kept, and only what failed is done again.

use crate::action_support::RELEASE;
use crate::action_support::Workshop;
use crate::process::Handle;

const QUALITY: &str = "quality-engineer";

/// OC-44, OC-45, OC-46, OC-11, OC-61, OC-84, E-60: the pauses are in the journal, and the reviewer comes last.
#[test]
fn oc_48_one_of_three_fails_twice_and_the_others_run_once() {
    let workshop = Workshop::new();
    workshop.table(&[(QUALITY, 1, "usual; fail"), (QUALITY, 2, "usual; exit 1")]);
    workshop.build(&[]).exits(3).says("Gate release");
    assert_eq!(workshop.counts(), [1, 1, 3, 1]);
    assert_eq!(workshop.calls().last().unwrap(), "security");
    assert_eq!(workshop.pauses(), [1000, 2000]);
    assert_eq!(
        workshop.told("waiting"),
        [
            "Transient error: it broke. Retrying in 1s...",
            "Transient error: it ended with exit code 1 and no usable report. Retrying in 2s...",
        ]
    );
    // OC-47: the documented status, with each failure and its retry before the last word.
    let told = workshop.told("parallel_results");
    assert_eq!(
        told.last().unwrap(),
        "Parallel execution results:\n✅ Backend Developer - Success\n✅ Frontend Developer - Success\n\
         ✅ Quality Engineer - Success"
    );
    assert!(told[0].contains("❌ Quality Engineer - Failed (it broke)"), "{told:?}");
    assert!(told[0].ends_with("Retrying Quality Engineer..."), "{told:?}");
    assert_eq!(workshop.env.read("engine/api.sh"), "echo call 1\n");
    assert_eq!(workshop.env.read("tests/plan.md"), "# Plan\n\nCall 3.\n");
    // Nothing of the copies is left, and what was tried is on record.
    assert!(workshop.env.stored_below("trees").is_empty());
    assert_eq!(workshop.errors().len(), 2);
    workshop.resume(&[RELEASE]).exits(0).says("4 files written. Approved: release by ");
    workshop.verify();
}

/// OC-74, OC-75, OC-76, OC-78, OC-79, OC-89, K-45, K-49, E-70: what failed, why and what was tried; nothing goes on
/// meanwhile, and no restart changes that.
#[test]
fn oc_77_a_third_failure_asks_with_all_options_and_their_consequences() {
    let workshop = Workshop::of(
        "- parallel:\n    - backend-developer\n    - {agent: quality-engineer, optional: true}\n- agent: security\n",
    );
    workshop.agent(QUALITY, "fallback = \"second\"\n").agent("second", "");
    workshop.table(&[(QUALITY, 0, "usual; echo panicked at line 7 >&2; exit 3")]);
    workshop.build(&[]).exits(3);
    assert_eq!((workshop.count(QUALITY), workshop.count("security")), (3, 0));
    let question = workshop.question();
    assert_eq!(question.header(), "Failure: Quality Engineer");
    assert_eq!(question.choices(), ["retry", "fix", "skip", "different_agent", "cancel", "rollback"]);
    assert_eq!(
        question.labels(),
        ["Retry", "Manual Fix", "Skip", "Retry with different agent", "Cancel", "Rollback"]
    );
    question.every_option_has_its_consequence();
    // OC-71, OC-88, OC-96
    for words in [
        "EXECUTION FAILURE",
        "Action:       build",
        "Step:         1 (Quality Engineer)",
        "Agent:        quality-engineer",
        "Failed at:",
        "Duration:",
        "Error Type:   CrashError",
        "Impacted Artifacts:",
        "- tests/plan.md",
        "Suggested Remediation:",
        "[Retry] [Manual Fix] [Skip] [Retry with different agent] [Cancel] [Rollback]",
    ] {
        assert!(question.details().contains(words), "{words}:\n{}", question.details());
    }
    let tried = question.0["tried"].as_array().unwrap();
    assert_eq!(tried.len(), 3, "{tried:?}");
    // Nobody waits in memory, and no restart decides anything.
    let id = question.id().to_owned();
    for _ in 0..5 {
        workshop.resume(&[]).exits(3);
        assert_eq!(workshop.question().id(), id);
    }
    assert_eq!((workshop.count(QUALITY), workshop.count("security")), (3, 0));
    // OC-72, OC-90: each failure has its report, with what the agent printed.
    let errors = workshop.errors();
    assert_eq!(errors.len(), 3);
    assert!(
        errors.iter().all(|error| error["stack_trace"].as_str().unwrap().contains("line 7")),
        "{errors:#?}"
    );
}

/// OC-51: each option is answered; a retry carries words, another agent takes over, and skipping is told at the gate.
#[test]
fn oc_48_a_person_retries_takes_another_agent_and_skips_an_optional_role() {
    let workshop = Workshop::of(
        "- parallel:\n    - backend-developer\n    - {agent: quality-engineer, optional: true}\n\
         - {gate: approval, name: release}\n",
    );
    workshop.agent(QUALITY, "fallback = \"second\"\n").agent("second", "");
    workshop.table(&[(QUALITY, 0, "failed permanent 'the task is impossible'")]);
    let failure = "Failure: Quality";
    workshop
        .build(&[
            (failure, "retry", "mind the tides"),
            (failure, "different_agent", ""),
            (failure, "skip", "not needed today"),
        ])
        .exits(3);
    assert_eq!((workshop.count(QUALITY), workshop.count("backend-developer")), (3, 1));
    assert_eq!(workshop.feedback(QUALITY, 2), ["mind the tides"]);
    let agents = std::fs::read_to_string(workshop.home("stage/agents")).unwrap();
    let of_quality: Vec<&str> = agents.lines().filter(|line| line.starts_with(QUALITY)).collect();
    assert_eq!(
        of_quality,
        ["quality-engineer quality-engineer", "quality-engineer quality-engineer", "quality-engineer second"]
    );
    let question = workshop.question();
    assert!(question.details().contains("Quality Engineer: skipped"), "{}", question.details());
    assert!(
        question.details().contains("Quality Engineer was skipped by ada: not needed today"),
        "{}",
        question.details()
    );
    workshop.resume(&[RELEASE]).exits(0);
    // OC-80: who decided what, and why, also in the evidence.
    let asked = "Failure: Quality Engineer";
    assert_eq!(
        workshop.decisions()[..3],
        [format!("{asked} retry"), format!("{asked} different_agent"), format!("{asked} skip")]
    );
    let evidence = workshop.evidence("gate-decisions.md");
    assert!(evidence.contains("- Rationale: not needed today"), "{evidence}");
    workshop.verify();
}

/// E-59, OC-45: the engine dies while the third role is tried again.
#[test]
fn e_59_kill_9_during_the_retry_and_only_the_failed_role_runs_again() {
    let workshop = Workshop::new();
    let wait = r#"until [ -f "$HOME/../work/engine/api.sh" ] && [ -f "$HOME/../work/experience/app.md" ]; do :; done
        echo $$ >"$HOME/began"; read word <"$HOME/hold""#;
    workshop.table(&[(QUALITY, 1, "bad tests/plan.md; finish"), (QUALITY, 2, wait)]);
    let (mut began, _hold) = (workshop.fifo("began"), workshop.fifo("hold"));
    let engine = workshop.start();
    let agent = began.process(&engine);
    engine.kill();
    agent.ends();
    workshop.resume(&[RELEASE]).exits(0);
    assert_eq!(workshop.counts(), [1, 1, 3, 1]);
    assert_eq!(workshop.env.read("engine/api.sh"), "echo call 1\n");
    assert_eq!(workshop.env.read("experience/app.md"), "# App\n\nCall 1.\n");
    assert_eq!(workshop.env.read("tests/plan.md"), "# Plan\n\nCall 3.\n");
    // The feedback of the call that was cut off is not lost.
    assert_eq!(workshop.feedback(QUALITY, 3), workshop.feedback(QUALITY, 2));
    workshop.verify();
    workshop.env.assert_tidy();
}

/// OC-49, OC-50: in a sequence the steps before and behind the failed one are not done again.
#[test]
fn oc_50_only_the_failed_step_of_a_sequence_runs_again() {
    let workshop = Workshop::of(
        "- backend-developer\n- {agent: frontend-developer, optional: true}\n- quality-engineer\n",
    );
    workshop.table(&[("frontend-developer", 0, "failed permanent 'no screen'")]);
    workshop.build(&[]).exits(3);
    assert_eq!(workshop.counts(), [1, 1, 0, 0]);
    let question = workshop.question();
    assert_eq!(question.labels(), ["Retry", "Manual Fix", "Skip step", "Cancel action", "Rollback"]);
    assert_eq!(workshop.env.read("engine/api.sh"), "echo call 1\n");
    workshop.usual().resume(&[("Failure", "retry", "")]).exits(0);
    assert_eq!(workshop.counts(), [1, 2, 1, 0]);
}

/// OC-77: a person mends the files where they lie; nobody is called, and they are looked at again.
#[test]
fn oc_40_a_role_beside_others_can_be_mended_by_hand() {
    let workshop = Workshop::of("- parallel: [backend-developer, quality-engineer]\n");
    workshop.table(&[(QUALITY, 0, "bad tests/plan.md; finish")]);
    workshop.build(&[]).exits(3);
    let question = workshop.question();
    let place = question.details().lines().find_map(|line| line.strip_prefix("Its work so far lies in "));
    let place = place.unwrap_or_else(|| panic!("{}", question.details())).trim_end_matches('.').to_owned();
    assert!(workshop.env.read(&format!("{place}/tests/plan.md")).starts_with("# Bad 3"));
    workshop.env.file(&format!("{place}/tests/plan.md"), "# By hand\n");
    workshop.resume(&[("Invalid output", "fix", "")]).exits(0);
    assert_eq!(workshop.count(QUALITY), 3);
    assert_eq!(workshop.env.read("tests/plan.md"), "# By hand\n");
    workshop.verify();
}

/// K-47, OC-33: what was not finished beside others is not thrown away with the copy that it lay in.
#[test]
fn k_47_cancelling_keeps_the_work_of_others_and_what_was_unfinished() {
    let workshop = Workshop::new();
    workshop.table(&[(QUALITY, 0, "put tests/plan.md 'half a plan'; failed permanent 'no more'")]);
    workshop.build(&[("Failure", "cancel", "")]).exits(3).says("The role starts again");
    workshop.resume(&[("^Cancel", "back", "")]).exits(3).says("no more");
    workshop.resume(&[("Failure", "cancel", "enough"), ("^Cancel", "keep", "")]).exits(1).says("cancelled");
    assert_eq!(workshop.counts(), [1, 1, 2, 0]);
    assert_eq!(workshop.env.read("engine/api.sh"), "echo call 1\n");
    let kept = workshop.env.files_below(".artifacts-failed");
    // Of the first call from its copy; on its own the role works in the workspace, and its files just stay.
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), "half a plan");
    assert_eq!(workshop.env.read("tests/plan.md"), "half a plan");
    assert!(workshop.evidence("gate-decisions.md").contains("- Rationale: enough"));
    // OC-65, OC-93: nothing went back by itself.
    assert!(workshop.facts("rolled_back").is_empty());
    workshop.verify();
}

/// OC-92, E-61, K-41: crashes and corrections share one budget, beside others as well.
#[test]
fn e_61_budgets_never_multiply() {
    let workshop = Workshop::of("- parallel: [backend-developer, quality-engineer]\n");
    let acts = [
        (QUALITY, 1, "bad tests/plan.md; finish"),
        (QUALITY, 2, "exit 1"),
        (QUALITY, 0, "bad tests/plan.md; finish"),
    ];
    workshop.table(&acts);
    workshop.build(&[]).exits(3);
    assert_eq!(workshop.count(QUALITY), 3);
    assert_eq!(workshop.pauses(), [2000]);
}

/// The outcome of the role is known; the gate is asked again, and the role is not.
#[test]
fn kill_9_while_a_gate_runs_asks_the_gate_again_and_not_the_role() {
    let workshop =
        Workshop::of("- backend-developer\n- {gate: script, name: smoke, command: [sh, smoke.sh]}\n");
    let script =
        r#"[ -f "$HOME/seen" ] || { touch "$HOME/seen"; echo now >"$HOME/began"; read x <"$HOME/hold"; }"#;
    workshop.env.file("smoke.sh", format!("{script}\necho smoke\n"));
    let (mut began, _hold) = (workshop.fifo("began"), workshop.fifo("hold"));
    let engine = workshop.start();
    began.line(&engine);
    let gate = Handle::of(&["sh", "smoke.sh"], &workshop.env.root);
    engine.kill();
    gate.ends();
    workshop.resume(&[]).exits(0);
    assert_eq!((workshop.count("backend-developer"), workshop.facts("gate_ran").len()), (1, 1));
    assert_eq!(workshop.decisions(), ["smoke passed"]);
    workshop.verify();
}
