//! What an agent is told: this step and nothing of the others, the same whenever the state is the same.

use crate::roadmap_support::Project;
use crate::roadmap_support::ROADMAP;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::add;
use crate::roadmap_support::roadmap;
use crate::roadmap_support::step;

/// What a prompt holds, in this order (DW-07).
const IN_ORDER: [&str; 14] = [
    "You are the software-crafter agent.",
    "Execute atomic tasks with complete state tracking via execution-status.yaml",
    "Task type: execute",
    "PROJECT: calc",
    "STEP: 01-01",
    "## TASK CONTEXT (EXTRACTED FROM ROADMAP - DO NOT LOAD ROADMAP)",
    "## MANDATORY TDD PHASES",
    "## EXECUTION CONFIGURATION",
    "## STATE TRACKING VIA execution-status.yaml",
    "DO NOT load roadmap.yaml (context provided above).",
    "## CM-D: Walking Skeleton Principle",
    "## INLINE REVIEW CRITERIA (Phase 4: REVIEW)",
    "## EXECUTION-STATUS.YAML STRUCTURE",
    "If you encounter issues:",
];

/// A step with every field that a roadmap knows, beside another one with words of its own.
fn full() -> Project {
    let first = add()
        .with("scenario_line", "6")
        .with("acceptance_test_scenario", "test_add")
        .with("quality_gates", "{acceptance_test_must_fail_first: true}")
        .with("deliverables", "[\"src/add.py\"]")
        .with("implementation_notes", "\"Mind the sign: step_id 01-02 is another one\"");
    let head = "execution_config: {max_turns_per_phase: 50}\n";
    Project::of(head, &[first, step("01-02", "subtraction", &["01-01"])])
}

/// DW-02, DW-04, DW-08, DW-09, DW-13: every field of the step, its role and its bounds, and no placeholder.
#[test]
fn dw_07_a_prompt_has_its_parts_in_order_and_nothing_of_the_other_steps() {
    let project = full();
    project.step("01-01").exits(0);
    for phase in ["PREPARE", "RED_ACCEPTANCE", "GREEN", "REVIEW", "REFACTOR_CONTINUOUS"] {
        let prompt = project.prompt("01-01", phase, 1);
        let mut from = 0;
        for part in IN_ORDER {
            let at =
                prompt[from..].find(part).unwrap_or_else(|| panic!("{part} is not in its place:\n{prompt}"));
            from += at + part.len();
        }
        for field in [
            "Function add",
            "Write the function add for two numbers",
            "- add of two numbers is right",
            "tests/test_add.py",
            "**Scenario Line**: 6",
            "**Acceptance Test Scenario**: test_add",
            "acceptance_test_must_fail_first",
            "- src/add.py",
            "Mind the sign",
            "**Estimated Hours**: 1",
            "**Suggested Agent**: software-crafter",
            "max_turns_per_phase",
            "docs/feature/calc/execution-status.yaml",
        ] {
            assert!(prompt.contains(field), "{phase} lacks {field}:\n{prompt}");
        }
        // DW-01: nothing of the rest of the roadmap, whatever its text says about ids (E-46).
        for foreign in ["subtraction", "{agent-name}", "{project-id}", "{step-id}", "{task_context"] {
            assert!(!prompt.contains(foreign), "{phase} holds {foreign}");
        }
    }
    assert_eq!(project.brief("01-01", "GREEN", 1)["limits"]["turns"], 50);
    let never = &project.brief("01-01", "GREEN", 1)["scope"]["never"];
    assert!(never.as_array().unwrap().contains(&ROADMAP.into()), "{never}");
}

/// DW-05: the size of what an agent gets is told beside that of the roadmap.
#[test]
fn dw_05_the_context_is_measured_against_the_roadmap() {
    let many: Vec<_> =
        (1..=40).map(|n| step(&format!("02-{n:02}"), &format!("other{n}"), &["01-01"])).collect();
    let project = Project::of(SHORT, &[vec![add()], many].concat());
    project.step("01-01").exits(0);
    let size = project.shown()["context"][0].clone();
    let number = |key: &str| size[key].as_u64().unwrap_or_else(|| panic!("{size:#}"));
    assert!(number("roadmap_tokens") > 10 * number("context_tokens"), "{size:#}");
    assert!(number("saved_percent") >= 90, "{size:#}");
    assert!(size["words"].as_str().unwrap().contains(&number("context_tokens").to_string()), "{size:#}");
}

