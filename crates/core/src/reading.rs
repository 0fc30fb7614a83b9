//! A file of configuration or state as it was found: absent, read, or broken. Defaults serve absent files alone.
//!
//! Every reader of such a file goes through [`Reading`], so that a file which is there and cannot be used is never taken
//! for one that is not there.

use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;
use crate::finding::has_errors;

/// A file as it was found.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading<T> {
    /// Nothing is at the path: the default holds.
    Absent,
    Read(T),
    /// It is there and cannot be used: nothing may be done as if it were not.
    Broken(BrokenFile),
}

/// A file that is there and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenFile {
    pub path: String,
    /// Its text, as far as it could be read.
    pub text: String,
    pub findings: Vec<Finding>,
    pub flaw: Flaw,
}

/// What keeps a file from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Its content cannot be had at all, so that there is no line to point at.
    Unreadable,
    /// Something in it is wrong.
    Content,
}

impl<T> Reading<T> {
    /// Makes something else of what was read.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Reading<U> {
        self.and_then(|value| Reading::Read(make(value)))
    }

    /// Reads on in what was read.
    pub fn and_then<U>(self, read: impl FnOnce(T) -> Reading<U>) -> Reading<U> {
        match self {
            Reading::Absent => Reading::Absent,
            Reading::Read(value) => read(value),
            Reading::Broken(broken) => Reading::Broken(broken),
        }
    }

    /// Returns what was read; nothing for a file that is absent, and an error for one that is broken.
    pub fn optional(self) -> Result<Option<T>, BrokenFile> {
        match self {
            Reading::Absent => Ok(None),
            Reading::Read(value) => Ok(Some(value)),
            Reading::Broken(broken) => Err(broken),
        }
    }

    /// Returns what was read of a file that something names, so that its absence is an error too.
    pub fn required(self, path: &str, help: &str) -> Result<T, BrokenFile> {
        let absent = || BrokenFile::unreadable(path, "there is no such file", help);
        self.optional()?.ok_or_else(absent)
    }
}

impl Reading<String> {
    /// Understands a text. Errors, and a text of which nothing could be made, are a broken file; warnings are kept.
    pub fn parse<U>(
        self,
        path: &str,
        understand: impl FnOnce(&str) -> (Option<U>, Vec<Finding>),
    ) -> Reading<(U, Vec<Finding>)> {
        self.and_then(|text| match understand(&text) {
            (Some(value), findings) if !has_errors(&findings) => Reading::Read((value, findings)),
            (_, findings) => Reading::Broken(BrokenFile::of(path, text, findings)),
        })
    }

    /// The same for a reader that gives back either what it read or what is wrong.
    pub fn parse_whole<U>(
        self,
        path: &str,
        understand: impl FnOnce(&str) -> Result<U, Vec<Finding>>,
    ) -> Reading<U> {
        let both = |text: &str| match understand(text) {
            Ok(value) => (Some(value), vec![]),
            Err(findings) => (None, findings),
        };
        self.parse(path, both).map(|(value, _)| value)
    }
}

/// Returns the text of a file; one that is not UTF-8 is broken, at the line where it ceases to be.
pub fn text_of(path: &str, bytes: Vec<u8>) -> Reading<String> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Reading::Read(text),
        Err(error) => error,
    };
    let good = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(error.as_bytes().get(..good).unwrap_or_default()).into_owned();
    let line_start = text.rfind('\n').map_or(0, |newline| newline + 1);
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let place = Place {
        line: small(text.matches('\n').count() + 1),
        column: small(text.get(line_start..).unwrap_or_default().chars().count() + 1),
        start: small(good),
        end: small(good),
    };
    let finding = Finding::error("not-text", place, "this is not text: the next byte is not UTF-8")
        .help("save the file as UTF-8");
    Reading::Broken(BrokenFile::of(path, text, vec![finding]))
}

impl BrokenFile {
    /// A file in which something is wrong.
    pub fn of(path: &str, text: String, findings: Vec<Finding>) -> BrokenFile {
        BrokenFile { path: path.to_owned(), text, findings, flaw: Flaw::Content }
    }

    /// A file whose content cannot be had.
    pub fn unreadable(path: &str, why: &str, help: &str) -> BrokenFile {
        let finding = Finding::error("unreadable", Place::TOP, why).help(help);
        BrokenFile {
            path: path.to_owned(),
            text: String::new(),
            findings: vec![finding],
            flaw: Flaw::Unreadable,
        }
    }

    /// Returns everything that keeps the file from being used.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// Returns the file, the line where there is one, and what is wrong.
    pub fn headline(&self) -> String {
        let path = &self.path;
        let Some(first) = self.errors().next() else { return format!("{path} cannot be used") };
        let more = match self.errors().count() {
            0 | 1 => String::new(),
            2 => " (and 1 more error)".to_owned(),
            several => format!(" (and {} more errors)", several - 1),
        };
        match self.flaw {
            Flaw::Unreadable => format!("{path} cannot be read: {}{more}", first.message),
            Flaw::Content => format!("{path}:{}: {}{more}", first.place.line, first.message),
        }
    }

    /// Returns what a person can do about it.
    pub fn remedy(&self) -> String {
        match self.errors().next().and_then(|first| first.help.clone()) {
            Some(help) => help,
            None => format!("fix it; `seriatim check {}` shows every problem", self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> (Option<u32>, Vec<Finding>) {
        match text.trim().parse() {
            Ok(number) => (Some(number), vec![Finding::warning("style", Place::TOP, "plain")]),
            Err(_) => (None, vec![Finding::error("type", Place::TOP, "this is no number")]),
        }
    }

    #[test]
    fn only_an_absent_file_is_nothing() {
        assert_eq!(Reading::<u32>::Absent.optional(), Ok(None));
        let good = text_of("a", b"7\n".to_vec()).parse("a", number).optional().unwrap().unwrap();
        assert_eq!((good.0, good.1.len()), (7, 1));
        let bad = text_of("a", b"x".to_vec()).parse("a", number).optional().unwrap_err();
        assert_eq!(bad.headline(), "a:1: this is no number");
        assert_eq!(bad.remedy(), "fix it; `seriatim check a` shows every problem");
        let gone = Reading::<u32>::Absent.required("b", "write it").unwrap_err();
        assert_eq!(gone.headline(), "b cannot be read: there is no such file");
        assert_eq!(gone.remedy(), "write it");
    }

    #[test]
    fn bytes_that_are_no_text_have_a_line() {
        let Reading::Broken(broken) = text_of("a.yaml", b"one: 1\ntwo: \xff\n".to_vec()) else { panic!() };
        assert_eq!(broken.headline(), "a.yaml:2: this is not text: the next byte is not UTF-8");
        assert_eq!(broken.text, "one: 1\ntwo: ");
    }

    #[test]
    fn the_headline_counts_what_else_is_wrong() {
        let error = |line| Finding::error("x", Place { line, ..Place::TOP }, "wrong");
        let two = BrokenFile::of("a", String::new(), vec![error(3), error(4)]);
        assert_eq!(two.headline(), "a:3: wrong (and 1 more error)");
        let three = BrokenFile::of("a", String::new(), vec![error(3), error(4), error(5)]);
        assert_eq!(three.headline(), "a:3: wrong (and 2 more errors)");
    }
}
