//! The whole process dialect at the seam of this crate: documents in, requests and their outcomes by hand, and every
//! question, agent call, file and end looked at.
//!
//! What holds for every run is checked by the harness itself, in [`proof`], and so holds for every test here.

#[cfg(test)]
mod beginning;
#[cfg(test)]
mod blocking;
#[cfg(test)]
mod build;
#[cfg(test)]
mod cancelling;
#[cfg(test)]
mod deferring;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod engagement;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod escalating;
#[cfg(test)]
mod example;
#[cfg(test)]
mod opening;
#[cfg(test)]
mod parameters;
#[cfg(test)]
mod patterns;
#[cfg(test)]
mod persisting;
#[cfg(test)]
mod promise;
#[cfg(test)]
mod proof;
#[cfg(test)]
mod records;
#[cfg(test)]
mod rehearsing;
#[cfg(test)]
mod returning;
#[cfg(test)]
#[path = "../support/world_stage.rs"]
mod stage;
#[cfg(test)]
mod story;
#[cfg(test)]
mod timing;
#[cfg(test)]
mod walks;
#[cfg(test)]
mod world;

#[test]
#[expect(clippy::disallowed_methods, reason = "a test about files on disk, not a flow")]
fn no_test_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed");
    }
}
