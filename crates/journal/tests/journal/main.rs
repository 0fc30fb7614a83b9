//! The journal from the outside: what it promises to those who write and to those who check.
//!
//! The modules are marked as tests so that their helpers may unwrap as tests do.

#[cfg(test)]
mod book;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod chain;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod erase;
#[cfg(test)]
mod lease;
#[cfg(test)]
mod open;
#[cfg(test)]
mod place;
#[cfg(test)]
mod property;
#[cfg(test)]
mod standings;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tamper;

/// A file that is not listed above would compile and never run.
#[test]
fn no_test_file_is_forgotten() {
    let listed = include_str!("main.rs");
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journal");
    for file in std::fs::read_dir(dir).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed");
    }
}
