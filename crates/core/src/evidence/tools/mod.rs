//! One reader for each tool. A reader answers `Found::default()` where the output is not of its tool.

mod cargo;
mod go;
mod jest;
mod junit;
mod kinds;
mod nextest;
mod panics;
mod pytest;
mod tap;
mod unittest;
mod vitest;

use super::found::Found;

/// What the tools that can be recognised said. Several may have spoken, one after the other.
pub(super) fn recognise(output: &str, exit: Option<i32>) -> Found {
    if output.trim_start().starts_with('<') {
        return junit::read(output);
    }
    let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
    // The output of nextest holds that of the test binaries, which must not be counted twice. Around it cargo may have run
    // others, such as those in documents.
    let rust = match nextest::read(&lines) {
        Found { tool: None, .. } => cargo::read(&lines),
        found => found.and(cargo::read(&nextest::around(&lines))),
    };
    rust.and(pytest::read(&lines, exit))
        .and(unittest::read(&lines))
        .and(go::read(&lines))
        .and(jest::read(&lines))
        .and(vitest::read(&lines))
        .and(tap::read(&lines))
}
