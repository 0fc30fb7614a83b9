//! The real hands, on a real machine: processes, files, git and snapshots.

#[cfg(test)]
mod attempts;
#[cfg(test)]
mod confinement;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod interrupted;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod merging;
#[cfg(test)]
mod overlay;
#[cfg(test)]
mod repository;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod support;
#[cfg(test)]
mod walls;
#[cfg(test)]
mod world_endings;
#[cfg(test)]
mod world_refusals;
#[cfg(test)]
mod world_site;
#[cfg(test)]
mod world_views;

#[test]
fn no_test_file_is_forgotten() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hands");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed");
    }
}
