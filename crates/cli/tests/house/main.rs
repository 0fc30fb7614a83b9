//! The rules of the house, run instead of remembered.

#[cfg(test)]
mod dialects;
#[cfg(test)]
mod licences;
#[cfg(test)]
mod ports;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod walls;

#[test]
fn no_test_file_is_forgotten() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/house");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed");
    }
}
