//! The real agent clients, with the guard installed, against a scripted model on this machine. The tests that need a
//! client are run by `.ci/run clients`, which installs the clients first.

#[cfg(test)]
mod claude_doors;
#[cfg(test)]
mod claude_events;
#[cfg(test)]
mod claude_settings;
#[cfg(test)]
mod claude_stops;
#[cfg(test)]
mod claude_world;
#[cfg(test)]
mod codex_events;
#[cfg(test)]
mod codex_guard;
#[cfg(test)]
mod codex_world;
#[cfg(test)]
mod home_world;
#[cfg(test)]
mod model;
#[cfg(test)]
#[path = "../shared/phases.rs"]
mod phases;
#[cfg(test)]
mod plugin;
#[cfg(test)]
mod project;
#[cfg(test)]
mod session;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod worker;

#[test]
fn no_test_file_is_forgotten() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed");
    }
}
