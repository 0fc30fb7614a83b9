//! The plugin of this repository, as the real client takes it.

use std::path::Path;
use std::process::Command;

use crate::stage::Stage;
use crate::stage::client;

/// The folder with the marketplace.
fn plugin() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
    folder.canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[track_caller]
fn claude(stage: &Stage, args: &[&str]) -> String {
    let output = stage.run(Command::new(client("claude")).args(args));
    assert_eq!(output.exit, Some(0), "claude {args:?}: {}{}", output.stdout, output.stderr);
    format!("{}{}", output.stdout, output.stderr)
}

#[test]
#[ignore = "needs the real clients: .ci/run clients"]
fn ds_117_the_plugin_is_valid_and_installs_from_a_checkout() {
    let stage = Stage::new();
    let plugin = plugin();
    claude(&stage, &["plugin", "validate", &plugin]);
    claude(&stage, &["plugin", "validate", &format!("{plugin}/seriatim")]);
    claude(&stage, &["plugin", "marketplace", "add", &plugin]);
    claude(&stage, &["plugin", "install", "seriatim@seriatim", "--scope", "user"]);
    let listed = claude(&stage, &["plugin", "list", "--json"]);
    assert!(listed.contains("seriatim"), "{listed}");
}
