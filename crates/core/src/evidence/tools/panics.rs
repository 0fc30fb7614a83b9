//! Panics of Rust, as the standard library prints them.

use crate::evidence::Kind;
use crate::evidence::text;

/// One panic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Panic {
    pub(super) thread: String,
    pub(super) place: Option<(String, u32)>,
    pub(super) message: String,
}

impl Panic {
    pub(super) fn place(&self) -> Option<(&str, u32)> {
        self.place.as_ref().map(|(file, line)| (file.as_str(), *line))
    }
}

/// Puts panics together from lines: the message stands on the line after the place.
#[derive(Default)]
pub(super) struct Panics {
    open: Option<Panic>,
}

impl Panics {
    pub(super) fn line(&mut self, line: &str) -> Option<Panic> {
        let line = line.trim();
        if let Some(panic) = header(line) {
            if panic.message.is_empty() {
                self.open = Some(panic);
                return None;
            }
            return Some(panic);
        }
        if line.is_empty() {
            return None;
        }
        let mut panic = self.open.take()?;
        panic.message = text::short(line);
        Some(panic)
    }
}

/// `thread 'tests::a' (123) panicked at src/lib.rs:9:27:`, and `thread 'a' panicked at 'message', src/lib.rs:9:27`
/// as it was before Rust 1.73.
fn header(line: &str) -> Option<Panic> {
    let (thread, rest) = line.strip_prefix("thread '")?.split_once("' ")?;
    let rest = match rest.strip_prefix('(') {
        Some(id) => id.split_once(") ")?.1,
        None => rest,
    };
    let at = rest.strip_prefix("panicked at ")?;
    let owned = |place: &str| text::place(place).map(|((file, line), _)| (file.to_owned(), line));
    let (message, place) = match at.strip_prefix('\'') {
        Some(old) => {
            let (message, place) = old.rsplit_once("', ")?;
            (text::short(message), owned(place))
        }
        None => (String::new(), owned(at)),
    };
    Some(Panic { thread: thread.to_owned(), place, message })
}

/// Panics of the language and its library. They come from a fault in the code, or in the set-up of the test, and not
/// from a comparison that the test made.
const OF_THE_LANGUAGE: [&str; 14] = [
    "called `Option::",
    "called `Result::",
    "index out of bounds",
    "attempt to ",
    "range start index",
    "range end index",
    "slice index",
    "byte index",
    "start byte index",
    "end byte index",
    "already borrowed",
    "already mutably borrowed",
    "internal error: entered unreachable code",
    "capacity overflow",
];

/// Why `test` failed with this panic.
///
/// The text of `assert!(holds, "a message")` cannot be told from that of any other panic. A message in own words
/// counts as an assertion where the panic was raised in a file of tests, or in the file in which the test itself
/// stands; elsewhere it is an error of the code under test.
pub(super) fn kind_of(panic: &Panic, test: &str) -> Kind {
    let message = panic.message.strip_prefix("Test failed: ").unwrap_or(&panic.message);
    if message.starts_with("not yet implemented") || message.starts_with("not implemented") {
        return Kind::Missing;
    }
    if message.starts_with("assertion ") || message.starts_with("snapshot assertion") {
        return Kind::Assertion;
    }
    // What the operating system refused is never a matter of the code's behaviour.
    if message.contains("Os { code: ") {
        return Kind::Setup;
    }
    let raised_by_test = panic.place().is_some_and(|(file, _)| is_file_of_test(file, test));
    if OF_THE_LANGUAGE.iter().any(|start| message.starts_with(start)) || !raised_by_test {
        return Kind::Error;
    }
    Kind::Assertion
}

fn is_file_of_test(file: &str, test: &str) -> bool {
    let mut folders: Vec<&str> = file.split(['/', '\\']).collect();
    let stem = folders.pop().unwrap_or_default().trim_end_matches(".rs");
    let named_so = matches!(stem, "tests" | "test")
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests");
    if named_so || folders.contains(&"tests") {
        return true;
    }
    let mut modules: Vec<&str> = test.split("::").collect();
    modules.pop();
    while modules.last().is_some_and(|module| matches!(*module, "tests" | "test")) {
        modules.pop();
    }
    match modules.last() {
        Some(module) => stem == *module || (stem == "mod" && folders.last() == Some(module)),
        None => matches!(stem, "lib" | "main"),
    }
}
