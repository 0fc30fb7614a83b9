//! `seriatim` inside of an attempt: what it passes on to the engine, and what only people do.

use std::fs::File;
use std::io::Read;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::process::Fifo;
use crate::roadmap_support::Project;
use crate::support::Env;
use crate::support::Output;
use crate::support::files_below;
use crate::support::is_root;

/// What each agent of these tests has: `try` says how a command ended and what it printed, `report` is a good report.
const AGENT: &str = r#"try() { out=$("$@" 2>&1 </dev/null); code=$?; echo "[$code] $*"; echo "$out"; }
good='{"status": "done", "summary": "well", "confidence": 100, "criteria": [{"criterion": "It is done", "met": true,
    "confidence": 100, "reason": "seen"}]}'
finish() { printf '%s' "$good" >"$SERIATIM_REPORT"; }
"#;

/// The folder of the program, in front of all others.
fn path() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_seriatim")).parent().unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn home(env: &Env) -> PathBuf {
    env.root.with_file_name("home")
}

/// A process of one step whose agent runs a script in this isolation.
fn bakery(isolation: &str, script: &str) -> Env {
    let env = Env::new().variable("PATH", &path());
    env.bakery(&["Knead the dough"]);
    let table = "argv = [\"sh\", \"agent.sh\"]\nenv = [\"PATH\", \"HOME\"]\ntimeout = \"5m\"\n";
    env.file(
        "seriatim.toml",
        format!(
            "[agents.default]\nkind = \"command\"\nisolation = \"{isolation}\"\n{table}\n[worlds]\nshare = [{:?}]\n",
            home(&env)
        ),
    );
    env.file("agent.sh", format!("{AGENT}{script}\n"));
    env
}

fn bake(env: &Env) -> Output {
    env.run(&["run", "process", "instance.yaml", "--no-input", "-q"])
}

/// The attempts of agents in the newest run.
fn attempts(env: &Env) -> Vec<Value> {
    let (shown, _) = env.json(&["show", &env.newest()]);
    let attempts = shown["attempts"].as_array().unwrap_or_else(|| panic!("{shown:#}")).iter();
    attempts.filter(|attempt| attempt["agent"].is_object()).cloned().collect()
}

/// What the first agent printed.
#[track_caller]
fn printed(env: &Env) -> String {
    let attempts = attempts(env);
    attempts[0]["printed"]["stdout"].as_str().unwrap_or_else(|| panic!("{attempts:#?}")).to_owned()
}

/// How a command that the agent tried ended, and what it printed.
#[track_caller]
fn tried(printed: &str, command: &str) -> (i32, String) {
    let begins = |line: &str| line.starts_with('[') && line.contains("] ");
    let mut lines = printed.lines().skip_while(|line| !line.ends_with(&format!("] {command}")));
    let head = lines.next().unwrap_or_else(|| panic!("`{command}` was not tried:\n{printed}"));
    let code = head[1..head.find(']').unwrap()].parse().unwrap();
    (code, lines.take_while(|line| !begins(line)).collect::<Vec<_>>().join("\n"))
}

