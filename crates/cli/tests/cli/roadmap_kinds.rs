//! Steps of other kinds, projects with ways of their own, and agents that need a person or break down.

use serde_json::json;

use crate::roadmap_support::Project;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::TEST;
use crate::roadmap_support::add;
use crate::roadmap_support::texts;

/// DW-14: the engine dispatches and looks; it never does the work itself.
#[test]
fn dw_14_an_agent_that_does_nothing_leaves_nothing_done() {
    let project = Project::short();
    project.agent("finish");
    project
        .step("01-01")
        .exits(1)
        .says("RED was refused 3 times")
        .says("The test file tests/test_add.py is not there.");
    let changed = project.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(changed.lines().all(|line| line.contains(" docs/feature/calc/")), "{changed}");
}

/// K-07 and K-10: what does not apply to such a step is skipped with a reason; REVIEW is not.
#[test]
fn dw_68_a_step_without_acceptance_tests_has_its_phases_preset_as_not_applicable() {
    let research =
        add().with("step_type", "research").without("test_file").with("deliverables", "[\"docs/note.md\"]");
    let project = Project::of("", &[research.without("files_to_create")]);
    project.with("src/add.py", "RESULT = 5\n");
    project.with("tests/test_add.py", TEST);
    project.agent("[ $SERIATIM_PHASE != PREPARE ] || echo found >docs/note.md; finish");
    project.step("01-01").exits(0);
    assert_eq!(project.calls(), ["01-01 PREPARE", "01-01 REVIEW", "01-01 REFACTOR_CONTINUOUS"]);
    for phase in ["RED_ACCEPTANCE", "RED_UNIT", "GREEN"] {
        let record = project.phase("01-01", phase);
        assert_eq!(record["status"], "SKIPPED", "{record:#}");
        assert_eq!(record["blocked_by"], "NOT_APPLICABLE: preset for research");
    }
    project.assert_done(&["01-01"]);
    assert_eq!(project.git(&["ls-files", "docs/note.md"]), "docs/note.md\n");
}

/// DW-58: the list of phases comes from one file, and nothing of it stands in the program.
#[test]
fn dw_58_a_project_brings_its_own_phases() {
    let project = Project::single();
    let phases = "version: \"ours\"\nphases:\n  - {name: THINK}\n  - {name: RED, gate: G3}\n  - {name: GREEN, gate: G6}\n  \
                  - {name: COMMIT}\n";
    project.with("phases.yaml", phases).configure("[guard]\nphases = \"phases.yaml\"\n");
    project.step("01-01").exits(0);
    assert_eq!(project.calls(), ["01-01 THINK", "01-01 RED", "01-01 GREEN"]);
    let names: Vec<String> = project.checkpoint("01-01")["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["phase_name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["THINK", "RED", "GREEN", "COMMIT"]);
    project.assert_done(&["01-01"]);
}

/// K-104: one call for the whole step; the agent reports each phase, and what it leaves open is held against it.
#[test]
fn k_104_an_agent_that_is_called_once_for_a_step_reports_each_phase_itself() {
    let project = Project::short();
    project.configure("[roadmap]\ncall = \"step\"\n");
    std::fs::write(project.stage("seriatim"), env!("CARGO_BIN_EXE_seriatim")).unwrap();
    project.agent(
        r#"seriatim=$(cat "$stage/seriatim")
        carry_out() {
            "$seriatim" phase start 01-01 $1 || exit 1
            SERIATIM_PHASE=$1; usual
            "$seriatim" phase done 01-01 $1 --outcome PASS --note "as it should be" || exit 1
        }
        [ $number -gt 1 ] && carry_out GREEN || carry_out RED
        finish"#,
    );
    project.step("01-01").exits(0);
    assert_eq!(project.calls(), ["01-01 ", "01-01 "]);
    let prompt = project.prompt("01-01", "", 2);
    assert!(prompt.contains("Phase GREEN is not over. Report it with `seriatim phase`."), "{prompt}");
    assert!(prompt.contains("seriatim phase start"), "{prompt}");
    let green = project.phase("01-01", "GREEN");
    assert_eq!(
        (&green["outcome"], &green["notes"]),
        (&"PASS".into(), &"as it should be".into()),
        "{green:#}"
    );
    project.assert_done(&["01-01"]);
}

