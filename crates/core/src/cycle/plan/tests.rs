//! Tests of the Planner's answer.

use serde_json::json;

use super::*;

fn outputs(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn step() -> PlanStep {
    PlanStep {
        title: "Rename the helper".to_owned(),
        instructions: "Rename `parse` in `src/a.rs:3`.".to_owned(),
        files: vec!["src/a.rs".to_owned()],
        creates: vec![],
        loc: 40,
        risk: Risk::Low,
        success_criteria: vec!["All tests pass.".to_owned()],
        commands: vec![],
    }
}

fn files(known: &[(&str, Option<u64>)]) -> BTreeMap<String, Option<u64>> {
    known.iter().map(|(path, lines)| ((*path).to_owned(), *lines)).collect()
}

fn faults_of(step: &PlanStep) -> Vec<String> {
    faults(step, &Limits::default(), &files(&[("src/a.rs", Some(10)), ("src/b.rs", Some(5))]))
}

// CY-31, CY-32
#[test]
fn cy_31_cy_32_the_three_answers_of_a_planner() {
    let read_step = read(&outputs(json!({"kind": "step", "step": {
        "title": "Rename the helper", "instructions": "Rename `parse` in `src/a.rs:3`.",
        "files": ["src/a.rs"], "loc": "40", "risk": "LOW", "success_criteria": "All tests pass."
    }})));
    assert_eq!(read_step, Ok(Planned::Step(step())));
    assert_eq!(
        read(&outputs(json!({"kind": "questions", "questions": ["Which format?", " "]}))),
        Ok(Planned::Questions(vec!["Which format?".to_owned()]))
    );
    // CY-22: uncertainty is put to the person.
    assert_eq!(
        read(&outputs(json!({"need": "the schema of the table"}))),
        Ok(Planned::ContextRequest("the schema of the table".to_owned()))
    );
}

#[test]
fn cy_35_everything_that_is_wrong_is_said_at_once() {
    assert_eq!(
        read(&outputs(
            json!({"kind": "step", "step": {"title": "", "files": [1], "loc": -3, "risk": "some"}})
        )),
        Err(vec![
            "`step.title` must be a text: a title of the step.".to_owned(),
            "`step.instructions` must be a text: instructions for the Actor.".to_owned(),
            "`step.files` must be a list of texts.".to_owned(),
            "`step.loc` must be the number of lines that the step will change.".to_owned(),
            "`step.risk` must say how risky the step is: `low`, `medium` or `high`.".to_owned(),
        ])
    );
    for (value, problem) in [
        (json!({}), "`kind` must be `step`, `questions` or `context_request`."),
        (json!({"kind": 3}), "`kind` must be `step`, `questions` or `context_request`."),
        (json!({"step": {}, "questions": []}), "`kind` must be `step`, `questions` or `context_request`."),
        (json!({"kind": "step"}), "`step` must be an object that describes the step."),
        (json!({"kind": "questions", "questions": []}), "`questions` must hold at least one question."),
        (json!({"kind": "context_request"}), "`need` must be a text: what is needed."),
    ] {
        assert_eq!(read(&outputs(value)), Err(vec![problem.to_owned()]));
    }
}

// CY-33, CY-37
#[test]
fn cy_33_cy_37_a_step_is_too_large_when_lines_and_files_both_are() {
    assert_eq!(faults_of(&step()), Vec::<String>::new());
    let mut large = step();
    large.loc = 900;
    assert_eq!(faults_of(&large), Vec::<String>::new());
    large.loc = 151;
    large.creates = vec!["src/c.rs".to_owned(), "./src/d.rs".to_owned(), "src/d.rs".to_owned()];
    assert_eq!(
        faults_of(&large),
        [
            "The step is too large: 151 lines in 3 files are planned, and a step may have 150 lines or 2 files. Split it and give the first part."
        ]
    );
    large.loc = 150;
    assert_eq!(faults_of(&large), Vec::<String>::new());
    let strict =
        Limits { mode: crate::cycle::limits::ScopeMode::Any, plan_loc: Some(0), ..Limits::default() };
    assert_eq!(
        faults(&large, &strict, &files(&[("src/a.rs", Some(10))])),
        [
            "The step is too large: 150 lines in 3 files are planned, and a step may have 150 lines and 2 files. Split it and give the first part.",
            "The instructions have 1 lines, and a plan may have 0.",
        ]
    );
}

#[test]
fn cy_34_a_step_needs_success_criteria() {
    let mut step = step();
    step.success_criteria.clear();
    assert_eq!(faults_of(&step), ["The step has no success criteria: say what the Judge should look at."]);
}

#[test]
fn cy_40_files_exist_or_are_planned_to_be_made() {
    let mut step = step();
    step.files.push("src/new.rs".to_owned());
    assert_eq!(
        faults_of(&step),
        ["`src/new.rs` does not exist: if the step makes it, name it in `creates`."]
    );
    // Naming a file that exists by now as one to be made is fine.
    step.creates = vec!["src/new.rs".to_owned(), "src/b.rs".to_owned()];
    step.loc = 10;
    assert_eq!(faults_of(&step), Vec::<String>::new());
}

// E-40, CY-20, CY-21
#[test]
fn e_40_cy_20_cy_21_citations_must_be_there() {
    let mut step = step();
    step.instructions =
        "Look at `src/a.rs:9999`, src/b.rs:5, src/b.rs:0, `src/gone.rs:1` and `../x.rs`.".to_owned();
    assert_eq!(
        faults_of(&step),
        [
            "`../x.rs` is cited and is outside of the project.",
            "`src/a.rs:9999` is cited, but the file has 10 lines.",
            "`src/b.rs:0` is cited, but the file has 5 lines.",
            "`src/gone.rs` is cited and does not exist: cite what is there, or name it in `creates`.",
        ]
    );
    assert_eq!(step.paths().into_iter().collect::<Vec<_>>(), ["src/a.rs", "src/b.rs", "src/gone.rs"]);
}

#[test]
fn paths_stay_inside_of_the_project() {
    let mut step = step();
    step.files = ["/etc/passwd", "a/../../b", "~/x", "C:\\x", "ok/..x/y..z"].map(str::to_owned).to_vec();
    step.creates = vec!["ok/..x/y..z".to_owned()];
    let said = faults_of(&step);
    assert_eq!(said.iter().filter(|fault| fault.contains("outside")).count(), 4, "{said:?}");
    assert_eq!(said.len(), 4, "{said:?}");
}
