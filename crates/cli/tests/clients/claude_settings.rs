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

const SETTINGS: &str = ".claude/settings.json";

/// Settings are replaced in mid-session by another process, and the client notices it before the model goes on. The
/// same without the guard does disarm: see `settings_that_nobody_defends_are_taken_over_in_mid_session`.
fn replaced(stage: &Stage, text: &str) -> Model {
    let (path, wait, text) = (stage.project().join(SETTINGS), stage.settings_noticed(), text.to_owned());
    let replace = find(move |_| {
        fs::write(&path, &text).unwrap();
        wait();
        Reply::call("Bash", json!({"command": "true"}))
    });
    let again = call("Bash", json!({"command": "true"}));
    Model::start(
        Script::main([foreground(&incomplete()), replace, again, foreground(&incomplete()), say("Done.")])
            .sub([say("I was started.")]),
    )
}

#[track_caller]
fn assert_armed(stage: &Stage, model: &Model) {
    assert_eq!(stage.events("ConfigChange").len(), 1);
    assert_eq!(model.subs(), 0);
    let read = model.asks_of(MAIN)[4].result().to_owned();
    assert!(read.contains("MISSING: Mandatory section 'QUALITY_GATES' not found"), "{read}");
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn settings_that_are_emptied_in_mid_session_do_not_disarm() {
    let stage = Stage::guarded("claude");
    let model = replaced(&stage, "{}\n");
    stage.claude(&model, &[]).ended();
    assert_armed(&stage, &model);
}

/// The user had settings before, and somebody puts back what they were.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn settings_that_are_put_back_in_mid_session_do_not_disarm() {
    let own = "{\n  \"env\": {\"COLOUR\": \"red\"}\n}\n";
    let stage = Stage::new();
    stage.file(SETTINGS, own);
    let stage = stage.guard("claude");
    let model = replaced(&stage, own);
    stage.claude(&model, &[]).ended();
    assert_armed(&stage, &model);
}

/// Nor does it help to damage the guard's own record of what it installed first.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_damaged_mark_does_not_disarm_either() {
    let stage = Stage::guarded("claude");
    stage.file(".git/seriatim/guard.json", "damaged");
    let model = replaced(&stage, "{}\n");
    stage.claude(&model, &[]).ended();
    assert_armed(&stage, &model);
}

/// Only what takes our hooks away is refused: other settings are the user's own.
#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn a_change_that_leaves_the_hooks_alone_is_taken_over() {
    let stage = Stage::guarded("claude");
    let mut changed: serde_json::Value = serde_json::from_str(&stage.read(SETTINGS)).unwrap();
    let refusing =
        json!({"matcher": "Agent", "hooks": [{"type": "command", "command": "echo Not today. >&2; exit 2"}]});
    changed["hooks"]["PreToolUse"].as_array_mut().unwrap().push(refusing);
    let (path, wait) = (stage.project().join(SETTINGS), stage.settings_noticed());
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
