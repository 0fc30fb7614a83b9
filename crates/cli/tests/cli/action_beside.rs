//! Roles side by side in worlds: each at the path of the workspace, apart from the others until it passes.

use crate::action_support::Workshop;

const QUALITY: &str = "quality-engineer";
const BACKEND: &str = "backend-developer";

/// Two roles side by side in worlds, in a workspace with a repository or without one.
fn workshop(with_git: bool) -> Workshop {
    let workshop = Workshop::of("- parallel: [backend-developer, quality-engineer]\n");
    let config = workshop.env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
    workshop.env.file("seriatim.toml", config).file("tests/plan.md", "# Old\n").file("keep.md", "# Keep\n");
    if with_git {
        workshop.env.file(".gitignore", "node_modules/\n");
        workshop.env.git(&["init", "--quiet", "--initial-branch=main"]);
        workshop.env.git(&["config", "user.name", "Ada"]);
        workshop.env.git(&["config", "user.email", "ada@example.org"]);
        workshop.env.git(&["add", "--all"]);
        workshop.env.git(&["commit", "--quiet", "--message=Begin"]);
        workshop.env.file("node_modules/lib.js", "x\n");
    }
    workshop
}

fn each_works_at_the_path_of_the_workspace(with_git: bool) {
    let workshop = workshop(with_git);
    let root = workshop.env.root.display().to_string();
    // The second role looks when the first one is about to end, and the first one ends when it has looked.
    let (_a, _b) = (workshop.fifo("a"), workshop.fifo("b"));
    let backend = format!(
        r#"pwd >"$HOME/stage/place"; cd /; put {root}/engine/api.sh 'echo by its full path\n'
        cat {root}/engine/api.sh >"$HOME/stage/seen"
        echo now >"$HOME/a"; read word <"$HOME/b"; finish"#
    );
    let quality = r#"read word <"$HOME/a"; [ ! -e engine ] || exit 9
        [ ! -d .git ] || [ -f node_modules/lib.js ] || exit 8
        usual; rm keep.md; echo now >"$HOME/b"; rm -f engine/api.sh; finish"#;
    workshop.table(&[(BACKEND, 0, &backend), (QUALITY, 1, quality), (QUALITY, 0, "usual; finish")]);
    workshop.build(&[]).exits(0).says("2 files written");
    let stage = |name: &str| std::fs::read_to_string(workshop.home(&format!("stage/{name}"))).unwrap();
    assert_eq!((stage("place"), stage("seen")), (format!("{root}\n"), "echo by its full path\n".to_owned()));
    assert_eq!(workshop.env.read("engine/api.sh"), "echo by its full path\n");
    assert_eq!(workshop.env.read("tests/plan.md"), "# Plan\n\nCall 2.\n");
    // What it must not write was never written, and held against it.
    assert_eq!(workshop.env.read("keep.md"), "# Keep\n");
    assert!(workshop.feedback(QUALITY, 2)[0].contains("keep.md"), "{:?}", workshop.feedback(QUALITY, 2));
    assert!(workshop.env.stored_below("trees").is_empty());
    workshop.verify();
}

#[test]
fn roles_side_by_side_work_at_the_path_of_the_workspace() {
    each_works_at_the_path_of_the_workspace(true);
}

#[test]
fn roles_side_by_side_work_at_the_path_of_a_workspace_without_a_repository() {
    each_works_at_the_path_of_the_workspace(false);
}

/// The work of each failed call is there for the next one and for the person who is asked, and in the workspace when it
/// passes.
#[test]
fn oc_48_a_role_that_fails_beside_others_keeps_its_work_for_the_next_call_and_for_the_person() {
    let workshop = workshop(true);
    workshop.table(&[(QUALITY, 0, "printf '%s, ' $number >>tests/plan.md; exit 1")]);
    workshop.build(&[]).exits(3);
    assert_eq!(workshop.count(QUALITY), 3);
    let question = workshop.question();
    let place = question.details().lines().find_map(|line| line.strip_prefix("Its work so far lies in "));
    let place = place.unwrap_or_else(|| panic!("{}", question.details())).trim_end_matches('.').to_owned();
    assert_eq!(workshop.env.read(&format!("{place}/tests/plan.md")), "# Old\n1, 2, 3, ");
    assert_eq!(workshop.env.read("tests/plan.md"), "# Old\n");
    workshop.env.file(&format!("{place}/tests/plan.md"), "# Old\n1, 2, 3, by hand\n");
    workshop.resume(&[("Failure", "fix", "")]).exits(0);
    assert_eq!(workshop.env.read("tests/plan.md"), "# Old\n1, 2, 3, by hand\n");
    assert_eq!(workshop.count(QUALITY), 3);
    workshop.verify();
}

/// K-47: what was begun is not thrown away with the copy.
#[test]
fn k_47_what_a_role_in_a_world_left_unfinished_beside_others_is_kept() {
    let workshop = workshop(true);
    workshop.table(&[(QUALITY, 0, "put tests/plan.md 'half a plan'; failed permanent 'no more'")]);
    workshop.build(&[("Failure", "cancel", ""), ("^Cancel", "keep", "")]).exits(1).says("cancelled");
    let kept = workshop.env.files_below(".artifacts-failed");
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), "half a plan");
    assert_eq!(workshop.env.read("tests/plan.md"), "# Old\n");
}
