//! What a role hands in: all that is wrong with it is told, corrected twice, kept, and then put to a person.

use crate::action_support::RELEASE;
use crate::action_support::Workshop;

const ROLE: &str = "backend-developer";
const WIDE: &str = "- {agent: backend-developer, writes: [\"engine/**\", \"planning-mds/spec/**\"], sections: \
                    {planning-mds/spec/spec.md: [Scope]}}\n- {gate: approval, name: release}\n";
/// Everything that can be wrong with files, each try different.
const WRONG: &str = r##"put engine/api.sh "if true; then $number\n"
    put planning-mds/spec/spec.md "# Spec $number\n\nSee [the rest](missing.md).\n"
    put planning-mds/spec/data.json '{"a": }'
    put planning-mds/spec/conf.yaml 'a: [1\n'
    finish"##;

fn wrong() -> Workshop {
    let workshop = Workshop::of(WIDE);
    workshop.configure("[actions.syntax]\nsh = [\"sh\", \"-n\", \"{file}\"]\n").table(&[(ROLE, 0, WRONG)]);
    workshop
}

/// OC-35, OC-36, OC-37, OC-38, OC-39, OC-83, E-62
#[test]
fn oc_36_all_errors_are_told_with_their_places_and_corrected_twice() {
    let workshop = wrong();
    workshop.build(&[]).exits(3);
    assert_eq!((workshop.count(ROLE), workshop.pauses()), (3, vec![]));
    let feedback = workshop.feedback(ROLE, 2);
    assert_eq!(feedback.len(), 1, "{feedback:?}");
    let told = &feedback[0];
    assert!(told.starts_with("Previous output was invalid. Errors found:\n- "), "{told}");
    assert!(told.ends_with("\n\nPlease correct these issues and regenerate output."), "{told}");
    for words in [
        "Missing required section: \"Scope\" (planning-mds/spec/spec.md)",
        "Broken reference: Link to non-existent file planning-mds/spec/missing.md (planning-mds/spec/spec.md:3)",
        "Invalid JSON in line 1",
        "Invalid YAML in line",
        "(planning-mds/spec/conf.yaml:",
        "Syntax: ",
        "(engine/api.sh)",
    ] {
        assert!(told.contains(words), "{words}:\n{told}");
    }
    // E-62: the original and both corrections.
    let kept = workshop.env.files_below(".artifacts-failed");
    let specs: Vec<String> = kept
        .iter()
        .filter(|path| path.ends_with("planning-mds/spec/spec.md"))
        .map(|path| std::fs::read_to_string(path).unwrap().lines().next().unwrap().to_owned())
        .collect();
    assert_eq!(specs, ["# Spec 1", "# Spec 2", "# Spec 3"]);
    assert_eq!(kept.len(), 12, "{kept:?}");
    assert!(kept[0].display().to_string().contains("/backend-developer-1/"), "{kept:?}");
    let errors = workshop.errors();
    assert_eq!(workshop.error_types(), ["ValidationError"; 3]);
    assert!(errors[2]["impacted_artifacts"].as_array().unwrap().len() == 4, "{:#}", errors[2]);
    assert!(
        workshop.evidence("commands.log").contains("No command was run"),
        "of a role that has not passed"
    );
}