#[test]
fn what_an_attempt_says_about_its_own_work_is_carried_out_by_the_engine() {
    let env = bakery(
        "world",
        r#"try seriatim decide OPERATIONAL ai:baker flour rye "there is no other"
        try seriatim observe MEASUREMENT ai:baker oven 230 C "by thermometer"
        echo '{"hook_event_name": "Stop", "session_id": "s", "cwd": "'"$PWD"'"}' >event
        out=$(seriatim hook --client claude <event 2>&1); echo "[$?] hook"; echo "$out"
        echo '{"hook_event_name": "Stop", "session_id": "s", "cwd": "/"}' >event
        out=$(seriatim hook --client claude <event 2>&1); echo "[$?] foreign hook"; echo "$out"
        try seriatim commit-gate --json
        try seriatim --workspace . decide TACTICAL ai:baker salt little "it is healthier"
        try seriatim report 5.1.1 no-such-file
        echo '{"status": "perhaps"}' >thin.json
        try seriatim report 5.1.1 thin.json
        try seriatim report 5.1.2 thin.json
        printf '%s' "$good" >full.json
        try seriatim report 5.1.1 full.json
        "#,
    );
    bake(&env).exits(0);
    let said = printed(&env);
    let (code, id) = tried(&said, "seriatim decide OPERATIONAL ai:baker flour rye there is no other");
    assert_eq!((code, id.starts_with("DEC-")), (0, true), "{said}");
    let recorded = files_below(&env.root);
    assert!(recorded.iter().any(|path| path.to_string_lossy().contains(&id)), "{id}: {recorded:?}");
    assert_eq!(
        tried(&said, "seriatim observe MEASUREMENT ai:baker oven 230 C by thermometer").0,
        0,
        "{said}"
    );
    assert_eq!(tried(&said, "hook"), (0, String::new()), "{said}");
    let (code, words) = tried(&said, "foreign hook");
    assert_eq!((code, words.contains("another folder")), (2, true), "{said}");
    let (code, words) = tried(&said, "seriatim commit-gate --json");
    assert_eq!((code, words.contains("\"passed\":true")), (0, true), "{said}");
    assert_eq!(
        tried(&said, "seriatim --workspace . decide TACTICAL ai:baker salt little it is healthier").0,
        0
    );
    assert_eq!(tried(&said, "seriatim report 5.1.1 no-such-file").0, 2, "{said}");
    let (code, words) = tried(&said, "seriatim report 5.1.1 thin.json");
    assert_eq!((code, words.contains("not taken")), (1, true), "{said}");
    let (code, words) = tried(&said, "seriatim report 5.1.2 thin.json");
    assert_eq!(
        (code, words.contains("works on step 5.1.1 and hands in no other report")),
        (2, true),
        "{said}"
    );
    let taken = (0, "Taken: the report for step 5.1.1.".to_owned());
    assert_eq!(tried(&said, "seriatim report 5.1.1 full.json"), taken, "{said}");
    // Each of them is on record with the attempt.
    let requests = attempts(&env)[0]["printed"]["requests"].clone();
    let exits: Vec<i64> =
        requests.as_array().unwrap().iter().filter_map(|one| one["exit"].as_i64()).collect();
    assert_eq!(exits, [0, 0, 0, 2, 0, 0, 1, 2, 0], "{requests:#}");
    env.run(&["show", &env.newest(), "-v"])
        .says("asked from inside:")
        .says("seriatim report 5.1.2 thin.json - exit code 2: ");
}

/// Every command that is none of the attempt's claims.
const REFUSED: [&str; 20] = [
    "seriatim answer q1 approve",
    "seriatim cancel RUN",
    "seriatim guard install --yes",
    "seriatim guard uninstall --yes",
    "seriatim roadmap rollback calc 01-01",
    "seriatim snapshot restore x",
    "seriatim snapshot prune",
    "seriatim run process instance.yaml",
    "seriatim run process instance.yaml --answers x.yaml",
    "seriatim resume RUN",
    "seriatim status",
    "seriatim show RUN",
    "seriatim log RUN",
    "seriatim inbox",
    "seriatim verify",
    "seriatim doctor",
    "seriatim init",
    "seriatim watchdog",
    "seriatim phase start 01-01 RED",
    "seriatim --workspace / decide OPERATIONAL a b c d",
];

#[test]
fn everything_else_is_refused_with_the_reason() {
    let tries: String = REFUSED.iter().map(|command| format!("try {command}\n")).collect();
    let env = bakery("world", &format!("{tries}try seriatim --version\ntry seriatim nonsense\nfinish"));
    bake(&env).exits(0);
    let said = printed(&env);
    for command in REFUSED {
        let (code, words) = tried(&said, command);
        assert_eq!(code, 2, "{command}: {words}");
        let run = env.newest();
        assert!(
            words.contains(&format!("is refused inside an attempt (run {run}, step 5.1.1): ")),
            "{words}"
        );
        assert!(words.lines().count() > 1, "what to do is said too: {words}");
    }
    let (_, words) = tried(&said, "seriatim answer q1 approve");
    assert!(words.contains("only a person's process decides about work"), "{words}");
    assert!(words.contains("a person can run `seriatim answer` in a terminal of their own"), "{words}");
    assert_eq!(tried(&said, "seriatim --version").0, 0, "{said}");
    assert_eq!(tried(&said, "seriatim nonsense").0, 2, "{said}");
    let (status, _) = env.json(&["status"]);
    assert_eq!(status["runs"].as_array().unwrap().len(), 1, "{status:#}");
    assert!(!env.path("seriatim.toml.orig").exists() && !env.path(".claude").exists());
}

