//! People, other runs and crashes beside an agent in a world: nothing of anybody is lost, and nothing is half merged.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::chown;
use std::path::Path;
use std::path::PathBuf;

use crate::action_support::Workshop;
use crate::process::Fifo;
use crate::process::Running;
use crate::support::Env;
use crate::support::Output;
use crate::world_support::OTHER;
use crate::world_support::User;
use crate::world_support::agent;
use crate::world_support::listing;
use crate::world_support::living_with;
use crate::world_support::mounts_with;
use crate::world_support::settle;
use crate::world_support::shared;
use crate::world_support::users;

const FINISH: &str = r#"
printf '{"status": "done", "summary": "done", "confidence": 100, "criteria": [%s]}' \
    '{"criterion": "It is done", "met": true, "confidence": 100, "reason": "seen"}' >"$SERIATIM_REPORT""#;
const RUN: [&str; 4] = ["run", "process", "instance.yaml", "--no-input"];
const LINES: &str = "one\ntwo\nthree\nfour\nfive\n";

/// A repository in which an agent works until it is told to end.
struct Desk {
    env: Env,
    began: Fifo,
    hold: Fifo,
}

impl Desk {
    /// The agent does what `script` says, says so, and waits.
    fn new(user: User, script: &str) -> Desk {
        let mut env = Env::new();
        env.bakery(&["Knead the dough"]);
        for name in ["list.txt", "mine.txt", "old.txt", "gone.txt"] {
            env.file(name, LINES);
        }
        let wait = r#"echo ready >"$share/began"; read word <"$share/hold""#;
        let config = agent(&env, &format!("set -e\n{script}\n{wait}\n{FINISH}"));
        env.file("seriatim.toml", config);
        env.git(&["init", "--quiet", "--initial-branch=main"]);
        env.git(&["config", "user.name", "Ada"]);
        env.git(&["config", "user.email", "ada@example.org"]);
        env.git(&["add", "--all"]);
        env.git(&["commit", "--quiet", "--message=Begin"]);
        let (began, hold) = (Fifo::new(&shared(&env).join("began")), Fifo::new(&shared(&env).join("hold")));
        settle(&mut env, user);
        Desk { env, began, hold }
    }

    /// Starts the run and returns when the agent has done its part.
    fn start(&mut self) -> Running {
        let engine = self.env.start(&RUN);
        self.began.line(&engine);
        engine
    }

    fn finish(&mut self, engine: Running) -> Output {
        self.hold.send("go");
        engine.output()
    }

    fn resume(&self) -> Output {
        self.env.run(&["resume", &self.env.newest(), "--no-input"])
    }

    #[track_caller]
    fn answer(&self, choice: &str) -> Output {
        let (shown, _) = self.env.json(&["show", &self.env.newest()]);
        let question = &shown["questions"][0];
        assert_eq!(question["header"], "Changed on both sides", "{shown:#}");
        self.env.run(&["answer", question["id"].as_str().unwrap(), choice]).exits(0);
        self.resume()
    }

    /// A file of the workspace, saved by the person who works there.
    fn save(&self, path: &str, text: &str) {
        self.env.file(path, text);
        // As the user, whoever runs the tests.
        if fs::metadata(&self.env.root).is_ok_and(|found| found.uid() == OTHER) {
            chown(self.env.path(path), Some(OTHER), Some(OTHER)).unwrap();
        }
    }
}

#[test]
fn what_a_person_does_beside_the_agent_stays_and_is_not_blamed_on_it() {
    for user in users() {
        let mut desk = Desk::new(user, "echo agent >>list.txt; echo agent >new.txt; rm gone.txt");
        let engine = desk.start();
        desk.save("mine.txt", "person\n");
        desk.save("added/by/person.txt", "person\n");
        fs::remove_file(desk.env.path("old.txt")).unwrap();
        desk.finish(engine).exits(0);
        assert_eq!(desk.env.read("list.txt"), format!("{LINES}agent\n"));
        assert_eq!(desk.env.read("new.txt"), "agent\n");
        assert_eq!(desk.env.read("mine.txt"), "person\n");
        assert_eq!(desk.env.read("added/by/person.txt"), "person\n");
        assert!(!desk.env.path("old.txt").exists() && !desk.env.path("gone.txt").exists());
        desk.env
            .run(&["log", &desk.env.newest()])
            .exits(0)
            .says("Merged 3 files")
            .says_nothing_of("mine.txt")
            .says_nothing_of("person.txt")
            .says_nothing_of("old.txt");
    }
}

/// Where the versions lie that gave way.
fn kept(desk: &Desk) -> PathBuf {
    let log = desk.env.run(&["log", &desk.env.newest()]).exits(0).stdout;
    let place = log.split("the versions of the workspace are kept in ").nth(1);
    let place = place.unwrap_or_else(|| panic!("{log}")).lines().next().unwrap();
    Path::new(place.trim().trim_end_matches('.')).join("displaced")
}

