//! The whole roadmap dialect at the seam of this crate: requests and their outcomes by hand, and every fact, save,
//! commit, question and end looked at.

#[cfg(test)]
mod beginning;
#[cfg(test)]
mod calling;
#[cfg(test)]
mod cancelling;
#[cfg(test)]
mod committing;
#[cfg(test)]
mod generations;
#[cfg(test)]
mod green;
#[cfg(test)]
mod holes;
#[cfg(test)]
mod parallel;
#[cfg(test)]
mod promise;
#[cfg(test)]
mod red;
#[cfg(test)]
mod repository;
#[cfg(test)]
mod reviewing;
#[cfg(test)]
mod runner;
#[cfg(test)]
mod sequential;
#[cfg(test)]
#[path = "../support/stage.rs"]
mod stage;
#[cfg(test)]
mod state;
#[cfg(test)]
mod story;
#[cfg(test)]
mod world;

#[test]
#[expect(clippy::disallowed_methods, reason = "a test about files on disk, not a flow")]
fn no_test_file_is_forgotten() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/roadmap");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed");
    }
}