/// DW-45: each call is a new instance; what it knows is in the state and not in what ran before.
#[test]
fn dw_46_the_same_step_in_the_same_state_is_told_the_same() {
    let steps = [add(), step("01-02", "sub", &[])];
    let (first, second) = (Project::of(SHORT, &steps), Project::of(SHORT, &steps));
    second.step("01-02").exits(0);
    for project in [&first, &second] {
        project.step("01-01").exits(0);
    }
    for phase in ["RED", "GREEN"] {
        let (one, other) = (first.brief("01-01", phase, 1), second.brief("01-01", phase, 1));
        assert_eq!(one["prompt"], other["prompt"]);
        assert_eq!(one["feedback"], serde_json::json!([]));
    }
}

/// DW-23: who is named counts more than who is suggested; DW-15 and DW-16: the name stands without its sign.
#[test]
fn dw_23_a_named_agent_counts_more_than_the_suggested_one() {
    let steps = [
        add().with("suggested_agent", "researcher"),
        step("01-02", "sub", &[]).with("suggested_agent", "devop"),
    ];
    let project = Project::of(SHORT, &steps);
    project.env.run(&["run", "step", "@acceptance-designer", "calc", "01-01", "--no-input", "-q"]).exits(0);
    assert!(project.prompt("01-01", "RED", 1).starts_with("You are the acceptance-designer agent."));
    assert_eq!(project.brief("01-01", "RED", 1)["role"], "acceptance-designer");
    assert_eq!(project.checkpoint("01-01")["state"]["assigned_to"], "acceptance-designer");
    project.all(&[]).exits(0);
    assert!(project.prompt("01-02", "RED", 1).starts_with("You are the devop agent."));

    project.with(ROADMAP, &roadmap(SHORT, &[steps.as_slice(), &[step("01-03", "mul", &[])]].concat()));
    std::fs::write(project.stage("word-01-03"), "mul").unwrap();
    project.all(&["--agent", "@product-owner"]).exits(0);
    assert!(project.prompt("01-03", "RED", 1).starts_with("You are the product-owner agent."));
}

/// DW-65 with E-55: fewer than 30 lines need a quick look only.
#[test]
fn e_55_a_refactoring_after_29_lines_is_quick_and_after_30_it_is_not() {
    let prompt = |lines: usize| {
        let project = Project::of("tdd_phases: [RED, GREEN, REFACTOR_CONTINUOUS, COMMIT]\n", &[add()]);
        project.agent(&format!(
            r#"usual
            more() {{ awk 'BEGIN {{ for (i = 1; i < {lines}; i++) print "A" i " = " i }}'; }}
            [ $SERIATIM_PHASE != GREEN ] || more >>"$code"
            finish"#
        ));
        project.step("01-01").exits(0);
        project.prompt("01-01", "REFACTOR_CONTINUOUS", 1)
    };
    let (quick, full) = (prompt(29), prompt(30));
    assert!(quick.contains("a quick look of two to three minutes is enough"), "{quick}");
    assert!(
        full.contains("- L1: naming")
            && full.contains("- L2: complexity")
            && full.contains("- L3: organization")
    );
    assert!(!full.contains("a quick look"), "{full}");
    // K-11: the list that is held against it afterwards is told before.
    assert!(full.contains("no test that existed before is broken"), "{full}");
}

/// E-58: what looks like a secret in an agent's note is in no file and in no record.
#[test]
fn e_58_a_secret_in_the_note_of_an_agent_is_redacted_everywhere() {
    let project = Project::short();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    project.agent(&format!("usual; report '{{\"status\": \"done\", \"summary\": \"The key is {secret}\"}}'"));
    project.step("01-01").exits(0).says_nothing_of(&secret);
    for path in project.env.files_below("docs") {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&secret), "{}", path.display());
    }
    assert!(project.phase("01-01", "GREEN")["notes"].as_str().unwrap().starts_with("The key is "));
    assert!(!project.shown().to_string().contains(&secret));
    assert!(!project.git(&["log", "-p", "--", "docs"]).contains(&secret));
}
