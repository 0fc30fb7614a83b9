//! The home of the user in a world: clients log in from it, read their settings there and write what they like, and the
//! real one stays as it is.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;

use serde_json::json;

use crate::model::Model;
use crate::model::script::Line;
use crate::model::script::Script;
use crate::model::script::call;
use crate::model::script::say;
use crate::project::spawn;
use crate::stage::Stage;
use crate::worker::CONFIG;
use crate::worker::claude;
use crate::worker::codex;
use crate::worker::for_each_user;

const BYPASS: &str = "--dangerously-bypass-approvals-and-sandbox";
const TOOL: &str = "mcp__notes__note";

/// A server of tools that is a shell script: one line in, one line out.
const SERVER: &str = r#"while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id": *\([0-9][0-9]*\).*/\1/p')
    [ -n "$id" ] || continue
    case "$line" in
    *'"initialize"'*) result='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"notes","version":"1"}}' ;;
    *'"tools/list"'*) result='"result":{"tools":[{"name":"note","description":"Notes","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) echo noted >>"$HOME/notes.txt"; result='"result":{"content":[{"type":"text","text":"noted in '$(pwd)'"}]}' ;;
    *) result='"error":{"code":-32601,"message":"unknown"}' ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$result"
done
"#;

/// Gives a stage another home.
type Shape = fn(&mut Stage);

/// The names and contents of all that is below a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => drop(found.insert(entry.path(), fs::read(entry.path()).unwrap())),
                _ => drop(found.insert(entry.path(), vec![])),
            }
        }
    }
    found
}

/// A log-in of Claude Code to an account, which is valid for a long time.
fn claude_login(stage: &Stage) {
    let login = json!({"claudeAiOauth": {
        "accessToken": "token-of-ada", "refreshToken": "once", "expiresAt": 4_000_000_000_000_u64,
        "scopes": ["user:inference", "user:profile"], "subscriptionType": "max",
    }});
    stage.at_home(".claude/.credentials.json", &login.to_string());
}

fn shell(command: &str) -> Line {
    call("Bash", json!({"command": command, "description": "Make it"}))
}

/// Claude Code logs in from its home; its sessions are there for the next call of the same attempt.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn claude_logs_in_from_the_home_and_the_home_stays_as_it_is() {
    for_each_user(|stage| {
        claude_login(&stage);
        stage.at_home(".ssh/id_test", "a key\n").file("look.sh", "cat ~/.ssh/id_test; echo made >made.txt\n");
        stage.hand_over();
        let before = contents(&stage.home());
        let model = Model::start(Script::main([shell("sh look.sh"), say("Done."), say("Again.")]));
        let twice = claude(&model, "--allowedTools Bash") + &claude(&model, "--continue");
        stage.works(&format!("{twice}finish"));
        let asks = model.asks();
        assert_eq!(asks[0].login, "Bearer token-of-ada", "{:?}", model.astray());
        assert!(asks[1].result().contains("id_test"), "{}", asks[1].result());
        assert!(!asks[1].result().contains("a key"), "{}", asks[1].result());
        asks[2].assert_reads("Done.");
        assert_eq!(stage.read("made.txt"), "made\n");
        assert_eq!(contents(&stage.home()), before);
    });
}

/// Hooks and servers of tools that the project and the home configure run in the world.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn hooks_and_servers_of_tools_run_inside() {
    for_each_user(|stage| {
        claude_login(&stage);
        let hook = |text: &str| {
            let hook = json!([{"hooks": [{"type": "command", "command": text}]}]);
            json!({"hooks": {"SessionStart": hook}}).to_string()
        };
        stage.file(".claude/settings.json", &hook("echo project >from-project.txt"));
        stage.at_home(
            ".claude/settings.json",
            &hook("echo home >>~/.claude/hooked; cp ~/.claude/hooked from-home.txt"),
        );
        stage.at_home("server.sh", SERVER);
        let server = json!({"command": "sh", "args": [stage.home().join("server.sh")]});
        stage.at_home(".claude.json", &json!({"mcpServers": {"notes": server}}).to_string());
        stage.hand_over();
        let before = contents(&stage.home());
        let load = call("ToolSearch", json!({"query": format!("select:{TOOL}")}));
        let model = Model::start(Script::main([load, call(TOOL, json!({})), say("Done.")]));
        stage.works(&format!("{}finish", claude(&model, &format!("--allowedTools ToolSearch {TOOL}"))));
        let told = model.asks()[2].result().to_owned();
        assert_eq!(told, format!("noted in {}", stage.project().display()));
        assert_eq!(
            (stage.read("from-project.txt"), stage.read("from-home.txt")),
            ("project\n".into(), "home\n".into())
        );
        assert_eq!(contents(&stage.home()), before);
    });
}

