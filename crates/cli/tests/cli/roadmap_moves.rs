//! Files that a step moves, removes or puts back in a later phase: the last commit is what the last gates saw.

use crate::roadmap_support::Project;
use crate::roadmap_support::add;

/// An honest agent: a helper is created in GREEN and moved in REFACTOR, a mistake of GREEN is taken back in REVIEW, and a
/// file of the user is removed in REFACTOR.
const AGENT: &str = r#"usual
case $SERIATIM_PHASE in
GREEN) echo 'A = 1' >src/helper.py; echo 'B = 2' >src/mistake.py; echo 'C = 4' >src/kept.py ;;
REVIEW) rm src/mistake.py; echo 'C = 3' >src/kept.py ;;
REFACTOR_CONTINUOUS) mv src/helper.py src/helpers.py; rm src/gone.py ;;
esac
finish"#;

fn project(isolation: &str) -> Project {
    let step = add()
        .with(
            "files_to_create",
            "[\"src/add.py\", \"src/helper.py\", \"src/helpers.py\", \"src/mistake.py\"]",
        )
        .with("files_to_modify", "[\"src/kept.py\", \"src/gone.py\"]");
    let project = Project::of("", &[step]);
    let config = project.env.read("seriatim.toml").replace("isolation = \"none\"", isolation);
    project.env.file("seriatim.toml", config);
    project.with("src/kept.py", "C = 3\n").with("src/gone.py", "D = 4\n");
    project.agent(AGENT);
    project
}

fn holds_what_the_gates_saw(project: &Project) {
    project.step("01-01").exits(0);
    project.assert_done(&["01-01"]);
    let listed = project.git(&["ls-tree", "-r", "--name-only", "HEAD", "src"]);
    assert_eq!(listed, "src/__init__.py\nsrc/add.py\nsrc/helpers.py\nsrc/kept.py\n");
    assert_eq!(project.git(&["show", "HEAD:src/kept.py"]), "C = 3\n");
}

#[test]
fn a_file_that_is_moved_removed_or_put_back_in_a_later_phase_is_so_in_the_last_commit() {
    holds_what_the_gates_saw(&project("isolation = \"none\""));
}

#[test]
fn the_same_holds_for_an_agent_in_a_world() {
    let share = "isolation = \"world\"";
    let project = project(share);
    let home = project.env.root.with_file_name("home");
    project.configure(&format!("\n[worlds]\nshare = [{:?}]\n", home.display().to_string()));
    holds_what_the_gates_saw(&project);
}
