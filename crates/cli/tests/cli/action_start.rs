//! The nine actions of the contract, what they ask for, and how words lead to one of them.

use crate::action_support::Workshop;

/// Answers to everything that an action without a map, without a plan and without configured gates asks.
const ANSWERS: [(&str, &str, &str); 4] = [
    ("Missing input", "provide_input", "as agreed"),
    ("AI Engineer needed", "no", ""),
    ("Clarification", "approve", ""),
    ("^Gate ", "approve", ""),
];

/// An action starts from its contract alone, asks for what is missing, and is carried through.
#[track_caller]
fn carried_through(name: &str, inputs: usize, roles: &[&str], gates: &[&str]) {
    let workshop = Workshop::bare();
    workshop.run(&[name], &[]).exits(3).says("Missing input");
    assert_eq!(workshop.calls(), Vec::<String>::new(), "nothing is done before that");
    workshop.env.run(&["cancel", &workshop.env.newest()]);
    workshop.run_answering(&[name], &ANSWERS).exits(0).says(&format!("The action {name} is done"));
    let decisions = workshop.decisions();
    let asked = decisions.iter().filter(|one| *one == "Missing input provide_input").count();
    assert_eq!(asked, inputs, "{decisions:?}");
    let outcome = workshop.outcome();
    let worked: Vec<&str> =
        outcome["roles"].as_array().unwrap().iter().filter_map(|role| role.as_str()).collect();
    let mut expected = roles.to_vec();
    let mut worked = worked;
    worked.sort_unstable();
    expected.sort_unstable();
    assert_eq!(worked, expected);
    for gate in gates {
        assert!(decisions.iter().any(|one| one.starts_with(gate)), "{gate}: {decisions:?}");
    }
    // OC-66, OC-95: there is a way back from every action.
    let snapshot = outcome["snapshot"].as_str().unwrap();
    assert!(snapshot.starts_with(&format!("{name}-")), "{snapshot}");
    assert!(workshop.env.path(&format!(".snapshots/{snapshot}/manifest.json")).exists());
    // OC-110, OC-112, OC-113, OC-114, OC-115: the self-check, each point by itself.
    for point in [
        "intent_mapped",
        "role_guides_loaded",
        "missing_inputs_requested",
        "outputs_at_specified_locations",
        "gate_decisions_recorded",
        "failures_name_artifacts_and_next_steps",
    ] {
        assert_eq!(outcome["compliance"][point], true, "{point}");
    }
    assert!(workshop.evidence("action-context.md").contains("as agreed"));
    let brief = workshop.brief(&workshop.calls()[0], 1);
    assert!(brief["inputs"].as_object().unwrap().values().any(|value| value == "as agreed"), "{brief:#}");
}

const BUILDERS: [&str; 4] = ["Backend Developer", "Frontend Developer", "Quality Engineer", "DevOps"];

#[test]
fn oc_100_init_starts_from_its_contract() {
    carried_through("init", 4, &["Product Manager (initialization)"], &[]);
}

#[test]
fn oc_101_plan_starts_from_its_contract() {
    carried_through(
        "plan",
        2,
        &["Product Manager (phase A)", "Architect (phase B)"],
        &["requirements-clarification", "requirements-approval", "architecture-approval"],
    );
}

#[test]
fn oc_102_build_starts_from_its_contract() {
    let roles = [&["Architect (assembly planning)", "Code Reviewer", "Security"][..], &BUILDERS].concat();
    carried_through("build", 4, &roles, &["build-quality", "build-approval"]);
}

#[test]
fn oc_103_feature_starts_from_its_contract() {
    let roles =
        [&["Architect (feature assembly planning)", "Code Reviewer", "Security"][..], &BUILDERS].concat();
    carried_through("feature", 3, &roles, &["feature-quality", "feature-approval"]);
}

#[test]
fn oc_104_review_starts_from_its_contract() {
    carried_through("review", 2, &["Code Reviewer", "Security"], &["review-approval"]);
}

#[test]
fn oc_105_validate_starts_from_its_contract() {
    let roles = ["Product Manager (validation)", "Architect (validation)"];
    carried_through("validate", 2, &roles, &["validation-checklist passed"]);
}

#[test]
fn oc_106_test_starts_from_its_contract() {
    carried_through("test", 3, &["Quality Engineer"], &["test-quality"]);
}

#[test]
fn oc_107_document_starts_from_its_contract() {
    carried_through("document", 3, &["Technical Writer"], &["documentation-review passed"]);
}

#[test]
fn oc_108_blog_starts_from_its_contract() {
    carried_through("blog", 3, &["Blogger"], &["editorial-review passed"]);
}