/// A renewed log-in is valid inside; the real home keeps the old one unless the file is shared by word.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn codex_renews_its_login_inside_and_outside_where_the_file_is_shared() {
    for_each_user(|stage| {
        let model = Model::start(Script::main([say("Done."), say("Done.")]));
        stage.codex_config(&model, "");
        // A token without a signature; it says nothing but who the user is.
        let id = "eyJhbGciOiJub25lIn0.eyJlbWFpbCI6ImFkYUBleGFtcGxlLm9yZyJ9.c2ln";
        let login = json!({
            "auth_mode": "chatgpt", "OPENAI_API_KEY": null, "last_refresh": "2020-01-01T00:00:00Z",
            "tokens": {"id_token": id, "access_token": "old", "refresh_token": "once", "account_id": "ada"},
        });
        stage.at_home(".codex/auth.json", &login.to_string());
        stage.hand_over();
        let before = contents(&stage.home());
        let url = format!("export CODEX_REFRESH_TOKEN_URL_OVERRIDE='{}/oauth/token'\n", model.url());
        let script = format!("{url}{}finish", codex(BYPASS));
        stage.works(&script);
        assert_eq!(model.asks()[0].login, "Bearer renewed", "{:?}", model.astray());
        assert_eq!(contents(&stage.home()), before);
        let file = stage.home().join(".codex/auth.json");
        stage.works_with(&format!("{CONFIG}[worlds]\nshare = ['{}']\n", file.display()), &script);
        let renewed: serde_json::Value = serde_json::from_str(&stage.read_home(".codex/auth.json")).unwrap();
        assert_eq!(renewed["tokens"]["refresh_token"], "next");
        let changed: Vec<PathBuf> = contents(&stage.home())
            .into_iter()
            .filter(|(path, text)| before.get(path) != Some(text))
            .map(|(path, _)| path)
            .collect();
        assert_eq!(changed, [file]);
    });
}

/// Sub-agents of Codex work in the same view.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn sub_agents_of_codex_stay_inside() {
    for_each_user(|stage| {
        let project = stage.project().display().to_string();
        let work =
            format!("echo made >'{project}/made.txt'; git add made.txt; git commit -qm inside; echo x >~/x");
        let model = Model::start(
            Script::main([spawn("Make it."), crate::model::script::find(crate::project::wait), say("Done.")])
                .sub([call("exec_command", json!({"cmd": work})), say("Made.")]),
        );
        stage.codex_config(&model, "").hand_over();
        let before = contents(&stage.home());
        stage.works(&format!("{}finish", codex(BYPASS)));
        assert_eq!((model.subs(), stage.read("made.txt").as_str()), (1, "made\n"));
        assert_eq!(stage.subjects(), "Process\nBegin\n");
        assert_eq!(contents(&stage.home()), before);
    });
}

/// Homes of other shapes: behind a link, with the workspace inside, with the temporary folder inside, and one that
/// nobody names.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_home_may_be_a_link_hold_the_workspace_or_be_unnamed() {
    let shapes: [(&str, Shape); 4] = [
        ("a link", |stage| {
            let real = stage.top().join("elsewhere");
            fs::rename(stage.home(), &real).unwrap();
            symlink(real, stage.home()).unwrap();
        }),
        ("around the workspace", |stage| {
            fs::rename(stage.top().join("work"), stage.home().join("work")).unwrap();
            stage.move_project("home/work");
        }),
        ("with the temporary folder", |stage| stage.move_temporary("home")),
        ("unnamed", Stage::forget_home),
    ];
    for (name, shape) in shapes {
        for_each_user(|mut stage| {
            if name == "unnamed" && !stage.is_root() {
                println!("SKIPPED: the client itself ends for a user whom no list of users names");
                return;
            }
            shape(&mut stage);
            claude_login(&stage);
            stage.hand_over();
            let model = Model::start(Script::main([shell("sh look.sh"), say("Done.")]));
            stage.file("look.sh", "echo made >made.txt\n");
            let key = if name == "unnamed" { "export ANTHROPIC_API_KEY=token-of-ada\n" } else { "" };
            stage.works(&format!("{key}{}finish", claude(&model, "--allowedTools Bash")));
            assert!(model.asks()[0].login.ends_with("token-of-ada"), "{name}");
            assert_eq!(stage.read("made.txt"), "made\n", "{name}");
            let written: Vec<PathBuf> = contents(&stage.home().join(".claude")).into_keys().collect();
            assert_eq!(written, [stage.home().join(".claude/.credentials.json")], "{name}");
        });
    }
}
