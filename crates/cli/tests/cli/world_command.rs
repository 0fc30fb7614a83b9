//! `world`: the views of a run, what they change, a command in one of them, and removing them.

use std::fs;
use std::path::PathBuf;

use crate::support::Env;
use crate::support::files_below;

/// An agent that changes a file of each kind and then fails, so that its view keeps all of it.
const AGENT: &str = r#"
echo "made of flour" >loaf.txt
printf 'x\0y' >crumbs.dat
chmod 755 oven.txt
ln -s loaf.txt crust
rm old.txt
sed -i 's/two/TWO/' lines.txt
mkdir -p target && echo cache >target/a.o
printf 'exit 0\n' >.git/hooks/pre-commit
git config user.name evil
exit 3
"#;

/// A repository in which a run waits whose only view holds work.
fn waiting(isolation: &str) -> (Env, String) {
    let env = Env::new();
    let table = "[agents.default]\nkind = \"command\"\n";
    let rest = "argv = [\"sh\", \"agent.sh\"]\nenv = [\"PATH\"]\n";
    env.file("seriatim.toml", format!("{table}isolation = \"{isolation}\"\n{rest}"));
    env.file("agent.sh", AGENT).bakery(&["Bake"]);
    env.file("oven.txt", "hot\n").file("old.txt", "old\n").file("lines.txt", "one\ntwo\nthree\n");
    env.file(".gitignore", "target/\n");
    env.git(&["init", "-q"]);
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "base"]);
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    (env, run)
}

/// The folder of all layers, which lies in the folder for temporary files.
fn layers(env: &Env) -> Vec<PathBuf> {
    let entries = fs::read_dir(env.scratch()).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_dir()).collect()
}