/// K-104 in a world: the engine records the phases that the agent reports, and no others.
#[test]
fn k_104_an_agent_in_a_world_reports_the_phases_of_its_step() {
    let project = Project::short();
    let config = project.env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
    let share = format!("[worlds]\nshare = [{:?}]\n[roadmap]\ncall = \"step\"\n", home(&project.env));
    project.with("seriatim.toml", &format!("{config}{share}"));
    project.agent(
        r#"try() { out=$("$@" 2>&1); ended=$?; echo "[$ended] $*"; echo "$out"; }
        carry_out() {
            seriatim phase start 01-01 $1 || exit 1
            SERIATIM_PHASE=$1; usual
            seriatim phase done 01-01 $1 --outcome PASS --note "as it should be" || exit 1
        }
        try seriatim phase start 01-02 RED
        try seriatim phase start docs/feature/calc/execution-status.yaml RED
        try seriatim phase start --project other 01-01 RED
        try seriatim phase done 01-01 GREEN --outcome PASS
        carry_out RED
        carry_out GREEN
        finish"#,
    );
    let mut command =
        project.env.command(&["run", "step", "@software-crafter", "calc", "01-01", "--no-input", "-q"]);
    command.env("PATH", path());
    let output = project.env.start_command(command).output();
    assert_eq!(output.exit, Some(0), "{}\n{:#}", output.snapshot(), project.shown());
    assert_eq!(project.calls(), ["01-01 "]);
    let said = printed(&project.env);
    for (command, reason) in [
        ("seriatim phase start 01-02 RED", "it works on step 01-01 and reports no other step"),
        ("seriatim phase start docs/feature/calc/execution-status.yaml RED", "reports no other step"),
        (
            "seriatim phase start --project other 01-01 RED",
            "it works on project calc and reports no other one",
        ),
    ] {
        let (code, words) = tried(&said, command);
        assert_eq!((code, words.contains(reason)), (2, true), "{words}");
    }
    // What is not in order is refused by the rules of the step, as it is outside.
    let (code, words) = tried(&said, "seriatim phase done 01-01 GREEN --outcome PASS");
    assert_eq!((code, words.contains("not recorded")), (1, true), "{words}");
    let green = project.phase("01-01", "GREEN");
    assert_eq!(
        (&green["outcome"], &green["notes"]),
        (&"PASS".into(), &"as it should be".into()),
        "{green:#}"
    );
    project.assert_done(&["01-01"]);
}

/// The socket of the attempt that is under way, as this machine sees it.
#[track_caller]
fn connect(env: &Env) -> UnixStream {
    let layers = env.read_stored("worlds");
    let found: Vec<PathBuf> = files_below(Path::new(layers.trim()))
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name == ".seriatim.sock"))
        .collect();
    assert_eq!(found.len(), 1, "{layers}: {found:?}");
    let folder = File::open(found[0].parent().unwrap()).unwrap();
    UnixStream::connect(format!("/proc/self/fd/{}/.seriatim.sock", folder.as_raw_fd())).unwrap()
}

/// Sends bytes as they are and returns what comes back before the connection ends.
fn send(env: &Env, bytes: &[u8]) -> String {
    let mut stream = connect(env);
    // An engine that refuses early does not read the rest.
    let _ = stream.write_all(bytes);
    let mut reply = vec![];
    let _ = stream.read_to_end(&mut reply);
    String::from_utf8_lossy(&reply).into_owned()
}

