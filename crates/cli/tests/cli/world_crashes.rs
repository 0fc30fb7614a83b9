//! The engine dies by kill -9 in the middle of attempts, of checks and of merging, in every dialect, with agents and checks
//! in worlds: whoever resumes gets what an undisturbed run gives, and nothing is left that nobody names.

use std::collections::BTreeSet;
use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::action_support::Workshop;
use crate::cycle::GOAL;
use crate::cycle::Project as Cycle;
use crate::process::Fifo;
use crate::process::Handle;
use crate::process::Running;
use crate::roadmap_support::Project;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::Step;
use crate::roadmap_support::add;
use crate::roadmap_support::step;
use crate::support::Env;
use crate::support::Output;
use crate::world_support::User;
use crate::world_support::mounts_with;
use crate::world_support::settle;
use crate::world_support::shared;
use crate::world_support::users;

/// `pause NAME` waits there once, beside a process of its own that nobody but the world holds. `check_pause` does so at every
/// other call of a check, so that each check is cut off once and comes through once.
const PAUSE: &str = r#"share='SHARED'
pause() {
    mkdir "$share/at-$1" 2>/dev/null || return 0
    env -i setsid sh -c 'PATH=/usr/bin:/bin; sleep 1000; :' SHARED >/dev/null 2>&1 &
    echo "$1" >"$share/began"
    read word <"$share/hold"
}
check_pause() {
    echo >>"$share/checks"
    n=$(wc -l <"$share/checks")
    [ $((n % 2)) = 0 ] || [ "$n" -gt 9 ] || pause "check $n"
}
"#;

/// An engine that is killed wherever its agents and checks say where they are.
struct Stage {
    env: Env,
    began: Fifo,
    _hold: Fifo,
}

/// The script of [`PAUSE`] for a workspace.
fn pause(env: &Env) -> String {
    PAUSE.replace("SHARED", &shared(env).display().to_string())
}

/// Puts all agents and checks of a configuration into worlds that share some folders.
fn in_worlds(env: &Env, folders: &[PathBuf]) {
    let config = env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
    let folders: Vec<String> = folders.iter().map(|folder| format!("{folder:?}")).collect();
    // What was shared before is shared no more.
    let kept: Vec<&str> =
        config.lines().filter(|line| *line != "[worlds]" && !line.starts_with("share = ")).collect();
    let worlds = format!("\n[worlds]\nshare = [{}]\n", folders.join(", "));
    env.file("seriatim.toml", format!("{}\n{worlds}", kept.join("\n")));
}

impl Stage {
    fn new(mut env: Env, user: User) -> Stage {
        let place = shared(&env);
        let (began, hold) = (Fifo::new(&place.join("began")), Fifo::new(&place.join("hold")));
        settle(&mut env, user);
        Stage { env, began, _hold: hold }
    }

    /// Runs, and resumes after each death, until the engine ends by itself.
    #[track_caller]
    fn run(&mut self, args: &[&str]) -> Output {
        let mut engine = self.env.start(args);
        while self.began.line_unless_over(&engine).is_some() {
            self.kill(engine);
            engine = self.resume();
        }
        engine.output()
    }

    /// Where agents and checks were cut off. One of two side by side may die before it can say that it began, so what they
    /// left counts and not what they said.
    fn points(&self) -> BTreeSet<String> {
        let left = fs::read_dir(shared(&self.env)).unwrap().flatten();
        let names = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter_map(|name| name.strip_prefix("at-").map(str::to_owned)).collect()
    }

    fn resume(&self) -> Running {
        self.env.start(&["resume", &self.env.newest(), "--no-input", "-q"])
    }

    /// Kills the engine; all that worked for it ends by itself.
    #[track_caller]
    fn kill(&self, engine: Running) {
        engine.kill();
        // What was just being started counts, too.
        for _ in 0..2 {
            let number = |line: &String| line.split(':').next().and_then(|pid| pid.parse().ok());
            let others: Vec<Handle> =
                self.env.living().iter().filter_map(number).filter_map(Handle::numbered).collect();
            others.iter().for_each(Handle::ends);
        }
        assert_eq!(self.env.living(), Vec::<String>::new());
        assert_eq!(mounts_with(&self.env.root), Vec::<String>::new());
        self.layers_are_named();
    }

