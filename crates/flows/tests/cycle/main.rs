//! The whole cycle dialect at the seam of this crate: a goal in, requests and their outcomes by hand, and every
//! question, fact, document and end looked at.
//!
//! What holds for every run is checked by the stage and the story, and so holds for every test here.

#[cfg(test)]
mod approving;
#[cfg(test)]
mod beginning;
#[cfg(test)]
mod broken_files;
#[cfg(test)]
mod cancelling;
#[cfg(test)]
mod checking;
#[cfg(test)]
mod choosing;
#[cfg(test)]
mod deeds;
#[cfg(test)]
mod known;
#[cfg(test)]
mod pausing;
#[cfg(test)]
mod planning;
#[cfg(test)]
mod promise;
#[cfg(test)]
mod recovering;
#[cfg(test)]
#[path = "../support/world_stage.rs"]
mod stage;
#[cfg(test)]
mod story;
#[cfg(test)]
mod whole;
#[cfg(test)]
mod working;
#[cfg(test)]
mod world;

#[test]
#[expect(clippy::disallowed_methods, reason = "a test about files on disk, not a flow")]
fn no_test_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cycle");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed");
    }
}
