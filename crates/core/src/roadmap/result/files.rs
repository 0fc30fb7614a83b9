//! The files that a step changed, sorted by what they are (DW-69, DW-70).

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;

/// A file that differs between the step's base and its last commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: String,
    /// It is there no more.
    pub deleted: bool,
}

/// What is on record under a complete step. Later checks of the tests take their scope from it (DW-71).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesModified {
    pub implementation: Vec<String>,
    pub tests: Vec<String>,
}

/// Where a file belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Implementation,
    Tests,
    Other,
}

/// The first folder on the way to a file that says what it is, says it: under `src` or `lib` is implementation, under
/// `tests` are tests. Files that only mark a package are none.
fn sort(path: &str) -> Sort {
    let mut parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let name = parts.pop().unwrap_or_default();
    let said = parts.iter().find_map(|part| match *part {
        "src" | "lib" => Some(Sort::Implementation),
        "tests" => Some(Sort::Tests),
        _ => None,
    });
    match said {
        Some(Sort::Implementation) if name == "__init__.py" => Sort::Other,
        Some(sort) => sort,
        None => Sort::Other,
    }
}

impl FilesModified {
    /// Sorts the files that changed since the commit at which the step began (K-35, E-51). Deleted ones are left out:
    /// there is nothing of them to look at (E-52).
    pub fn of<'f>(files: impl IntoIterator<Item = &'f ChangedFile>) -> FilesModified {
        let there: BTreeSet<&str> =
            files.into_iter().filter(|file| !file.deleted).map(|file| file.path.as_str()).collect();
        let of = |wanted: Sort| {
            there.iter().filter(|path| sort(path) == wanted).map(|p| (*p).to_owned()).collect()
        };
        FilesModified { implementation: of(Sort::Implementation), tests: of(Sort::Tests) }
    }

    /// Both records together, each file once.
    #[must_use]
    pub fn plus(&self, other: &FilesModified) -> FilesModified {
        let both = |a: &[String], b: &[String]| {
            let all: BTreeSet<&String> = a.iter().chain(b).collect();
            all.into_iter().cloned().collect()
        };
        FilesModified {
            implementation: both(&self.implementation, &other.implementation),
            tests: both(&self.tests, &other.tests),
        }
    }
}

/// The implementation files of all steps, each once (DW-71).
pub fn mutation_scope<'f>(steps: impl IntoIterator<Item = &'f FilesModified>) -> Vec<String> {
    let all = steps.into_iter().fold(FilesModified::default(), |all, step| all.plus(step));
    all.implementation
}