    /// Each folder among the layers belongs to the run, and `prune` names it and keeps it: its run goes on.
    #[track_caller]
    fn layers_are_named(&self) {
        let (pruned, _) = self.env.json(&["world", "prune"]);
        let kept = pruned["kept"].as_array().unwrap().iter();
        let mut named: Vec<String> = kept.map(|at| at["run"].as_str().unwrap().to_owned()).collect();
        named.sort();
        let mut found = vec![];
        for layers in fs::read_dir(self.env.scratch()).unwrap().flatten() {
            for entry in fs::read_dir(layers.path()).unwrap().flatten() {
                found.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        found.sort();
        assert_eq!(found, named, "{pruned:#}");
    }

    /// Nothing is left of the run but its result and its record.
    #[track_caller]
    fn is_tidy(&self) {
        assert_eq!(self.env.living(), Vec::<String>::new());
        assert_eq!(mounts_with(&self.env.root), Vec::<String>::new());
        self.env.assert_tidy();
        self.env.run(&["verify"]).exits(0);
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        let mut command = self.env.as_user("git");
        command.args(args);
        self.env.furnish(&mut command);
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn home(env: &Env, name: &str) -> PathBuf {
    env.root.with_file_name("home").join(name)
}

/// A roadmap whose agents and checks wait at their first calls, after their work.
fn roadmap(user: User, steps: &[Step], script: &str) -> Stage {
    let project = Project::of(SHORT, steps);
    let env = &project.env;
    in_worlds(env, &[shared(env), project.stage(""), home(env, "briefs")]);
    env.file("check.sh", format!("{}check_pause\n{}", pause(env), env.read("check.sh")));
    project.agent(&format!("{}usual\n{script}\nfinish", pause(env)));
    project.commit("Worlds");
    Stage::new(project.env, user)
}

#[test]
fn kill_9_in_every_attempt_and_check_of_a_roadmap_and_each_step_is_done_once() {
    for user in users() {
        let steps = [add(), step("01-02", "sub", &["01-01"])];
        let mut stage = roadmap(user, &steps, r#"pause "$SERIATIM_STEP $SERIATIM_PHASE""#);
        stage.run(&["run", "roadmap", "calc", "--no-input", "-q"]).exits(0);
        let attempts = ["01-01 RED", "01-01 GREEN", "01-02 RED", "01-02 GREEN"];
        let checks = ["check 1", "check 3", "check 5", "check 7", "check 9"];
        let all = attempts.iter().chain(&checks).chain(&["finalize REFACTOR_ARCHITECTURE"]);
        assert_eq!(stage.points(), all.map(|point| (*point).to_owned()).collect());
        assert_delivered(&stage, &["add", "sub"]);
        // Each attempt was cut off once and done once; a check that is cut off calls for no other attempt.
        let calls = fs::read_to_string(home(&stage.env, "stage/calls")).unwrap();
        for attempt in attempts {
            assert_eq!(calls.lines().filter(|call| *call == attempt).count(), 2, "{calls}");
        }
    }
}

#[test]
fn kill_9_in_every_attempt_and_check_of_steps_side_by_side() {
    for user in users() {
        let steps = [add(), step("01-02", "sub", &[])];
        let mut stage = roadmap(user, &steps, r#"pause "$SERIATIM_STEP $SERIATIM_PHASE""#);
        stage.run(&["run", "roadmap", "calc", "--no-input", "-q", "--parallel", "2"]).exits(0);
        assert!(stage.points().len() >= 8, "{:?}", stage.points());
        assert_delivered(&stage, &["add", "sub"]);
        assert_eq!(stage.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    }
}

/// HEAD is what an undisturbed run gives, and the tree is clean.
#[track_caller]
fn assert_delivered(stage: &Stage, words: &[&str]) {
    for word in words {
        assert_eq!(stage.git(&["show", &format!("HEAD:src/{word}.py")]), "RESULT = 5\n");
        assert!(stage.git(&["show", &format!("HEAD:tests/test_{word}.py")]).contains("RESULT, 5"));
    }
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    let listed = stage.git(&["ls-tree", "-r", "--name-only", "HEAD", "src"]);
    assert_eq!(listed.lines().count(), words.len() + 1, "{listed}");
    let subjects = stage.git(&["log", "--format=%s"]);
    for step in ["01-01", "01-02"].iter().take(words.len()) {
        assert_eq!(subjects.matches(&format!("feat({step}): DONE")).count(), 1, "{subjects}");
    }
    stage.is_tidy();
}

/// An action whose roles and script gate wait at their first calls, after their work.
fn action(user: User, steps: &str, script: &str) -> Stage {
    let workshop =
        Workshop::of(&format!("{steps}- {{gate: script, name: smoke, command: [sh, smoke.sh]}}\n"));
    let env = &workshop.env;
    let folders = ["stage", "briefs", "acts"].map(|name| home(env, name));
    in_worlds(env, &[&[shared(env)], &folders[..]].concat());
    env.file("smoke.sh", format!("{}check_pause\necho smoke\n", pause(env)));
    let act = format!("{}usual\n{script}\nfinish", pause(env));
    workshop.table(&[("backend-developer", 0, act.as_str()), ("quality-engineer", 0, act.as_str())]);
    env.git(&["init", "--quiet", "--initial-branch=main"]);
    Stage::new(workshop.env, user)
}

#[test]
fn kill_9_in_every_attempt_and_check_of_an_action_alone_and_side_by_side() {
    let both = "- parallel: [backend-developer, quality-engineer]\n";
    for (user, steps) in users()
        .into_iter()
        .flat_map(|user| [(user, "- backend-developer\n- quality-engineer\n"), (user, both)])
    {
        let mut stage = action(user, steps, "pause \"$role\"");
        stage.run(&["run", "action", "build", "--no-input", "-q"]).exits(0);
        assert_eq!(
            stage.points(),
            ["backend-developer", "quality-engineer", "check 1"].map(str::to_owned).into()
        );
        assert!(stage.env.read("engine/api.sh").starts_with("echo call"));
        assert!(stage.env.read("tests/plan.md").starts_with("# Plan"));
        stage.is_tidy();
    }
}

/// A cycle whose roles and check wait at their first calls, after their work.
fn cycle(user: User) -> Stage {
    let project = Cycle::new();
    let script = |work: &str| format!("{}{work}; pause $SERIATIM_STEP", pause(&project.env));
    let (planner, actor, judge) = (
        script("step"),
        script("echo 'echo good morning' >greet.sh; done_well"),
        script("say '{\"result\": \"PASS\"}'"),
    );
    let project = project.planner(&planner).actor(&actor).judge(&judge);
    in_worlds(&project.env, &[shared(&project.env)]);
    project
        .env
        .file("check.sh", format!("{}check_pause\n{}", pause(&project.env), project.env.read("check.sh")));
    project.env.git(&["commit", "--quiet", "--all", "--message=Worlds"]);
    Stage::new(project.env, user)
}

#[test]
fn kill_9_in_every_role_and_check_of_a_cycle_and_the_approved_change_is_committed_once() {
    for user in users() {
        let mut stage = cycle(user);
        stage.run(&["run", "cycle", "--goal", GOAL, "--no-input", "-q"]).exits(3);
        let points = stage.points();
        for point in ["planner", "actor", "judge", "check 1"] {
            assert!(points.contains(point), "{points:?}");
        }
        assert_eq!(stage.env.read("greet.sh"), "echo hello\n");
        let (shown, _) = stage.env.json(&["show", &stage.env.newest()]);
        let question = &shown["questions"][0];
        stage.env.run(&["answer", question["id"].as_str().unwrap(), "commit"]).exits(0);
        let run = stage.env.newest();
        stage.run(&["resume", &run, "--no-input", "-q"]).exits(0);
        assert_cycle_committed(&stage);
    }
}

#[track_caller]
fn assert_cycle_committed(stage: &Stage) {
    assert_eq!(stage.env.read("greet.sh"), "echo good morning\n");
    assert_eq!(stage.git(&["show", "HEAD:greet.sh"]), "echo good morning\n");
    assert_eq!(stage.git(&["log", "--format=%s"]).lines().count(), 3);
    assert_eq!(stage.git(&["diff", "--name-only", "HEAD~1", "HEAD"]), "greet.sh\n");
    assert_eq!(stage.git(&["diff", "--name-only", "HEAD"]), "");
    stage.is_tidy();
}

/// How many files are merged at once where the engine dies meanwhile.
const FILES: usize = 60;

impl Stage {
    /// Runs, kills the engine at a moment that comes while its work is merged or committed, and resumes.
    #[track_caller]
    fn run_until(&mut self, args: &[&str], is_there: &dyn Fn(&Env) -> bool) -> Output {
        // No check waits for anybody from now on.
        let checks = shared(&self.env).join("checks");
        fs::write(&checks, "\n".repeat(10)).unwrap();
        fs::set_permissions(&checks, Permissions::from_mode(0o666)).unwrap();
        let engine = self.env.start(args);
        while !is_there(&self.env) {
            std::hint::spin_loop();
        }
        self.kill(engine);
        self.resume().output()
    }
}

/// A moment that is known by what lies in the workspace.
type Moment = Box<dyn Fn(&Env) -> bool>;

/// Moments of a merge of [`FILES`] files into a folder: the first content beside its place, and places that changed.
fn moments(folder: &'static str) -> Vec<Moment> {
    let count = move |env: &Env| fs::read_dir(env.path(folder)).map_or(0, Iterator::count);
    let is_staged = |env: &Env| {
        let names = fs::read_dir(&env.root).unwrap().flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| name.to_string_lossy().starts_with(".seriatim-"))
    };
    let mut moments: Vec<Moment> = vec![Box::new(move |env| is_staged(env) || count(env) > 0)];
    for least in [1, FILES / 2, FILES] {
        moments.push(Box::new(move |env| count(env) >= least));
    }
    moments
}

/// Writes that many files.
const MANY: &str = "mkdir -p FOLDER; for n in $(seq COUNT); do echo $n >FOLDER/$n; done";

fn many(folder: &str) -> String {
    MANY.replace("FOLDER", folder).replace("COUNT", &FILES.to_string())
}

#[track_caller]
fn assert_many(stage: &Stage, folder: &str) {
    for number in 1..=FILES {
        assert_eq!(stage.env.read(&format!("{folder}/{number}")), format!("{number}\n"));
    }
    assert_eq!(stage.env.files_below(folder).len(), FILES);
}

#[test]
fn kill_9_while_the_work_of_a_roadmap_is_merged_and_committed() {
    for user in users() {
        let more: Box<dyn Fn(&Env) -> bool> = Box::new(|env| is_committed(env, 2));
        for is_there in moments("src/many").into_iter().chain([more]) {
            let one = add().with("allowed_file_patterns", "[\"src/many/**\"]");
            let mut stage =
                roadmap(user, &[one], &format!("[ $SERIATIM_PHASE = RED ] || {{ {}; }}", many("src/many")));
            stage.run_until(&["run", "roadmap", "calc", "--no-input", "-q"], &is_there).exits(0);
            assert_many(&stage, "src/many");
            assert_eq!(stage.git(&["ls-tree", "--name-only", "HEAD", "src/many/"]).lines().count(), FILES);
            assert_eq!(stage.git(&["status", "--porcelain"]), "");
            assert_eq!(stage.git(&["log", "--format=%s"]).matches("feat(01-01): DONE").count(), 1);
            stage.is_tidy();
        }
    }
}

/// Whether the branch moved so often.
fn is_committed(env: &Env, times: usize) -> bool {
    fs::read_to_string(env.path(".git/logs/HEAD")).is_ok_and(|log| log.lines().count() > times)
}

#[test]
fn kill_9_while_the_work_of_roles_is_merged() {
    let both = "- parallel: [backend-developer, quality-engineer]\n";
    for (user, steps) in users().into_iter().flat_map(|user| [(user, "- backend-developer\n"), (user, both)])
    {
        for is_there in moments("engine/many") {
            let script = format!("[ $role = quality-engineer ] || {{ {}; }}", many("engine/many"));
            let mut stage = action(user, steps, &script);
            let map = stage.env.read("agents/agent-map.yaml").replace("engine/api.sh", "engine/");
            stage.env.file("agents/agent-map.yaml", map);
            stage.run_until(&["run", "action", "build", "--no-input", "-q"], &is_there).exits(0);
            assert_many(&stage, "engine/many");
            stage.is_tidy();
        }
    }
}

#[test]
fn kill_9_while_an_approved_cycle_is_merged_and_committed() {
    let is_merged = |env: &Env| env.read("greet.sh") == "echo good morning\n";
    let moments: [&dyn Fn(&Env) -> bool; 3] =
        [&|env| env.path(".git/index.lock").exists() || is_merged(env), &is_merged, &|env| {
            is_committed(env, 2)
        }];
    for (user, is_there) in users().into_iter().flat_map(|user| moments.map(|moment| (user, moment))) {
        let mut stage = cycle(user);
        stage.run(&["run", "cycle", "--goal", GOAL, "--no-input", "-q"]).exits(3);
        stage.env.run(&["answer", "q1", "commit"]).exits(0);
        let run = stage.env.newest();
        stage.run_until(&["resume", &run, "--no-input", "-q"], is_there).exits(0);
        assert_cycle_committed(&stage);
    }
}
