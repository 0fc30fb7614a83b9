//! Steps side by side: each in a working tree of its own, merged in the order of the roadmap.

use std::collections::BTreeSet;

use crate::roadmap_support::Project;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::Step;
use crate::roadmap_support::add;
use crate::roadmap_support::step;

/// One step, two that need it and nothing of one another, and one that needs both.
fn diamond() -> Project {
    let steps = [
        add(),
        step("01-02", "sub", &["01-01"]),
        step("01-03", "mul", &["01-01"]),
        step("01-04", "div", &["01-02", "01-03"]),
    ];
    Project::of(SHORT, &steps)
}

/// The tracked files with their contents, without those that hold times.
fn files(project: &Project) -> Vec<(String, String)> {
    let listed = project.git(&["ls-files", "--", "src", "tests"]);
    listed.lines().map(|path| (path.to_owned(), project.env.read(path))).collect()
}

/// For each step how it stands and how its phases ended.
fn states(project: &Project) -> Vec<(String, Vec<String>)> {
    let of = |id: &str| {
        let checkpoint = project.checkpoint(id);
        let phases = checkpoint["phases"].as_array().unwrap().iter();
        let mut ended: Vec<String> =
            phases.map(|p| format!("{} {} {}", p["phase_name"], p["status"], p["outcome"])).collect();
        ended.push(checkpoint["state"]["status"].to_string());
        (id.to_owned(), ended)
    };
    ["01-01", "01-02", "01-03", "01-04"].into_iter().map(of).collect()
}

/// The subjects that every way of carrying a step out has.
fn checkpoints(project: &Project) -> BTreeSet<String> {
    project.subjects().into_iter().filter(|subject| subject.starts_with("feat(")).collect()
}

/// The folders in which the agent of a step worked.
fn places(project: &Project, id: &str) -> BTreeSet<String> {
    let places = std::fs::read_to_string(project.stage(&format!("places-{id}"))).unwrap();
    places.lines().map(str::to_owned).collect()
}

/// DW-96: side by side only what needs nothing of one another.
#[test]
fn dw_96_a_diamond_of_steps_comes_out_the_same_side_by_side_and_one_after_the_other() {
    let (one, three) = (diamond(), diamond());
    one.all(&[]).exits(0);
    let calls: Vec<String> = one.calls().iter().map(|call| call[..5].to_owned()).collect();
    let mut order = calls.clone();
    order.dedup();
    assert_eq!(order, ["01-01", "01-02", "01-03", "01-04", "final"], "one after the other by default");

    three.in_worlds();
    // Both of the middle wait for one another before they go on, so that they are truly at work at once.
    three.agent(
        r#"usual
        case "$SERIATIM_STEP $SERIATIM_PHASE" in
        "01-02 RED") echo >"$stage/a"; read word <"$stage/b" ;;
        "01-03 RED") echo >"$stage/b"; read word <"$stage/a" ;;
        esac
        finish"#,
    );
    let _pipes = ["a", "b"].map(|name| crate::process::Fifo::new(&three.stage(name)));
    three.all(&["--parallel", "3"]).exits(0).says("4 of 4 steps are done");

    assert_eq!(files(&one), files(&three));
    assert_eq!(states(&one), states(&three));
    assert_eq!(checkpoints(&one), checkpoints(&three));
    let (sub, mul) = (places(&three, "01-02"), places(&three, "01-03"));
    assert_eq!((sub.len(), mul.len()), (1, 1));
    // Each has a working tree of its own, and finds it at the path of the workspace.
    for worked_at in [sub, mul, places(&three, "01-04")] {
        assert_eq!(worked_at.first().unwrap(), &three.env.root.display().to_string());
    }
    three.assert_done(&["01-01", "01-02", "01-03", "01-04"]);
    assert_nothing_left(&three);
    for (entry, word) in
        three.status()["completed_steps"].as_array().unwrap().iter().zip(["add", "sub", "mul", "div"])
    {
        assert_eq!(entry["files_modified"]["implementation"][0], format!("src/{word}.py"));
        assert_eq!(entry["files_modified"]["implementation"].as_array().unwrap().len(), 1);
    }
}

/// Neither working trees nor branches of steps are left.
#[track_caller]
fn assert_nothing_left(project: &Project) {
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.git(&["branch", "--format=%(refname:short)"]), "main\n");
    assert_eq!(project.env.stored_below("trees"), Vec::<std::path::PathBuf>::new());
}

