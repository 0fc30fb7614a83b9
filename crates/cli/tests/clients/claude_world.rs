//! Claude Code as the worker of a step: it works in a world, and what it does beside its work stays there.

use std::fs;
use std::fs::File;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

use serde_json::json;

use crate::model::Model;
use crate::model::script::Line;
use crate::model::script::Script;
use crate::model::script::call;
use crate::model::script::say;
use crate::project::background;
use crate::project::foreground;
use crate::stage::Stage;
use crate::worker::CONFIG;
use crate::worker::claude;
use crate::worker::for_each_user;

/// `O_NONBLOCK`.
const NONBLOCK: i32 = 0o4000;

/// One command of one word, since the client asks about every part of a longer one.
fn shell(script: &str) -> Line {
    call("Bash", json!({"command": format!("sh {script}"), "description": "Make it"}))
}

/// A worker that logs in by a key.
fn by_key(model: &Model, args: &str) -> String {
    format!("export ANTHROPIC_API_KEY=none\n{}finish", claude(model, args))
}

/// Nothing but these files came of the work.
#[track_caller]
fn assert_only(stage: &Stage, files: &[&str]) {
    assert!(!stage.read("seriatim.toml").contains("evil"));
    assert!(!stage.project().join(".git/hooks/pre-commit").exists());
    assert_eq!(stage.subjects(), "Process\nBegin\n");
    let status =
        stage.run(stage.as_user("git").args(["status", "--porcelain", "--untracked-files=all"])).stdout;
    let changed: Vec<&str> = status.lines().filter(|line| !line.contains(".dialogue/")).collect();
    let expected: Vec<String> = files.iter().map(|file| format!("?? {file}")).collect();
    assert_eq!(changed, expected, "{}", stage.account());
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn the_real_client_works_in_a_world_and_its_shell_stays_inside() {
    for_each_user(|stage| {
        stage.file(
            "work.sh",
            "echo made >made.txt; git add made.txt; git commit -qm inside; \
             echo '#!/bin/sh' >.git/hooks/pre-commit; echo evil >>seriatim.toml\n",
        );
        let model = Model::start(Script::main([shell("work.sh"), say("Done.")]));
        stage.works(&by_key(&model, "--allowedTools Bash"));
        assert_eq!(stage.read("made.txt"), "made\n");
        assert_only(&stage, &["made.txt"]);
    });
}

/// A pipe in a folder that the world shares with this machine. A process that holds it is alive.
struct Alive(File);

impl Alive {
    fn new(stage: &Stage) -> Alive {
        let folder = stage.top().join("shared");
        fs::create_dir(&folder).unwrap();
        assert!(Command::new("mkfifo").arg(folder.join("alive")).status().unwrap().success());
        stage.hand_over();
        Alive(OpenOptions::new().read(true).custom_flags(NONBLOCK).open(folder.join("alive")).unwrap())
    }

    /// What processes wrote into it, and whether one of them still could.
    fn ended(mut self) -> (String, bool) {
        let mut words = vec![];
        let ended = match self.0.read_to_end(&mut words) {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        };
        (String::from_utf8(words).unwrap(), ended)
    }
}

/// Sub-agents, in the foreground and not, and shells in the background: they edit by relative and absolute paths, commit,
/// and leave processes behind that have left their session and their environment.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn sub_agents_and_background_shells_stay_inside_and_end_with_the_attempt() {
    for_each_user(|stage| {
        let alive = Alive::new(&stage);
        let (top, project) = (stage.top().display().to_string(), stage.project().display().to_string());
        let stay = "mkfifo /tmp/$1; setsid env -i /bin/sh stay.sh $1 >/dev/null 2>&1 </dev/null & read up </tmp/$1\n";
        stage.file(
            "stay.sh",
            &format!("exec 9>'{top}/shared/alive'; echo $1 >&9; echo up >/tmp/$1; exec sleep 600\n"),
        );
        // The client waits for shells in the background, as long as they take; so this one ends and leaves another.
        stage.file("leave.sh", stay);
        stage.file(
            "first.sh",
            &format!(
                "echo first >made-1.txt; git add made-1.txt; git commit -qm first\n\
                 echo '#!/bin/sh' >'{project}/.git/hooks/pre-commit'; echo evil >>'{project}/seriatim.toml'\n\
                 echo beside >'{top}/beside.txt'; echo home >\"$HOME/beside.txt\"\nset one\n{stay}",
            ),
        );
        stage.file(
            "second.sh",
            &format!("echo second >'{project}/made-2.txt'; git commit -qam second; git checkout -qb mine\n"),
        );
        let waiting = call(
            "Bash",
            json!({"command": "sh leave.sh two", "description": "Wait", "run_in_background": true}),
        );
        let model = Model::start(
            Script::main([foreground("One."), background("Two."), waiting, say("Done."), say("All done.")])
                .sub([shell("first.sh"), say("First.")])
                .sub([shell("second.sh"), say("Second.")]),
        );
        let shared = format!("{CONFIG}[worlds]\nshare = ['{top}/shared']\n");
        stage.works_with(&shared, &by_key(&model, "--allowedTools Agent Bash"));
        assert_eq!(model.subs(), 2, "{:#?}", model.asks());
        let (words, ended) = alive.ended();
        let mut words: Vec<&str> = words.lines().collect();
        words.sort_unstable();
        assert_eq!((words, ended), (vec!["one", "two"], true));
        assert_eq!(
            (stage.read("made-1.txt"), stage.read("made-2.txt")),
            ("first\n".to_owned(), "second\n".to_owned())
        );
        assert_only(&stage, &["made-1.txt", "made-2.txt"]);
        assert!(!stage.top().join("beside.txt").exists() && !stage.home().join("beside.txt").exists());
        assert_eq!(
            stage.run(stage.as_user("git").args(["branch", "--format=%(refname:short)"])).stdout,
            "main\n"
        );
    });
}
