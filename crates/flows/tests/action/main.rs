//! The whole action dialect at the seam of this crate: documents in, requests and their outcomes by hand, and every
//! question, call, fact and end looked at.
//!
//! What holds for every run is checked by [`story`] and the stage: a replay makes the same requests, every fact has a sentence,
//! and every run can be shown.

#[cfg(test)]
mod beginning;
#[cfg(test)]
mod broken_files;
#[cfg(test)]
mod cancelling;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod known_holes;
#[cfg(test)]
mod options;
#[cfg(test)]
mod promise;
#[cfg(test)]
mod reviewing;
#[cfg(test)]
mod rollback;
#[cfg(test)]
mod stages;
#[cfg(test)]
mod story;
#[cfg(test)]
mod trouble;
#[cfg(test)]
mod world;

#[cfg(test)]
#[path = "../support/stage.rs"]
mod stage;

#[test]
#[expect(clippy::disallowed_methods, reason = "a test about files on disk, not a flow")]
fn no_test_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/action");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed");
    }
}