fn framed(text: &str) -> Vec<u8> {
    [&u32::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat()
}

#[test]
fn forged_messages_are_refused_and_silent_clients_hold_nobody_up() {
    let env = bakery(
        "world",
        r#"echo here >"$HOME/began"; read word <"$HOME/hold"
        try seriatim decide OPERATIONAL ai:baker flour rye "there is no other"
        finish; echo here >"$HOME/began"; read word <"$HOME/hold""#,
    );
    let (mut began, mut hold) = (Fifo::new(&home(&env).join("began")), Fifo::new(&home(&env).join("hold")));
    let engine = env.start(&["run", "process", "instance.yaml", "--no-input", "-q"]);
    began.line(&engine);
    let request = |argv: &str, input: u64| {
        framed(&format!(
            r#"{{"protocol": 1, "version": "{}", "argv": [{argv}], "cwd": "/", "input_bytes": {input}}}"#,
            env!("CARGO_PKG_VERSION")
        ))
    };
    let no = "the message is not one of seriatim";
    assert!(send(&env, &[0xff; 64]).contains(no), "a length that nobody has");
    assert!(send(&env, &framed("GET / HTTP/1.1")).contains(no), "no JSON");
    assert!(send(&env, &framed(r#"{"protocol": 2}"#)).contains(no), "another language");
    assert!(send(&env, &request("", 1 << 40)).contains(no), "input without end");
    assert!(send(&env, &vec![b'x'; 1 << 20]).contains(no), "a long letter");
    assert!(send(&env, &[request("\"status\"", 1), b"too much".to_vec()].concat()).contains(no));
    let refused = send(&env, &request("\"answer\", \"q1\", \"yes\"", 0));
    assert!(refused.contains("is refused inside an attempt"), "{refused}");
    let other =
        String::from_utf8(request("\"status\"", 0)).unwrap().replace(env!("CARGO_PKG_VERSION"), "9.9.9");
    assert!(send(&env, other.as_bytes()).contains("was started by seriatim"));
    // More connections than anybody needs, which say nothing or stop in the middle.
    let mut silent: Vec<UnixStream> = (0..100).map(|_| connect(&env)).collect();
    for stream in &mut silent {
        let _ = stream.write_all(&[0, 0]);
    }
    hold.send("go");
    began.line(&engine);
    hold.send("go");
    // The attempt ends, and the clients that still hang see their connections end with it.
    engine.output().exits(0);
    for mut stream in silent {
        let mut rest = vec![];
        let _ = stream.read_to_end(&mut rest);
        assert_eq!(rest, b"");
    }
    assert_eq!(
        tried(&printed(&env), "seriatim decide OPERATIONAL ai:baker flour rye there is no other").0,
        0
    );
    assert_eq!(env.living(), Vec::<String>::new());
}

/// The fence of attempts that work in the workspace itself.
#[test]
fn an_attempt_without_a_world_says_what_it_did_and_decides_nothing() {
    let env = bakery(
        "none",
        r#"try seriatim decide OPERATIONAL ai:baker flour rye "there is no other"
        try seriatim status -q
        try seriatim answer q1 approve
        try seriatim cancel x
        try seriatim guard install --yes
        try seriatim guard uninstall --yes
        try seriatim snapshot restore x
        try seriatim roadmap rollback calc 01-01
        try seriatim run process instance.yaml --answers x.yaml
        SERIATIM_SOCKET=/nowhere try seriatim answer q1 approve now
        finish"#,
    );
    bake(&env).exits(0);
    let said = printed(&env);
    for good in ["seriatim decide OPERATIONAL ai:baker flour rye there is no other", "seriatim status -q"] {
        assert_eq!(tried(&said, good).0, 0, "{said}");
    }
    for refused in [
        "seriatim answer q1 approve",
        "seriatim cancel x",
        "seriatim guard install --yes",
        "seriatim guard uninstall --yes",
        "seriatim snapshot restore x",
        "seriatim roadmap rollback calc 01-01",
        "seriatim run process instance.yaml --answers x.yaml",
    ] {
        let (code, words) = tried(&said, refused);
        assert_eq!(
            (code, words.contains("only a person's process decides")),
            (2, true),
            "{refused}: {words}"
        );
    }
}

#[test]
fn a_run_that_waits_for_a_person_is_not_continued_from_inside_an_attempt() {
    let env = Env::new();
    env.bakery(&["P:Decide on the crust"]).agent_sh("finish done");
    bake(&env).exits(3);
    let run = env.newest();
    for (name, value) in [("SERIATIM_ATTEMPT_ID", "x"), ("SERIATIM_SOCKET", "/nowhere")] {
        for args in [vec!["resume", &run, "--no-input"], vec!["answer", "q1", "done"], vec!["cancel", &run]] {
            let mut command = env.command(&args);
            command.env(name, value);
            env.start_command(command).output().exits(2).says("is refused inside an attempt");
        }
    }
    let (status, _) = env.json(&["inbox"]);
    assert!(status.to_string().contains(&run), "{status:#}");
}

#[test]
fn an_ordinary_user_has_the_socket_too() {
    let program = env!("CARGO_BIN_EXE_seriatim");
    let as_other = ["--reuid=12345", "--regid=12345", "--clear-groups"];
    let reaches = |args: &[&str]| {
        let tried = Command::new("setpriv").args(as_other).args(args).current_dir("/").output();
        tried.is_ok_and(|output| output.status.success())
    };
    if !is_root() || !reaches(&[program, "--version"]) {
        println!("SKIPPED: only the superuser can try it as another user, who has to reach the program");
        return;
    }
    let env = bakery("world", "try seriatim decide OPERATIONAL a b c d\ntry seriatim status\nfinish");
    let top = env.root.parent().unwrap();
    assert!(Command::new("chown").args(["-R", "12345:12345"]).arg(top).status().unwrap().success());
    let as_user = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(as_other).arg(program).args(args);
        env.furnish(&mut command);
        env.start_command(command).output()
    };
    as_user(&["run", "process", "instance.yaml", "--no-input", "-q"]).exits(0);
    let runs = as_user(&["status", "--json"]).document();
    let run = runs["runs"][0]["run"].as_str().unwrap().to_owned();
    let shown = as_user(&["show", &run, "--json"]).document();
    let attempts = shown["attempts"].as_array().unwrap();
    let said = attempts.iter().find_map(|one| one["printed"]["stdout"].as_str()).unwrap();
    assert_eq!(tried(said, "seriatim decide OPERATIONAL a b c d").0, 0, "{said}");
    assert_eq!(tried(said, "seriatim status").0, 2, "{said}");
}

/// With a call for each phase the engine keeps the state; what the agent says about it meanwhile makes nothing count.
#[test]
fn a_phase_that_its_agent_calls_done_is_still_proven_by_the_engine() {
    let project = Project::short();
    let config = project.env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
    let share = format!("[worlds]\nshare = [{:?}]\n", home(&project.env));
    project.with("seriatim.toml", &format!("{config}{share}"));
    project.agent(
        r#"other=RED; [ "$SERIATIM_PHASE" = RED ] && other=GREEN
        seriatim phase done 01-01 $other --outcome PASS; echo "other: $?"
        seriatim phase done 01-01 $SERIATIM_PHASE --outcome PASS; echo "own: $?"
        usual; finish"#,
    );
    let mut command =
        project.env.command(&["run", "step", "@software-crafter", "calc", "01-01", "--no-input", "-q"]);
    command.env("PATH", path());
    let output = project.env.start_command(command).output();
    let said = printed(&project.env);
    assert!(said.contains("other: 2"), "{said}");
    assert_eq!(output.exit, Some(0), "{}\n{said}\n{:#}", output.snapshot(), project.status());
    project.assert_done(&["01-01"]);
    let tries = project.tries("01-01", "GREEN");
    assert!(tries.iter().all(|one| !one["evidence"].as_array().unwrap().is_empty()), "{tries:#?}");
}
