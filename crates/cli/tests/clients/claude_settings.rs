//! Whoever changes the settings of Claude Code in mid-session does not take the guard away.

use std::fs;

use serde_json::json;

use crate::model::MAIN;
use crate::model::Model;
use crate::model::script::Reply;
use crate::model::script::Script;
use crate::model::script::call;
use crate::model::script::find;
use crate::model::script::say;
use crate::project::foreground;
use crate::project::incomplete;
use crate::stage::Stage;

/// The same steps without the guard do disarm: see `settings_that_nobody_defends_are_taken_over_in_mid_session`.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn settings_that_are_emptied_in_mid_session_do_not_disarm() {
    let stage = Stage::guarded("claude");
    let settings = ".claude/settings.json";
    assert!(stage.read(settings).contains("seriatim hook"));
    let (path, wait) = (stage.project().join(settings), stage.settings_noticed());
    let disarm = find(move |_| {
        fs::write(&path, "{}\n").unwrap();
        wait();
        Reply::call("Bash", json!({"command": "true"}))
    });
    let again = call("Bash", json!({"command": "true"}));
    let model = Model::start(
        Script::main([foreground(&incomplete()), disarm, again, foreground(&incomplete()), say("Done.")])
            .sub([say("I was started.")]),
    );
    stage.claude(&model, &[]).ended();
    assert_eq!(stage.events("ConfigChange").len(), 1);
    assert_eq!(model.subs(), 0);
    let read = model.asks_of(MAIN)[4].result().to_owned();
    assert!(read.contains("MISSING: Mandatory section 'QUALITY_GATES' not found"), "{read}");
}

/// Only what takes our hooks away is refused: other settings are the user's own.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_change_that_leaves_the_hooks_alone_is_taken_over() {
    let stage = Stage::guarded("claude");
    let settings = ".claude/settings.json";
    let mut changed: serde_json::Value = serde_json::from_str(&stage.read(settings)).unwrap();
    let refusing =
        json!({"matcher": "Agent", "hooks": [{"type": "command", "command": "echo Not today. >&2; exit 2"}]});
    changed["hooks"]["PreToolUse"].as_array_mut().unwrap().push(refusing);
    let (path, wait) = (stage.project().join(settings), stage.settings_noticed());
    let change = find(move |_| {
        fs::write(&path, format!("{changed:#}\n")).unwrap();
        wait();
        Reply::call("Bash", json!({"command": "true"}))
    });
    let again = call("Bash", json!({"command": "true"}));
    let model = Model::start(
        Script::main([foreground("Look."), change, again, foreground("Look."), say("Done.")])
            .sub([say("A readme.")])
            .sub([say("I was started.")]),
    );
    stage.claude(&model, &[]).ended();
    assert_eq!(model.subs(), 1);
    assert!(model.asks_of(MAIN)[4].result().contains("Not today."));
}
