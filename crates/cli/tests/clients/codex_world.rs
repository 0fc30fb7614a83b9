//! Codex as the worker of a step: it works in a world, with its own sandbox or without.

use serde_json::json;

use crate::model::Model;
use crate::model::script::Line;
use crate::model::script::Script;
use crate::model::script::call;
use crate::model::script::say;
use crate::worker::codex;
use crate::worker::for_each_user;

const BYPASS: &str = "--dangerously-bypass-approvals-and-sandbox";

fn shell(command: &str) -> Line {
    call("exec_command", json!({"cmd": command}))
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn the_real_client_works_in_a_world_and_its_shell_stays_inside() {
    for_each_user(|stage| {
        let model = Model::start(Script::main([
            shell("echo made >made.txt; git add made.txt; git commit -qm inside; echo evil >>seriatim.toml"),
            say("Done."),
        ]));
        stage.codex_config(&model, "");
        stage.works(&format!("{}finish", codex(BYPASS)));
        assert_eq!(stage.read("made.txt"), "made\n", "{:#?} {}", model.asks(), stage.account());
        assert_eq!(stage.subjects(), "Process\nBegin\n");
        assert_eq!(model.asks()[0].login, "Bearer sk-of-ada");
    });
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn its_own_sandbox_works_in_the_world_of_an_ordinary_user() {
    for_each_user(|stage| {
        let model = Model::start(Script::main([
            shell("echo made >made.txt; touch /var/lib/x; touch .git/x"),
            say("Done."),
        ]));
        stage.codex_config(&model, "");
        stage.works(&format!("{}finish", codex("--sandbox workspace-write")));
        let told = model.asks()[1].result().to_owned();
        if stage.is_root() {
            assert!(told.contains("bwrap: setting up uid map: Operation not permitted"), "{told}");
            return;
        }
        assert_eq!(stage.read("made.txt"), "made\n", "{told}");
        assert!(told.contains("touch: cannot touch '.git/x': Read-only file system"), "{told}");
    });
}
