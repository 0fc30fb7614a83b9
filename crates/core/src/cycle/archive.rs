//! The archive of cycles: names that are never used twice (CY-75, CY-76, CY-78, CY-79).

use serde::Deserialize;
use serde::Serialize;

/// Where finished cycles are kept (K-62).
pub const FOLDER: &str = "docs/context/archive";

/// How a cycle ended, as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Suffix {
    /// It succeeded.
    None,
    /// It was paused or stopped.
    Incomplete,
    Failed,
}

impl Suffix {
    pub fn text(self) -> &'static str {
        match self {
            Suffix::None => "",
            Suffix::Incomplete => "_incomplete",
            Suffix::Failed => "_failed",
        }
    }
}

/// The path of a snapshot: `docs/context/archive/2026-01-18_cycle-007_incomplete.md`.
pub fn name(day: &str, number: u32, suffix: Suffix) -> String {
    format!("{FOLDER}/{}", file_name(day, number, suffix.text()))
}

/// The name of a snapshot with a suffix that a project chose itself.
pub fn file_name(day: &str, number: u32, suffix: &str) -> String {
    format!("{day}_cycle-{number:03}{suffix}.md")
}

/// The number for the next cycle: one more than the highest that any of the names carries, of whatever day and
/// end (E-41). Names that are not of an archive do not count.
pub fn next_number<'n>(existing: impl IntoIterator<Item = &'n str>) -> u32 {
    existing.into_iter().filter_map(number_of).max().unwrap_or(0).saturating_add(1)
}

/// The number in the name of a snapshot.
pub fn number_of(name: &str) -> Option<u32> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let (_, rest) = file.strip_suffix(".md")?.split_once("_cycle-")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // CY-75, CY-76, CY-78
    #[test]
    fn cy_75_cy_76_cy_78_names_say_how_the_cycle_ended() {
        for (suffix, path) in [
            (Suffix::None, "docs/context/archive/2026-01-18_cycle-007.md"),
            (Suffix::Incomplete, "docs/context/archive/2026-01-18_cycle-007_incomplete.md"),
            (Suffix::Failed, "docs/context/archive/2026-01-18_cycle-007_failed.md"),
        ] {
            assert_eq!(name("2026-01-18", 7, suffix), path);
            assert_eq!(number_of(path), Some(7));
        }
    }

    // E-41, CY-79
    #[test]
    fn e_41_cy_79_a_number_is_never_used_twice() {
        assert_eq!(next_number([]), 1);
        let existing = [
            "2026-01-18_cycle-001.md",
            "docs/context/archive/2026-01-18_cycle-003_failed.md",
            "2025-12-31_cycle-002_incomplete.md",
            "20251231_120000_schema.md",
            "README.md",
            "2026-01-18_cycle-.md",
        ];
        assert_eq!(next_number(existing), 4);
        assert_eq!(next_number(["2026-01-18_cycle-999.md"]), 1000);
        assert_eq!(name("2026-01-18", 1000, Suffix::None), "docs/context/archive/2026-01-18_cycle-1000.md");
        assert_eq!(next_number([name("2026-01-18", 1000, Suffix::None).as_str()]), 1001);
    }
}