/// OC-40: the three documented options, then those that are always there.
#[test]
fn oc_40_a_person_mends_by_hand_and_it_is_checked_again() {
    let workshop = wrong();
    workshop.build(&[]).exits(3);
    let question = workshop.question();
    assert_eq!(question.header(), "Invalid output: Backend Developer");
    assert_eq!(
        question.labels(),
        ["Manual Fix", "Retry with different agent", "Skip validation", "Retry", "Cancel action", "Rollback"]
    );
    assert_eq!(question.with_words(), ["different_agent", "override"]);
    question.every_option_has_its_consequence();
    // Half mended is not mended.
    workshop.env.file("engine/api.sh", "echo by hand\n").file("planning-mds/spec/data.json", "{}");
    workshop.resume(&[("Invalid output", "fix", "")]).exits(3).says("Invalid YAML");
    workshop.env.file("planning-mds/spec/conf.yaml", "a: [1]\n");
    workshop.env.file("planning-mds/spec/spec.md", "# Spec\n\n## Scope\n\nAll of it.\n");
    workshop.resume(&[("Invalid output", "fix", ""), RELEASE]).exits(0);
    assert_eq!(workshop.count(ROLE), 3);
    assert_eq!(workshop.env.read("engine/api.sh"), "echo by hand\n");
    workshop.verify();
}

#[test]
fn oc_40_skipping_validation_takes_words_that_the_next_gate_shows() {
    let workshop = wrong();
    workshop.build(&[]).exits(3);
    let id = workshop.question().id().to_owned();
    workshop.env.run(&["answer", &id, "override"]).exits(2).says("needs a few words");
    workshop.resume(&[("Invalid output", "override", "a draft will do")]).exits(3);
    let details = workshop.question().details().to_owned();
    assert!(
        details.contains("ada let invalid output of the Backend Developer pass: a draft will do"),
        "{details}"
    );
    workshop.resume(&[RELEASE]).exits(0);
    assert!(workshop.evidence("gate-decisions.md").contains("- Decision: override"));
}

/// OC-41, OC-43, K-43: beside others as well, it goes straight to a person.
#[test]
fn oc_42_missing_artifacts_are_listed_and_never_retried_by_themselves() {
    let workshop = Workshop::of(
        "- parallel:\n    - frontend-developer\n    - {agent: backend-developer, writes: [engine/a.sh, engine/b.sh, engine/c.sh]}\n",
    );
    workshop.table(&[(ROLE, 0, "put engine/b.sh 'echo b\\n'; finish")]);
    workshop.build(&[]).exits(3);
    assert_eq!(
        (workshop.count(ROLE), workshop.count("frontend-developer"), workshop.pauses()),
        (1, 1, vec![])
    );
    let question = workshop.question();
    assert_eq!(
        question.why(),
        "Agent backend-developer completed but required artifacts missing:\n- Expected: engine/a.sh\n- Expected: \
         engine/c.sh\n\nThis indicates an agent execution issue."
    );
    assert_eq!(question.labels(), ["Retry agent", "Cancel", "Rollback"]);
    workshop.table(&[(ROLE, 0, "for f in a b c; do put engine/$f.sh 'echo\\n'; done; finish")]);
    workshop.resume(&[("Missing artifacts", "retry", "")]).exits(0);
    assert_eq!(workshop.count(ROLE), 2);
}

/// OC-14, OC-08, OC-113: what is not a role's to write is put back, and the role corrects itself.
#[test]
fn oc_14_a_breach_of_scope_is_put_back_and_corrected() {
    let workshop = Workshop::of("- backend-developer\n- {gate: approval, name: release}\n");
    workshop.env.file("README.md", "# Ours\n").file("notes.txt", "keep me\n");
    workshop.table(&[(ROLE, 1, "usual; echo theirs >README.md; rm notes.txt; put extra/new.txt x; finish")]);
    workshop.build(&[RELEASE]).exits(0);
    assert_eq!(
        (workshop.env.read("README.md"), workshop.env.read("notes.txt")),
        ("# Ours\n".into(), "keep me\n".into())
    );
    assert!(!workshop.env.path("extra/new.txt").exists());
    let told = workshop.feedback(ROLE, 2).join("\n");
    for path in ["README.md", "notes.txt", "extra/new.txt"] {
        assert!(told.contains(&format!("{path} is not among the files that you may write")), "{told}");
    }
    assert_eq!(workshop.error_types(), ["ScopeViolation"]);
    assert_eq!(workshop.outcome()["artifacts"], serde_json::json!(["engine/api.sh"]));
}