/// Two steps that change the same line of one file, and say nothing about their files before.
fn conflicting() -> Project {
    let one = |step: Step| step.without("files_to_create").without("test_file");
    let project = Project::of(SHORT, &[one(add()), one(step("01-02", "sub", &[]))]);
    project.with("src/list.py", "ALL = []\n");
    project.agent(r#"usual; [ $SERIATIM_PHASE != GREEN ] || echo "ALL = ['$word']" >src/list.py; finish"#);
    let asked = project.all(&["--parallel", "2"]).exits(3).asked();
    assert!(asked.contains("Step 01-02: conflict"), "{asked}");
    let words = "Step 01-02 and merged changes touch the same places: src/list.py.";
    assert!(asked.contains(words), "{asked}");
    assert!(asked.contains(
        "The step's working tree is .git/seriatim/trees/calc-01-02, its branch seriatim/calc/01-02."
    ));
    // Nothing is half merged.
    assert_eq!(project.env.read("src/list.py"), "ALL = ['add']\n");
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    project
}

#[test]
fn two_steps_that_touch_one_line_are_a_question_and_a_person_can_resolve_it() {
    let project = conflicting();
    let tree = project.env.stored("trees/calc-01-02");
    let tree = tree.to_str().unwrap();
    let merge =
        std::process::Command::new("git").args(["-C", tree, "merge", "--quiet", "main"]).output().unwrap();
    assert!(!merge.status.success(), "there is no conflict to resolve");
    std::fs::write(format!("{tree}/src/list.py"), "ALL = ['add', 'sub']\n").unwrap();
    project.env.git(&["-C", tree, "add", "src/list.py"]);
    project.env.git(&["-C", tree, "commit", "--quiet", "--message=Both"]);
    project.resume(&[("conflict", "retry", "")]).exits(0).says("2 of 2 steps are done");
    assert_eq!(project.env.read("src/list.py"), "ALL = ['add', 'sub']\n");
    project.assert_done(&["01-01", "01-02"]);
    assert_nothing_left(&project);
}

#[test]
fn a_step_in_conflict_can_be_done_again_on_top_of_what_is_there() {
    let project = conflicting();
    project.agent(
        r#"usual
        [ "$SERIATIM_STEP $SERIATIM_PHASE" != "01-02 GREEN" ] || echo "ALL = ['add', 'sub']" >src/list.py
        finish"#,
    );
    project.resume(&[("conflict", "rework", "")]).exits(0);
    assert_eq!(project.env.read("src/list.py"), "ALL = ['add', 'sub']\n");
    assert_eq!((project.count("01-01", "GREEN"), project.count("01-02", "GREEN")), (1, 2));
    let history = project.phase("01-02", "GREEN")["history"].clone();
    assert_eq!(history.as_array().unwrap().len(), 1, "{history:#}");
    project.assert_done(&["01-01", "01-02"]);
    // The working tree is gone; what was done in it is not thrown away.
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.git(&["show", "seriatim/calc/01-02:src/list.py"]), "ALL = ['sub']\n");
}

