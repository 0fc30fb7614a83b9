//! `doctor`: which isolation is in force, why not a better one, and where the layers are.

use crate::support::Env;

const CONFIG: &str = r#"
[agents.default]
kind = "command"
isolation = "world"
argv = ["sh", "agent.sh"]
network = "none"

[agents.deployer]
kind = "command"
isolation = "none"
argv = ["sh", "deploy.sh"]

[agents.reviewer]
kind = "human"

[gates.tests]
isolation = "world"
command = ["make", "test"]
"#;

/// What is said about isolation.
fn section(text: &str) -> String {
    let begin = text.find("Isolation\n").unwrap_or_else(|| panic!("nothing about isolation:\n{text}"));
    let rest = &text[begin..];
    rest[..rest.find("\n\n").unwrap_or(rest.len())].to_owned()
}

#[test]
fn the_isolation_in_force_is_named_for_each_agent_and_gate() {
    let env = Env::new();
    env.file("seriatim.toml", CONFIG);
    let said = section(&env.run(&["doctor"]).stdout);
    for line in [
        "✓ good  worlds: agents and gates change a view of the workspace, never the workspace itself",
        "agent default: world, network none",
        "agent deployer: none, network host (worked in the workspace itself, without isolation)",
        "gate tests: world, network host",
        "layers: none yet; they will be in ",
    ] {
        assert!(said.contains(line), "`{line}` is not in:\n{said}");
    }
    assert!(!said.contains("reviewer"), "{said}");
    let (document, _) = env.json(&["doctor"]);
    let isolation = &document["isolation"];
    assert_eq!((&isolation["ok"], &isolation["world"]["works"]), (&true.into(), &true.into()));
    assert_eq!(isolation["agents"][0]["isolation"], "world");
    assert_eq!(isolation["layers"]["in_use"], false);
    assert!(isolation["layers"]["free_bytes"].as_u64().is_some(), "{isolation}");
    assert!(!env.store().exists() && env.files_below("").len() == 1, "nothing is made");
}

#[test]
fn where_no_world_can_be_made_the_step_the_reason_and_the_remedy_are_named() {
    let env = Env::new();
    env.file("seriatim.toml", format!("[worlds]\ndir = \"/no/such/folder\"\n{CONFIG}"));
    let output = env.run(&["doctor"]).exits(1);
    let said = section(&output.stdout);
    for line in [
        "✗ bad   worlds: none can be made here, could not check the layers: /no/such/folder: No such file",
        "help: ",
        "agent default: does not start: this machine offers no `isolation = \"world\"`",
        "agent deployer: none",
    ] {
        assert!(said.contains(line), "`{line}` is not in:\n{said}");
    }
    let (document, _) = env.json(&["doctor"]);
    let isolation = &document["isolation"];
    assert_eq!((&isolation["ok"], &isolation["world"]["step"]), (&false.into(), &"check the layers".into()));
    assert!(isolation["agents"][0]["isolation"].is_null(), "{isolation}");
    assert!(isolation["agents"][0]["problem"].is_string() && isolation["world"]["help"].is_string());
}