#[test]
fn the_views_of_a_run_are_listed_with_what_they_change_and_what_never_leaves_them() {
    let (env, run) = waiting("world");
    let listed = env.run(&["world", &run]).exits(0).snapshot();
    // Of the layers the size of their own record is a part.
    let listed = regex::Regex::new(r"\d+ bytes").unwrap().replace(&listed, "SIZE").into_owned();
    insta::assert_snapshot!(listed, @r"
    --- stdout
    5.1.1  12 files in its layers, SIZE
      changes 6 files: 3 added, 1 modified, 1 deleted, 1 with another mode
      added     crumbs.dat
      added     crust -> loaf.txt
      modified  lines.txt
      added     loaf.txt
      deleted   old.txt
      mode      oven.txt
      1 file that git ignores; never merged
      stays in the view: changed hooks of the repository: pre-commit
      stays in the view: changed the configuration of the repository
    Show the changes with:  seriatim world RUN --diff
    --- exit 0
    ");
    let (document, _) = env.json(&["world", &run[..12]]);
    let view = &document["views"][0];
    assert_eq!((&view["view"], &view["isolation"]), (&"5.1.1".into(), &"world".into()));
    assert_eq!(view["ignored"], 1);
    assert_eq!(view["changes"].as_array().unwrap().len(), 6, "{document}");
    assert_eq!(view["effects"][0]["words"], "changed hooks of the repository: pre-commit");
    assert!(view["size_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{document}");
    let (all, _) = env.json(&["world"]);
    assert_eq!(
        (&all["runs"][0]["run"], &all["runs"][0]["status"]),
        (&run.as_str().into(), &"waiting".into())
    );
    assert!(!env.path("loaf.txt").exists() && !env.path(".git/hooks/pre-commit").exists());
}

#[test]
fn the_difference_shows_text_by_lines_and_the_rest_by_name() {
    let (env, run) = waiting("world");
    // No attribute hides a change.
    env.file(".gitattributes", "* -diff binary\n");
    insta::assert_snapshot!(env.run(&["world", &run, "--diff"]).exits(0).snapshot(), @r"
    --- stdout
    view 5.1.1
    binary (new, 3 bytes): crumbs.dat
    link: crust -> loaf.txt
    --- a/lines.txt
    +++ b/lines.txt
    @@ -1,3 +1,3 @@
     one
    -two
    +TWO
     three
    --- /dev/null
    +++ b/loaf.txt
    @@ -0,0 +1 @@
    +made of flour
    removed: old.txt
    mode 644 -> 755: oven.txt
    --- exit 0
    ");
    let (document, _) = env.json(&["world", &run, "--diff", "5.1"]);
    let shapes: Vec<&str> = document["views"][0]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["shape"].as_str().unwrap())
        .collect();
    assert_eq!(shapes, ["binary", "link", "text", "text", "removed", "mode"]);
    assert_eq!(document["more_lines"], 0);
}

#[test]
fn a_long_difference_says_how_much_more_there_is() {
    let (env, run) = waiting("world");
    let make = "seq 5000 >long.txt; printf '%9000s' x >wide.txt";
    env.run(&["world", &run, "--shell", "5.1.1", "--", "sh", "-c", make]).exits(0);
    env.run(&["world", &run, "--diff"]).exits(0).says("more lines in 4 files; --verbose shows all of them");
    let (document, _) = env.json(&["world", &run, "--diff"]);
    assert!(document["more_lines"].as_u64().is_some_and(|more| more > 3000), "{}", document["more_lines"]);
    let whole = env.run(&["world", &run, "--diff", "--verbose"]).exits(0);
    whole.says("+5000\n").says("more characters").says_nothing_of("--verbose shows all of them");
}

#[test]
fn a_command_in_a_view_sees_and_changes_the_view_alone() {
    let (env, run) = waiting("world");
    let script = "cat loaf.txt; git config user.name; echo mine >mine.txt; exit 4";
    let output = env.run(&["world", &run, "--shell", "5.1.1", "--", "sh", "-c", script]).exits(1);
    assert_eq!(output.stdout, "made of flour\nevil\n");
    output.says("The command ended with exit code 4.");
    assert!(!env.path("mine.txt").exists());
    env.run(&["world", &run]).exits(0).says("added     mine.txt");
    let output = env.run(&["--json", "world", &run, "--shell", "5.1.1", "--", "echo", "talk"]).exits(0);
    assert_eq!((&output.document()["exit"], output.stderr.as_str()), (&0.into(), "talk\n"));
    env.run(&["world", &run, "--shell", "5.1.1"]).exits(2).says("a shell needs a terminal");
    assert_eq!(env.living(), Vec::<String>::new());
}

#[test]
fn runs_and_views_that_are_not_there_are_named() {
    let (env, run) = waiting("world");
    env.run(&["world", "20000101"]).exits(2).says("`seriatim status` lists the runs of this workspace");
    env.run(&["world", &run, "--diff", "5.1.9"]).exits(2).says("did you mean `5.1.1`?");
    env.run(&["world", &run, "--shell", "baker", "--", "ls"]).exits(2).says("its views are: 5.1.1");
    env.run(&["world", "--diff"]).exits(2);
    env.run(&["world", &run, "--diff", "--shell", "5.1.1"]).exits(2);
    let empty = Env::new();
    empty.run(&["world"]).exits(2).says("nothing has run in this workspace yet");
    empty.run(&["world", "prune"]).exits(0).says("There are no layers to remove.");
}

#[test]
fn layers_of_an_unfinished_run_are_removed_by_force_alone() {
    let (env, run) = waiting("world");
    env.run(&["world", "prune", &run]).exits(1).says("is not over and needs its layers");
    let (document, _) = env.json(&["world", "prune"]);
    assert_eq!(document["removed"].as_array().map(Vec::len), Some(0));
    assert_eq!(document["kept"][0]["why"], "its run is not over (waiting)");
    assert_eq!(layers(&env).len(), 1);
    env.run(&["world", "prune", &run, "--force"])
        .exits(0)
        .says("(its run is not over)")
        .says("are free again.");
    assert!(layers(&env).is_empty());
    env.run(&["world", &run]).exits(0).says("has no layers");
}

#[test]
fn layers_of_ended_runs_and_of_no_run_are_removed_by_name() {
    let (env, run) = waiting("world");
    env.run(&["cancel", &run]);
    let stray = layers(&env)[0].join("20000101-000000-gone");
    fs::create_dir(&stray).unwrap();
    fs::write(stray.join("file"), "left").unwrap();
    let output = env.run(&["world", "prune"]).exits(0);
    output.says("(it belongs to no run)").says("(its run has ended)");
    assert!(files_below(&env.scratch()).is_empty(), "{:?}", files_below(&env.scratch()));
    env.run(&["world"]).exits(0).says("No run has layers here.");
}

#[test]
fn work_without_a_view_is_told_in_log_show_and_questions() {
    let (env, run) = waiting("none");
    let words = "Isolation: The agent of Bake worked in the workspace itself, without isolation.";
    for args in [vec!["inbox"], vec!["status", &run], vec!["show", &run]] {
        let output = env.run(&args);
        assert!(output.stdout.contains(words), "{}", output.stdout);
    }
    let shown = env.run(&["show", &run]).stdout;
    assert!(shown.contains("Isolation\n  Weaker than a world: The agent of Bake worked"), "{shown}");
    let log = env.run(&["log", &run]).stdout;
    assert!(log.contains("Bake started. in the workspace itself, without isolation"), "{log}");
    let (document, _) = env.json(&["inbox"]);
    assert_eq!(document["questions"][0]["isolation"], words.trim_start_matches("Isolation: "));
    let (document, _) = env.json(&["show", &run]);
    assert_eq!(document["weaker_isolation"][0]["isolation"], "none");
    env.run(&["world", &run]).exits(0).says("has no layers");
}

#[test]
fn work_in_a_world_is_told_with_each_effect_on_a_line_of_its_own() {
    let (env, run) = waiting("world");
    env.run(&["inbox"]).exits(0).says_nothing_of("Isolation:");
    let honest = "finish() { printf '{\"status\": \"done\", \"summary\": \"baked\", \"confidence\": 100, \"criteria\": \
                  [{\"criterion\": \"It is done\", \"met\": true, \"confidence\": 100, \"reason\": \"seen\"}]}' \
                  >\"$SERIATIM_REPORT\"; }\n";
    env.file(
        "agent.sh",
        format!(
            "{honest}{}",
            AGENT
                .replace("rm old.txt", "rm -f old.txt")
                .replace("ln -s", "ln -sf")
                .replace("exit 3", "finish")
        ),
    );
    env.run(&["answer", "q1", "retry"]);
    env.run(&["resume", &run, "--no-input"]).exits(0);
    let log = env.run(&["log", &run]).stdout;
    assert!(log.contains("\n    only in its view: changed hooks of the repository: pre-commit\n"), "{log}");
    assert!(log.contains("\n    only in its view: changed the configuration of the repository\n"), "{log}");
    let shown = env.run(&["show", &run]).stdout;
    assert!(
        shown.contains("5.1.1: only in its view: changed hooks of the repository: pre-commit"),
        "{shown}"
    );
    assert!(shown.contains("5.1.1: Merged 6 files of 5.1.1 into the workspace."), "{shown}");
    let (document, _) = env.json(&["show", &run]);
    assert_eq!(document["views"][0]["isolation"], "world");
    assert_eq!(document["weaker_isolation"].as_array().map(Vec::len), Some(0));
}
