//! Tests that are minded: what was red must not be rewritten, put off or thrown away to become green.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use seriatim_core::evidence::scenarios;
use seriatim_core::roadmap::proof::GateFile;
use seriatim_core::roadmap::proof::TestFile;

use super::work::RedTest;
use super::work::Work;
use crate::Cx;
use crate::request::Difference;
use crate::request::GitCall;
use crate::request::Shown;

/// Longer tests are known by their hash alone from one run to the next.
const KEPT_BYTES_MAX: usize = 256 << 10;

impl Work<'_> {
    /// Whether the step names a file as one of its tests.
    pub(super) fn is_test(&self, path: &str) -> bool {
        let named = self.step.test_file.as_deref().map(plain).is_some_and(|file| file == path);
        let listed = self.step.files.tests.iter().flatten().any(|file| plain(file) == path);
        named || listed
    }

    /// The files with tests that the step has touched or names.
    fn test_paths(&self, difference: &Difference) -> BTreeSet<String> {
        let mut paths: BTreeSet<String> = self.memory.red_tests.keys().cloned().collect();
        paths.extend(self.step.test_file.as_deref().map(|file| plain(file).to_owned()));
        let touched = difference.files.iter().flat_map(|f| std::iter::once(&f.path).chain(&f.old_path));
        paths.extend(touched.filter(|path| scenarios::is_readable(path)).cloned());
        paths
    }

    /// The tests at three moments: at the step's base, when they were red, and now.
    pub(super) async fn test_files(&self, cx: &Cx, difference: &Difference) -> Vec<TestFile> {
        let paths: Vec<String> = self.test_paths(difference).into_iter().collect();
        if paths.is_empty() {
            return vec![];
        }
        let (at, tree) = (self.memory.base_tree.clone(), self.place.tree.clone());
        let base: Shown = cx.git(GitCall::Show { at, paths: paths.clone(), tree }).await.unwrap_or_default();
        let mut base = base.into_iter();
        let mut files = vec![];
        for path in paths {
            let before = base.next().flatten().map(|text| text.text);
            let now = cx.read(&self.place.at(&path)).await.ok().map(|text| (text.hash, text.text));
            let red = self.memory.red_tests.get(&path).map(|red| (red.hash, red.text.clone()));
            let holds_tests =
                |text: Option<&String>| text.is_some_and(|text| !scenarios::tests_in(text, &path).is_empty());
            let is_test = red.is_some()
                || self.is_test(&path)
                || holds_tests(before.as_ref())
                || holds_tests(now.as_ref().map(|(_, text)| text));
            if is_test {
                files.push(TestFile { path, base: before, red, now });
            }
        }
        files
    }

    /// Keeps in mind how the tests are, now that they are red for a good reason.
    pub(super) fn remember_red(&mut self, files: &[TestFile]) {
        let now = files.iter().filter_map(|file| Some((file.path.clone(), file.now.clone()?)));
        let kept: BTreeMap<String, RedTest> = now
            .map(|(path, (hash, text))| {
                let text = if text.len() > KEPT_BYTES_MAX { String::new() } else { text };
                (path, RedTest { hash, text })
            })
            .collect();
        self.memory.red_tests = kept;
    }

    /// The files of the gates as they were pinned and as they are.
    pub(super) async fn gate_files(&self, cx: &Cx) -> Vec<GateFile> {
        let mut files = vec![];
        for (gate, path, base) in &self.memory.gate_files {
            let now = cx.read(&self.place.at(path)).await.ok().map(|text| text.hash);
            files.push(GateFile { gate: gate.clone(), path: path.clone(), base: *base, now });
        }
        files
    }
}

/// A test file as it is named, without the test in it: `tests/test_a.py::test_x`.
pub(super) fn plain(file: &str) -> &str {
    file.split("::").next().unwrap_or(file)
}