/// CM-D: with an entry point in the configuration, a test that goes past it stops the phase.
#[test]
fn dw_60_an_acceptance_test_that_imports_a_component_directly_is_a_wiring_gap() {
    let project = Project::short();
    project.configure("[roadmap]\nentry_point = \"src/app.py\"\n");
    project
        .step("01-01")
        .exits(1)
        .says("Wiring gap: tests/test_add.py imports the component src/add.py directly");
    let tried = &project.tries("01-01", "RED")[0];
    assert_eq!(tried["objections"][0]["rule"], "walking-skeleton", "{tried:#}");
}

/// Without one it is a note in the record.
#[test]
fn dw_60_without_an_entry_point_the_walking_skeleton_is_a_note() {
    let project = Project::short();
    project.step("01-01").exits(0);
    let notes = project.tries("01-01", "RED")[0]["notes"].to_string();
    assert!(notes.contains("tests/test_add.py imports src/add.py directly"), "{notes}");
}

/// A step whose agent asks for a look before the work is brought home.
fn asks_for_review() -> Project {
    let project = Project::of("tdd_phases: [RED, GREEN, REVIEW, COMMIT]\n", &[add()]);
    project.agent(
        r#"usual
        if [ "$SERIATIM_PHASE $number" = "REVIEW 1" ]; then
            finish '{"review_request": {"from": "@solution-architect", "reason": "The sum may be signed"}}'
        else
            finish
        fi"#,
    );
    let asked = project.step("01-01").exits(3).asked();
    assert!(asked.contains("review by @solution-architect"), "{asked}");
    assert!(asked.contains("The sum may be signed. Is step 01-01 good as it is?"), "{asked}");
    assert!(asked.contains("+RESULT = 5"), "{asked}");
    let checkpoint = project.checkpoint("01-01");
    assert_eq!(checkpoint["state"]["status"], "IN_REVIEW", "{checkpoint:#}");
    let result = &checkpoint["execution_result"];
    assert_eq!(result["outputs_require_review"], true);
    assert_eq!(result["review_reason"], "The sum may be signed");
    assert_eq!(result["review_requested_from"], "@solution-architect");
    assert!(checkpoint["state"]["review_requested_at"].is_string(), "{checkpoint:#}");
    project
}

#[test]
fn dw_86_a_step_waits_in_review_and_is_done_when_it_is_approved() {
    let project = asks_for_review();
    project.resume(&[("review by", "approve", "Fine")]).exits(0);
    project.assert_done(&["01-01"]);
    let states = texts(&json!(
        project.checkpoint("01-01")["state_history"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| &e["status"])
            .collect::<Vec<_>>()
    ));
    assert_eq!(states, ["IN_PROGRESS", "IN_REVIEW", "DONE"]);
    let shown = project.shown();
    assert_eq!(shown["decisions"][0]["outcome"], "approve", "{shown:#}");
}

/// DW-48: IN_REVIEW to REWORK and back to work, on record.
#[test]
fn dw_48_a_step_that_has_to_be_done_over_goes_on_from_green_with_the_words_of_the_person() {
    let project = asks_for_review();
    project.resume(&[("review by", "rework", "Also for negative numbers")]).exits(0);
    let feedback = texts(&project.brief("01-01", "GREEN", 2)["feedback"]);
    assert!(feedback[0].contains("Also for negative numbers"), "{feedback:?}");
    assert_eq!((project.count("01-01", "RED"), project.count("01-01", "GREEN")), (1, 2));
    assert_eq!(project.phase("01-01", "GREEN")["history"].as_array().unwrap().len(), 1);
    let states = texts(&json!(
        project.checkpoint("01-01")["state_history"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| &e["status"])
            .collect::<Vec<_>>()
    ));
    assert_eq!(states, ["IN_PROGRESS", "IN_REVIEW", "REWORK", "IN_PROGRESS", "DONE"]);
    project.assert_done(&["01-01"]);
}

