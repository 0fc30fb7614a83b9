//! What is said about a request that cannot be carried out: to the letter, with its exit code, and nothing is begun.

use crate::roadmap_support::Project;
use crate::roadmap_support::ROADMAP;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::STATUS;
use crate::roadmap_support::add;
use crate::roadmap_support::roadmap;
use crate::roadmap_support::step;
use crate::support::Output;

/// The parameters of `run step` as they were typed.
fn run_step(project: &Project, parameters: &[&str]) -> Output {
    project.env.run(&[&["run", "step"], parameters, &["--no-input", "-q"]].concat())
}

/// Nothing ran and nothing was written: no agent was called, no run is known, and the files are as they were.
#[track_caller]
fn assert_untouched(project: &Project) {
    assert_eq!(project.calls(), Vec::<String>::new());
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    let (status, _) = project.env.json(&["status"]);
    assert_eq!(status["runs"].as_array().map(Vec::len), Some(0), "{status}");
}

/// Each mistake of the parameters has its sentence and the exit code 2 (DW-36).
#[track_caller]
fn assert_refused(project: &Project, cases: &[(&[&str], &str)]) {
    for (parameters, words) in cases {
        let output = run_step(project, parameters).exits(2);
        let first = output.stderr.lines().next().unwrap_or_default().to_owned();
        assert_eq!(first, format!("error: {words}"), "{parameters:?}\n{}", output.snapshot());
    }
    assert_untouched(project);
}

/// DW-17, DW-25 and DW-26: the name is looked for, without its sign, among those that there are.
#[test]
fn dw_20_a_wrong_agent_is_refused_with_the_names_that_there_are() {
    let known = "researcher, software-crafter, solution-architect, product-owner, acceptance-designer, devop";
    let project = Project::short();
    let nobody = format!("Invalid agent name: nobody. Must be one of: {known}");
    assert_refused(
        &project,
        &[
            (&["@nobody", "calc", "01-01"], &nobody),
            (&["nobody", "calc", "01-01"], &nobody),
            (&["@", "calc", "01-01"], "The agent name is empty"),
        ],
    );
    // K-101: agents of the configuration are listed after the usual ones.
    project.configure("[agents.gardener]\nkind = \"command\"\nargv = [\"true\"]\n");
    let more = format!("Invalid agent name: nobody. Must be one of: {known}, gardener");
    assert_refused(&project, &[(&["@nobody", "calc", "01-01"], &more)]);
}

/// DW-21 and DW-27.
#[test]
fn dw_22_an_agent_that_is_not_available_is_refused_with_those_that_are() {
    let project = Project::short();
    let config = project.env.read("seriatim.toml").replace("[agents.default]", "[agents.researcher]");
    project.with("seriatim.toml", &config);
    let words = "Agent 'software-crafter' is not currently available. Available agents: researcher";
    assert_refused(&project, &[(&["@software-crafter", "calc", "01-01"], words)]);
}

#[test]
fn dw_21_an_agent_at_its_limit_is_not_available() {
    let project = Project::of(SHORT, &[add(), step("01-02", "sub", &[])]);
    project.configure("[roadmap]\nconcurrency = 1\n");
    project.env.file("src/add.py", "RESULT = 1\n");
    // The first run waits for a person, and so it is not over.
    project.step("01-01").exits(3);
    let words = "error: Agent 'software-crafter' is not currently available. Available agents: researcher, \
                 solution-architect, product-owner, acceptance-designer, devop";
    project.step("01-02").exits(2).says(words);
    assert_eq!(project.calls(), Vec::<String>::new());
}

#[test]
fn dw_19_too_many_and_too_few_parameters_are_refused() {
    assert_refused(
        &Project::short(),
        &[
            (&["@software-crafter", "calc", "01-01", "more"], "Too many parameters. Expected 3, got 4"),
            (&["@software-crafter", "calc"], "Too few parameters. Expected 3, got 2"),
        ],
    );
}