#[test]
fn a_step_in_conflict_that_is_left_keeps_its_branch_and_the_work_of_the_other() {
    let project = conflicting();
    project.resume(&[("conflict", "cancel", "")]).exits(1).says("1 of 2 steps are done, 1 failed.");
    assert_eq!(project.env.read("src/list.py"), "ALL = ['add']\n");
    assert_eq!(project.git(&["show", "seriatim/calc/01-02:src/list.py"]), "ALL = ['sub']\n");
    let done: Vec<String> = project.status()["completed_steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["step_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(done, ["01-01"]);
    assert_eq!(project.checkpoint("01-02")["execution_result"]["can_retry"], true);
}

/// One step fails, another one that does not need it is done, and a third that needs it is not begun.
#[test]
fn dw_87_one_steps_failure_keeps_the_work_of_the_others_and_blocks_what_needs_it() {
    let steps = [add(), step("01-02", "sub", &[]), step("01-03", "mul", &["01-01"])];
    let project = Project::of(SHORT, &steps);
    project.agent(r#"usual; [ "$SERIATIM_STEP $SERIATIM_PHASE" != "01-01 GREEN" ] || write_code 4; finish"#);
    let output =
        project.all(&["--parallel", "2"]).exits(1).says("1 of 3 steps are done, 1 failed, 1 blocked.");
    output
        .says("Step 01-01 is FAILED")
        .says("Cannot execute until dependencies complete: step 01-03 waits for 01-01");
    assert_eq!(project.count("01-03", "RED"), 0);
    assert!(project.subjects().contains(&"feat(01-02): DONE".to_owned()));
}

/// What both of two steps name is never changed by both at once.
#[test]
fn steps_that_name_the_same_file_are_not_carried_out_side_by_side() {
    let one = |step: Step| step.with("files_to_modify", "[\"src/list.py\"]");
    let project = Project::of(SHORT, &[one(add()), one(step("01-02", "sub", &[]))]);
    project.with("src/list.py", "ALL = []\n");
    project.agent(r#"usual; [ $SERIATIM_PHASE != GREEN ] || echo "ALL += ['$word']" >>src/list.py; finish"#);
    project.all(&["--parallel", "2"]).exits(0);
    assert_eq!(project.env.read("src/list.py"), "ALL = []\nALL += ['add']\nALL += ['sub']\n");
    assert_eq!(places(&project, "01-01").union(&places(&project, "01-02")).count(), 1);
    project.assert_done(&["01-01", "01-02"]);
}

/// A runner that looks for no tests below `.git`, as some do, and needs what git ignores; an agent that names its files in
/// full. The user has files that are not committed, which are no part of the work.
#[test]
fn steps_side_by_side_work_at_the_path_of_the_workspace_with_its_ignored_files_and_nothing_of_the_user() {
    let project = Project::of(SHORT, &[add(), step("01-02", "sub", &[])]);
    project.in_worlds();
    let root = project.env.root.display().to_string();
    project.with(".gitignore", "__pycache__/\nnode_modules/\n").with("src/base.py", "RESULT = 1\n");
    project.with(
        "jest.sh",
        "case \"$PWD\" in */.git/*) echo 'No tests found'; exit 1 ;; esac\n\
         [ -f node_modules/lib.js ] || { echo 'no modules'; exit 1; }\n\
         [ ! -e src/draft.py ] && grep -q 1 src/base.py || { echo 'not the commit'; exit 1; }\n\
         exec sh check.sh\n",
    );
    let gates = project.env.read("seriatim.toml").replace("check.sh", "jest.sh");
    project.with("seriatim.toml", &gates);
    project.env.file("node_modules/lib.js", "x\n");
    project.env.file("src/draft.py", "mine\n").file("src/base.py", "RESULT = 22\n");
    project.agent(&format!(
        r#"code={root}/$code test={root}/$test; usual
        [ ! -e {root}/src/draft.py ] || exit 9
        echo $word >>node_modules/cache
        cat node_modules/cache >"$stage/cache-$SERIATIM_STEP"
        finish"#
    ));
    project.all(&["--parallel", "2"]).exits(0).says("2 of 2 steps are done");
    project.assert_done_beside(&["01-01", "01-02"]);
    assert_eq!(project.git(&["show", "HEAD:src/sub.py"]), "RESULT = 5\n");
    assert_eq!(project.git(&["status", "--porcelain"]), " M src/base.py\n?? src/draft.py\n");
    // What each wrote among ignored files is there for its next attempt, and for nobody else.
    let cache = |id: &str| std::fs::read_to_string(project.stage(&format!("cache-{id}"))).unwrap();
    assert_eq!((cache("01-01").as_str(), cache("01-02").as_str()), ("add\nadd\n", "sub\nsub\n"));
    assert!(!project.env.path("node_modules/cache").exists());
    assert_nothing_left(&project);
}

/// What an agent does to the repository in its world is on record, and stays there.
#[test]
fn what_an_agent_beside_others_does_to_the_repository_stays_in_its_world() {
    let project = Project::of(SHORT, &[add(), step("01-02", "sub", &[])]);
    project.in_worlds().agent(
        r#"usual
        if [ "$SERIATIM_STEP $SERIATIM_PHASE" = "01-02 GREEN" ]; then
            git add --all; git commit --quiet --message=Mine; git branch mine; echo x >.git/hooks/pre-commit
        fi
        finish"#,
    );
    project.all(&["--parallel", "2"]).exits(0);
    project.assert_done(&["01-01", "01-02"]);
    assert_eq!(project.git(&["log", "--all", "--format=%s", "--grep=Mine"]), "");
    assert!(!project.env.path(".git/hooks/pre-commit").exists());
    let told = project.env.run(&["log", &project.env.newest()]).stdout;
    assert!(told.contains("only in its view: changed hooks of the repository: pre-commit"), "{told}");
    assert_nothing_left(&project);
}