/// OC-100: what must exist afterwards is looked for.
#[test]
fn oc_100_init_is_not_done_without_its_scaffold() {
    let workshop = Workshop::bare();
    workshop.table(&[("product-manager", 0, "put planning-mds/BLUEPRINT.md '# Blueprint\\n'; finish")]);
    let inputs =
        ["project name=Atlas", "domain context=maps", "target users=walkers", "initial entities=Path"];
    let args: Vec<&str> = inputs.iter().flat_map(|input| ["--input", *input]).collect();
    workshop
        .run(&[&["init"], &args[..]].concat(), &[])
        .exits(3)
        .says("- Expected: planning-mds/domain/glossary.md");
    workshop.usual().resume(&[("required artifacts", "fix", "")]).exits(0);
    assert_eq!(workshop.count("product-manager"), 2);
}

/// OC-112: inputs that are given with the command are not asked for, and every role gets them.
#[test]
fn oc_15_inputs_can_be_given_with_the_command() {
    let workshop = Workshop::bare();
    workshop.run(&["init", "--input", "project name=Atlas", "--input", "target users=walkers"], &[]).exits(3);
    assert!(workshop.question().0["question"].as_str().unwrap().contains("domain context"));
    let missing = "Missing input";
    workshop
        .resume(&[(missing, "provide_input", "maps"), (missing, "provide_input", "Path, Summit")])
        .exits(0);
    let brief = workshop.brief("product-manager", 1);
    assert_eq!(
        (&brief["inputs"]["project name"], &brief["inputs"]["domain context"]),
        (&"Atlas".into(), &"maps".into())
    );
    assert!(brief["prompt"].as_str().unwrap().contains("project name: Atlas"));
    assert_eq!(workshop.decisions().len(), 2);
    workshop.run(&["init", "--input", "nothing"], &[]).exits(2).says("NAME=TEXT");
}

/// OC-12, OC-15: a file that is missing is looked for again once it is there, and never guessed.
#[test]
fn oc_12_planning_inputs_are_read_from_the_planning_tree() {
    let workshop = Workshop::of("- backend-developer\n");
    std::fs::remove_file(workshop.env.path("planning-mds/BLUEPRINT.md")).unwrap();
    workshop.build(&[]).exits(3).says("It was looked for at planning-mds/BLUEPRINT.md and is not there.");
    let question = workshop.question();
    assert_eq!(question.choices(), ["retry", "provide_input", "cancel"]);
    workshop.resume(&[("Missing input", "retry", "")]).exits(3);
    workshop.env.file("planning-mds/BLUEPRINT.md", "# Blueprint\n");
    workshop.resume(&[("Missing input", "retry", "")]).exits(0);
    std::fs::remove_file(workshop.env.path("planning-mds/BLUEPRINT.md")).unwrap();
    workshop.build(&[("Missing input", "cancel", "")]).exits(1).says("was not started");
}

/// OC-05, OC-06, OC-110: one clear match is taken.
#[test]
fn oc_09_clear_words_lead_to_one_action() {
    let workshop = Workshop::bare();
    workshop.run_answering(&["write the runbook"], &ANSWERS).exits(0).says("The action document is done");
    let brief = workshop.brief("technical-writer", 1);
    assert_eq!(brief["inputs"]["What was asked for"], "write the runbook");
}

#[test]
fn oc_10_ambiguous_words_are_asked_about_before_anything_runs() {
    let workshop = Workshop::bare();
    workshop.run(&["do something nice"], &[]).exits(3).says("Which action");
    let question = workshop.question();
    let nine =
        ["init", "plan", "build", "feature", "review", "validate", "test", "document", "blog", "cancel"];
    assert_eq!(question.choices(), nine);
    assert_eq!((workshop.calls().len(), workshop.env.files_below(".snapshots").len()), (0, 0));
    workshop.resume(&[("Which action", "blog", "")]).exits(3).says("Missing input");
    workshop
        .run(&["something nice, please"], &[("Which action", "cancel", "")])
        .exits(1)
        .says("No action was started");
    assert_eq!(workshop.calls(), Vec::<String>::new());
}

/// OC-21, OC-109, K-42: a broken contract is permanent; its faults are told with their places.
#[test]
fn oc_109_a_malformed_contract_does_not_start() {
    let workshop = Workshop::of("- {agent: backend-develper}\n- {gate: approval, agent: security}\n");
    let output = workshop.build(&[]).exits(2).says("agents/agent-map.yaml:");
    output
        .says("did you mean `backend-developer`?")
        .says("a step has only one of `agent`, `parallel` and `gate`");
    assert_eq!(workshop.calls(), Vec::<String>::new());
    assert!(workshop.env.files_below(".snapshots").is_empty());
}

/// OC-06, OC-109: front matter of the action's own file wins over the map.
#[test]
fn oc_06_an_action_is_read_from_its_own_file() {
    let workshop = Workshop::new();
    let file = "---\naction: build\ndescription: Only the plan\nsteps:\n  - agent: quality-engineer\n---\n# Action: build\n\n\
                ## User Intent\n\nBuild only the plan.\n";
    workshop.env.file("agents/actions/build.md", file);
    workshop.build(&[]).exits(0);
    assert_eq!(workshop.calls(), ["quality-engineer"]);
    // OC-13: the whole contract is in the brief.
    assert!(
        workshop.brief("quality-engineer", 1)["prompt"].as_str().unwrap().contains("Build only the plan.")
    );
}