#[test]
fn dw_30_a_missing_roadmap_a_missing_status_and_a_missing_step_are_said_to_the_letter() {
    let project = Project::of(SHORT, &[add(), step("01-02", "sub", &[]), step("01-03", "mul", &[])]);
    // DW-31 and DW-32.
    assert_refused(
        &project,
        &[
            (
                &["@software-crafter", "other", "01-01"],
                "Roadmap not found at docs/feature/other/roadmap.yaml",
            ),
            (
                &["@software-crafter", "calc", "09-09"],
                "Step 09-09 not found in roadmap. Available steps: 01-01, 01-02, 01-03",
            ),
        ],
    );
    std::fs::remove_file(project.env.path(STATUS)).unwrap();
    project.commit("No state");
    assert_refused(
        &project,
        &[(
            &["@software-crafter", "calc", "01-01"],
            "Execution status not found at docs/feature/calc/execution-status.yaml",
        )],
    );
    run_step(&project, &["@software-crafter", "calc", "01-01"]).says("seriatim roadmap init calc");
    let all = project.all(&[]).exits(2);
    all.says("error: Execution status not found at docs/feature/calc/execution-status.yaml");
}

/// DW-28, DW-29 and DW-34.
#[test]
fn e_45_ids_that_are_none_are_refused_before_any_file_is_looked_at() {
    let kebab =
        |given: &str| format!("Invalid project id: {given}. It must be kebab-case, such as auth-upgrade");
    let long = "a".repeat(100);
    let (under, out) = (kebab("Des_us"), kebab("../../etc"));
    assert_refused(
        &Project::short(),
        &[
            (&["@software-crafter", "Des_us", "01-01"], &under),
            (&["@software-crafter", "../../etc", "01-01"], &out),
            (
                &["@software-crafter", &long, "01-01"],
                "The project id has 100 characters; it must have fewer than 100",
            ),
            (
                &["@software-crafter", "calc", "../01"],
                "Invalid step id: ../01. It must be two digits, a hyphen and two digits, such as 01-01",
            ),
        ],
    );
}

/// DW-18 and DW-35: plain quotes are taken off, others are refused; nothing is empty.
#[test]
fn e_44_quotes_are_taken_off_or_refused_and_empty_parameters_are_named() {
    let project = Project::short();
    assert_refused(
        &project,
        &[
            (&["@software-crafter", "“calc”", "01-01"], "The project id still has quotes around it: “calc”"),
            (
                &["@software-crafter", "\"'calc'\"", "01-01"],
                "The project id still has quotes around it: 'calc'",
            ),
            (&["@software-crafter", "\"\"", "01-01"], "The project id is empty"),
            (&["@software-crafter", "calc", " "], "The step id is empty"),
        ],
    );
    run_step(&project, &[" '@software-crafter' ", "'calc'", "\"01-01\""]).exits(0);
    project.assert_done(&["01-01"]);
}

#[test]
fn dw_33_a_secret_as_parameter_is_refused_and_not_repeated() {
    let project = Project::short();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let output = run_step(&project, &["@software-crafter", &secret, "01-01"]).exits(2);
    output.says("The project id looks like a secret (").says_nothing_of(&secret);
    assert_untouched(&project);
}

/// DW-12: the old form is refused with the new one in its place.
#[test]
fn dw_93_the_path_of_a_step_file_is_a_deprecation_error() {
    let words = "The path of a step file is no longer a parameter: docs/feature/calc/steps/01-01.json. Use: seriatim run \
                 step @software-crafter calc 01-01";
    let path = "docs/feature/calc/steps/01-01.json";
    let project = Project::short();
    assert_refused(
        &project,
        &[(&["@software-crafter", path], words), (&["@software-crafter", path, "01-01"], words)],
    );
}