#[test]
fn a_file_that_both_changed_is_a_question_and_each_answer_is_carried_out() {
    for (user, choice) in
        users().into_iter().flat_map(|user| ["merge", "keep", "replace"].map(|choice| (user, choice)))
    {
        let mut desk = Desk::new(user, "echo agent >>list.txt; echo agent >new.txt");
        let engine = desk.start();
        let theirs = LINES.replace("one", "person");
        desk.save("list.txt", &theirs);
        desk.finish(engine).exits(3).says("Changed on both sides").says("list.txt");
        // Nothing is merged before somebody says so.
        assert_eq!(desk.env.read("list.txt"), theirs);
        assert!(!desk.env.path("new.txt").exists());
        desk.answer(choice).exits(0);
        let expected = match choice {
            "merge" => format!("{theirs}agent\n"),
            "keep" => theirs.clone(),
            _ => format!("{LINES}agent\n"),
        };
        assert_eq!(desk.env.read("list.txt"), expected, "{choice}");
        assert_eq!(desk.env.read("new.txt"), "agent\n");
        if choice == "replace" {
            assert_eq!(fs::read_to_string(kept(&desk).join("list.txt")).unwrap(), theirs);
        }
        desk.env.run(&["verify"]).exits(0);
    }
}

#[test]
fn the_same_lines_cannot_be_combined_and_are_asked_again() {
    let mut desk = Desk::new(User::Current, "sed -i s/one/agent/ list.txt");
    let engine = desk.start();
    desk.save("list.txt", &LINES.replace("one", "person"));
    desk.finish(engine).exits(3).says("Changed on both sides");
    desk.answer("merge").exits(3).says("Both versions change the same lines");
    assert_eq!(desk.env.read("list.txt"), LINES.replace("one", "person"));
    desk.answer("keep").exits(0);
    assert_eq!(desk.env.read("list.txt"), LINES.replace("one", "person"));
}

/// Added on both sides, and removed by the person while the agent edited it, in place or by a new file of that name.
#[test]
fn a_removal_and_an_addition_of_a_person_are_not_undone() {
    for user in users() {
        for edit in [
            "echo agent >>old.txt",
            "sed -i s/one/agent/ old.txt",
            "mv old.txt x; cp x old.txt; rm x; echo agent >>old.txt",
        ] {
            let mut desk = Desk::new(user, edit);
            let engine = desk.start();
            fs::remove_file(desk.env.path("old.txt")).unwrap();
            desk.finish(engine).exits(3).says("Changed on both sides").says("old.txt");
            assert!(!desk.env.path("old.txt").exists(), "{edit}");
            desk.answer("keep").exits(0);
            assert!(!desk.env.path("old.txt").exists(), "{edit}");
        }
        let mut desk = Desk::new(user, "echo agent >new.txt");
        let engine = desk.start();
        desk.save("new.txt", "person\n");
        desk.finish(engine).exits(3).says("Changed on both sides").says("new.txt");
        desk.answer("replace").exits(0);
        assert_eq!(desk.env.read("new.txt"), "agent\n");
        assert_eq!(fs::read_to_string(kept(&desk).join("new.txt")).unwrap(), "person\n");
        // The agent removes what the person edits.
        let mut desk = Desk::new(user, "rm old.txt");
        let engine = desk.start();
        desk.save("old.txt", "person\n");
        desk.finish(engine).exits(3).says("Changed on both sides").says("old.txt");
        desk.answer("keep").exits(0);
        assert_eq!(desk.env.read("old.txt"), "person\n");
    }
}

#[test]
fn two_dialects_at_work_in_one_workspace_do_not_undo_each_other() {
    let workshop = Workshop::of("- backend-developer\n");
    let env = &workshop.env;
    env.bakery(&["Knead the dough"]);
    let script = r#"if [ "$SERIATIM_STEP" = backend-developer ]; then mkdir -p engine; echo action >engine/api.sh
        printf '{"status": "done", "summary": "done", "outputs": {"findings": []}}' >"$SERIATIM_REPORT"; exit; fi
        echo process >bread.txt; echo ready >"$share/began"; read word <"$share/hold""#;
    let config = agent(env, &format!("set -e\n{script}\n{FINISH}"));
    env.file("seriatim.toml", config);
    env.git(&["init", "--quiet", "--initial-branch=main"]);
    let (mut began, mut hold) = (Fifo::new(&shared(env).join("began")), Fifo::new(&shared(env).join("hold")));
    let process = env.start(&RUN);
    began.line(&process);
    workshop.build(&[]).exits(0);
    assert_eq!(env.read("engine/api.sh"), "action\n");
    assert!(!env.path("bread.txt").exists());
    hold.send("go");
    process.output().exits(0);
    assert_eq!(env.read("engine/api.sh"), "action\n");
    assert_eq!(env.read("bread.txt"), "process\n");
    env.run(&["verify"]).exits(0);
    assert_eq!(crate::support::files_below(&env.scratch()), Vec::<PathBuf>::new(), "layers");
}