/// A step whose agent does not come to an end in time.
fn too_slow() -> Project {
    let project = Project::short();
    let config = project.env.read("seriatim.toml").replace("timeout = \"5m\"", "timeout = \"1s\"");
    project.with("seriatim.toml", &config);
    project.agent(r#"usual; [ "$SERIATIM_PHASE $number" != "GREEN 1" ] || read word <"$stage/hold"; finish"#);
    project
}

#[test]
fn k_44_an_agent_that_takes_too_long_is_asked_about_and_never_tried_again_alone() {
    let project = too_slow();
    let _hold = crate::process::Fifo::new(&project.stage("hold"));
    let asked = project.step("01-01").exits(3).asked();
    assert!(asked.contains("Step 01-01: GREEN took too long"), "{asked}");
    assert_eq!(project.count("01-01", "GREEN"), 1);
    project.resume(&[("took too long", "retry", "Be quick.")]).exits(0);
    assert_eq!(texts(&project.brief("01-01", "GREEN", 2)["feedback"]), ["Be quick."]);
    project.assert_done(&["01-01"]);
}

/// DW-89: three times, then the step is FAILED with what the agent left.
#[test]
fn dw_89_an_agent_that_breaks_down_is_tried_three_times_and_its_error_is_on_record() {
    let project = Project::short();
    project.agent("usual; [ $SERIATIM_PHASE != GREEN ] || { echo 'out of ink' >&2; exit 3; }; finish");
    project.step("01-01").exits(1).says("Step 01-01 is FAILED: The agent @software-crafter failed in GREEN:");
    assert_eq!(project.count("01-01", "GREEN"), 3);
    let checkpoint = project.checkpoint("01-01");
    let error = &checkpoint["execution_error"];
    assert_eq!((&error["type"], &error["max_retries"]), (&"agent_error".into(), &3.into()), "{checkpoint:#}");
    assert!(error["stack_trace"].to_string().contains("out of ink"), "{error:#}");
    assert_eq!(checkpoint["execution_result"]["can_retry"], true);
    let green = project.phase("01-01", "GREEN");
    assert_eq!(green["status"], "COMPLETED", "nothing is left in progress: {green:#}");
    let crashed =
        green["history"].as_array().unwrap().iter().filter(|entry| entry["status"] == "CRASHED").count();
    assert!(crashed >= 2, "{green:#}");
    project.agent("usual; finish");
    project.step("01-01").exits(0);
    project.assert_done(&["01-01"]);
}

/// DW-41: turns are counted for each phase, and summed up for the step.
#[test]
fn dw_41_turns_are_counted_per_phase_and_per_step() {
    let project = Project::short();
    project.agent(
        r#"usual
        [ $SERIATIM_PHASE = RED ] && turns=4 || turns=3
        report '{"status": "done", "usage": {"turns": '$turns'}}'"#,
    );
    project.step("01-01").exits(0);
    assert_eq!(project.phase("01-01", "RED")["turn_count"], 4);
    assert_eq!(project.phase("01-01", "GREEN")["turn_count"], 3);
    let metrics = project.checkpoint("01-01")["execution_metrics"].clone();
    assert_eq!(metrics["turn_count"], 7, "{metrics:#}");
}

/// K-13: a project that opted in may still name the file of a step.
#[test]
fn k_13_the_path_of_a_step_file_is_taken_where_the_project_opted_in() {
    let project = Project::of(SHORT, &[add()]);
    project.configure("[roadmap]\nstep_files = true\n");
    let path = "docs/feature/calc/steps/01-01.json";
    project.env.run(&["run", "step", "@software-crafter", path, "--no-input", "-q"]).exits(0);
    project.assert_done(&["01-01"]);
}