/// E-69: the framework is generic, whether a role has no business there or names the solution in it.
#[test]
fn oc_16_words_of_the_solution_are_kept_out_of_the_framework() {
    let workshop =
        Workshop::of("- {agent: backend-developer, writes: [engine/api.sh, \"agents/templates/**\"]}\n");
    workshop.configure("[actions]\nsolution = [\"Acme Bikes\"]\n");
    workshop.table(&[
        (ROLE, 1, "usual; put agents/templates/t.md '# For Acme Bikes\\n'; finish"),
        (ROLE, 2, "usual; put agents/templates/t.md '# Generic\\n'; put agents/backend-developer/SKILL.md x; finish"),
        (ROLE, 3, "usual; put agents/templates/t.md '# Generic\\n'; finish"),
    ]);
    workshop.build(&[]).exits(0);
    assert!(workshop.feedback(ROLE, 2)[0].contains("names this solution: Acme Bikes"));
    assert!(
        workshop.feedback(ROLE, 3)[0]
            .contains("agents/backend-developer/SKILL.md belongs to the generic framework")
    );
    assert!(workshop.env.read("agents/backend-developer/SKILL.md").contains("The guide of"));
    assert_eq!(workshop.env.read("agents/templates/t.md"), "# Generic\n");
}

/// OC-41: what the action itself owes is looked for at its end.
#[test]
fn oc_41_outputs_of_the_action_are_verified() {
    let workshop = Workshop::of("- backend-developer\n");
    let map = workshop.env.read("agents/agent-map.yaml");
    workshop.env.file(
        "agents/agent-map.yaml",
        map.replace("    steps:", "    outputs: [docs/summary.md]\n    steps:"),
    );
    workshop.build(&[]).exits(3).says("- Expected: docs/summary.md");
    workshop.env.file("docs/summary.md", "# Summary\n");
    workshop.resume(&[("required artifacts", "retry", "")]).exits(0);
}

/// OC-14: what a person changes while a question is open is theirs, and what a role wrote elsewhere is kept aside.
#[test]
fn oc_14_only_the_time_of_a_call_counts_and_nothing_is_lost() {
    let workshop = Workshop::of("- backend-developer\n");
    workshop.table(&[(ROLE, 1, "put stray.txt 'a thought'; exit 127")]);
    workshop.build(&[]).exits(3);
    assert!(
        !workshop.env.path("stray.txt").exists(),
        "it failed, and its stray file is put back all the same"
    );
    let kept = workshop.env.files_below(".artifacts-failed");
    assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), "a thought");
    workshop.env.file("README.md", "# A person's\n");
    workshop.resume(&[("Failure", "retry", "")]).exits(0);
    assert_eq!((workshop.count(ROLE), workshop.env.read("README.md")), (2, "# A person's\n".to_owned()));
    assert_eq!(workshop.outcome()["artifacts"], serde_json::json!(["engine/api.sh"]));
    workshop.verify();
}

/// OC-40: an agent that nobody configured as a substitute is named in words.
#[test]
fn oc_40_another_agent_can_be_named() {
    let workshop = Workshop::of("- backend-developer\n");
    workshop.agent("second", "").table(&[(ROLE, 0, "bad engine/api.md; finish"), (ROLE, 4, "usual; finish")]);
    workshop.wire("- {agent: backend-developer, writes: [\"engine/**\"]}\n");
    workshop.build(&[("Invalid output", "different_agent", "second")]).exits(3);
    let agents = std::fs::read_to_string(workshop.home("stage/agents")).unwrap();
    assert_eq!(agents.lines().nth(3), Some("backend-developer second"));
    // It began from what was there, and what was wrong is still wrong.
    std::fs::remove_file(workshop.env.path("engine/api.md")).unwrap();
    workshop.resume(&[("Invalid output", "fix", "")]).exits(0);
}