/// DW-54: exit code 1, since the request is right and only the time is not.
#[test]
fn dw_87_an_open_dependency_blocks_the_step_and_names_what_it_waits_for() {
    let project = Project::of(SHORT, &[add(), step("01-02", "sub", &["01-01"])]);
    let head = project.git(&["rev-parse", "HEAD"]);
    let args = ["run", "step", "@software-crafter", "calc", "01-02", "--no-input"];
    let (document, exit) = project.env.json(&args);
    assert_eq!(exit, Some(1), "{document:#}");
    let blocked = &document["outcome"]["execution_blocked"];
    assert_eq!(blocked["reason"], "dependency_not_met", "{document:#}");
    assert_eq!(blocked["blocking_tasks"], serde_json::json!(["01-01"]));
    assert_eq!(blocked["message"], "Cannot execute until dependencies complete");
    project
        .step("01-02")
        .exits(1)
        .says("Cannot execute until dependencies complete: step 01-02 waits for 01-01.");
    assert_eq!((project.calls(), project.git(&["rev-parse", "HEAD"])), (vec![], head));
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    // Once it is done, the other one can be.
    project.step("01-01").exits(0);
    project.step("01-02").exits(0);
    project.assert_done(&["01-01", "01-02"]);
}

#[test]
fn dw_88_a_step_without_what_an_agent_needs_to_know_is_blocked() {
    let project = Project::of(SHORT, &[add().without("description")]);
    let (document, exit) =
        project.env.json(&["run", "step", "@software-crafter", "calc", "01-01", "--no-input"]);
    assert_eq!(exit, Some(1), "{document:#}");
    let blocked = &document["outcome"]["execution_blocked"];
    assert_eq!(blocked["reason"], "insufficient_context", "{document:#}");
    assert_eq!(blocked["missing_information"], serde_json::json!(["description"]));
    assert_eq!(blocked["resolution"], "Update step file with missing context");
    assert_eq!(project.calls(), Vec::<String>::new());
}

/// DW-91: the review of the roadmap comes before the work; DW-52 and DW-55: what it says reaches record and agent.
#[test]
fn dw_51_a_review_that_says_not_ready_blocks_the_step() {
    let review = |ready: bool, more: &str| {
        format!(
            "reviews: [{{reviewer: rita, ready_for_execution: {ready}, recommendations: [Mind the sign], {more}}}]\n"
        )
    };
    let open = "critiques: [{severity: HIGH, finding: Overflow is open}]";
    let project = Project::of(&format!("{SHORT}{}", review(false, open)), &[add()]);
    let words = "Step 01-01 is not ready for execution: the review by rita says so.";
    project.step("01-01").exits(1).says(words);
    let (document, _) = project.env.json(&["show", &project.env.newest()]);
    assert_eq!(document["outcome"]["execution_blocked"]["reason"], "review_not_ready", "{document:#}");
    assert_eq!(project.calls(), Vec::<String>::new());

    project.with(ROADMAP, &roadmap(&format!("{SHORT}{}", review(true, open)), &[add()]));
    project.step("01-01").exits(0);
    assert_eq!(
        project.shown()["context"][0]["unresolved_critiques"],
        serde_json::json!(["Overflow is open"])
    );
    assert!(project.prompt("01-01", "RED", 1).contains("Mind the sign"));
}

#[test]
fn e_47_a_roadmap_with_a_cycle_a_duplicate_or_an_unknown_need_is_refused_and_nothing_is_begun() {
    let two =
        |first: &[&str], id: &str, second: &[&str]| [step("01-01", "add", first), step(id, "sub", second)];
    for (steps, words) in [
        (two(&["01-02"], "01-02", &["01-01"]), "01-01"),
        (two(&[], "01-01", &[]), "01-01"),
        (two(&[], "01-02", &["07-07"]), "07-07"),
    ] {
        let project = Project::of(SHORT, &[add()]);
        project.with(ROADMAP, &roadmap(SHORT, &steps));
        for output in [project.step("01-01"), project.all(&[])] {
            output.exits(2).says("docs/feature/calc/roadmap.yaml:").says(words).says("nothing was started");
        }
        assert_untouched(&project);
    }
}

#[test]
fn a_folder_that_is_no_repository_is_refused() {
    let project = Project::short();
    std::fs::remove_dir_all(project.env.path(".git")).unwrap();
    project.step("01-01").exits(2).says("is not in a git repository").says("git init");
}