/// Processes that begin in a store without layers agree on one folder for them, and merge one after the other.
#[test]
fn runs_that_begin_and_end_at_once_lose_nothing() {
    for user in users() {
        let mut env = Env::new();
        env.bakery(&["Knead the dough"]);
        let script = format!("name=$(mktemp -u XXXXXXXXXX); echo bread >\"bread-$name\"\n{FINISH}");
        let config = agent(&env, &script);
        env.file("seriatim.toml", config);
        env.git(&["init", "--quiet", "--initial-branch=main"]);
        let names: Vec<String> = (1..=4).map(|number| format!("instance-{number}.yaml")).collect();
        for (number, name) in names.iter().enumerate() {
            let id = format!("PINST-20260101-00000{number}");
            env.file(name, env.read("instance.yaml").replace("PINST-20260101-000000", &id));
        }
        settle(&mut env, user);
        let running: Vec<Running> =
            names.iter().map(|name| env.start(&["run", "process", name, "--no-input"])).collect();
        for engine in running {
            engine.output().exits(0);
        }
        let breads = listing(&env.root, &[".git"]).into_keys();
        assert_eq!(breads.filter(|path| path.display().to_string().starts_with("bread-")).count(), 4);
        assert_eq!(crate::support::files_below(&env.scratch()), Vec::<PathBuf>::new(), "layers");
    }
}

/// How many files the agent of the crashes makes.
const FILES: usize = 120;

/// Kills the engine as soon as `is_there`, whatever it does at that moment, and goes on with the run.
#[track_caller]
fn crash(user: User, is_there: impl Fn(&Desk) -> bool) {
    let mark = format!("seriatim-crash-{user:?}-{}", std::process::id());
    let script = format!(
        "mkdir -p out; for n in $(seq {FILES}); do echo $n >out/$n; done; echo agent >list.txt; rm -f old.txt\n\
         setsid sh -c 'sleep 1000' {mark} &\n\
         [ ! -e \"$share/waited\" ] || {{ {FINISH}\nexit 0; }}; : >\"$share/waited\""
    );
    let mut desk = Desk::new(user, &script);
    let engine = desk.start();
    desk.hold.send("go");
    while !is_there(&desk) {
        std::hint::spin_loop();
    }
    engine.kill();
    let resumed = desk.resume();
    // An attempt that was cut off may have to be told to begin again.
    if resumed.exit == Some(3) {
        desk.env.run(&["answer", "q1", "retry"]).exits(0);
        desk.resume().exits(0);
    } else {
        resumed.exits(0);
    }
    for number in 1..=FILES {
        assert_eq!(desk.env.read(&format!("out/{number}")), format!("{number}\n"));
    }
    assert_eq!(listing(&desk.env.path("out"), &[]).len(), FILES);
    assert_eq!(desk.env.read("list.txt"), "agent\n");
    assert!(!desk.env.path("old.txt").exists());
    assert_eq!(living_with(&mark), Vec::<String>::new());
    assert_eq!(mounts_with(&desk.env.root), Vec::<String>::new());
    assert_eq!(desk.env.living(), Vec::<String>::new());
    desk.env.assert_tidy();
    desk.env.run(&["verify"]).exits(0);
}

/// How many new contents wait beside their places, the folder of which is made later.
fn staged(desk: &Desk) -> usize {
    let names = fs::read_dir(&desk.env.root).unwrap().flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().starts_with(".seriatim-")).count()
}

#[test]
fn kill_9_in_the_middle_of_an_attempt_and_of_merging_leaves_nothing_half_done() {
    let below = |desk: &Desk| fs::read_dir(desk.env.path("out")).map_or(0, Iterator::count);
    for user in users() {
        crash(user, |_| true);
        // New contents are staged beside their places before the first place changes; a busy machine may miss that.
        for count in [1, FILES / 2] {
            crash(user, |desk| staged(desk) >= count || desk.env.path("out").exists());
        }
        for count in [0, 1, FILES / 3, FILES - 1, FILES] {
            crash(user, |desk| desk.env.path("out").exists() && below(desk) >= count);
        }
        for name in ["1", "60", "99"] {
            crash(user, |desk| desk.env.path("out").join(name).exists());
        }
        crash(user, |desk| !desk.env.path("old.txt").exists());
        crash(user, |desk| desk.env.read("list.txt") == "agent\n");
    }
}
