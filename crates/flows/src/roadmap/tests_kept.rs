//! Tests that are minded: what was red must not be rewritten, put off or thrown away to become green.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use seriatim_core::evidence::loading;
use seriatim_core::evidence::scenarios;
use seriatim_core::hash::Hash;
use seriatim_core::roadmap::proof::GateFile;
use seriatim_core::roadmap::proof::LoaderFile;
use seriatim_core::roadmap::proof::Sort;
use seriatim_core::roadmap::proof::TestFile;

use super::work::RedTest;
use super::work::Work;
use crate::Cx;
use crate::request::Difference;
use crate::request::GitCall;
use crate::request::Shown;

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

    /// The files that decide how tests are loaded, then and now: those that the step changed, and those that it had
    /// changed when the tests were red.
    pub(super) async fn loader_files(&self, cx: &Cx, difference: &Difference) -> Vec<LoaderFile> {
        let touched = difference.files.iter().flat_map(|f| std::iter::once(&f.path).chain(&f.old_path));
        let touched = touched.filter(|path| loading::may_be_loaded_with_tests(path)).cloned();
        let paths: BTreeSet<String> = touched.chain(self.memory.red_loaders.keys().cloned()).collect();
        let paths: Vec<String> = paths.into_iter().collect();
        if paths.is_empty() {
            return vec![];
        }
        let (at, tree) = (self.memory.base_tree.clone(), self.place.tree.clone());
        let base: Shown = cx.git(GitCall::Show { at, paths: paths.clone(), tree }).await.unwrap_or_default();
        let mut base = base.into_iter();
        let part =
            |path: &str, text: &str| loading::loaded_part(path, text).map(|part| Hash::of(part.as_bytes()));
        let mut files = vec![];
        for path in paths {
            let began = base.next().flatten().and_then(|text| part(&path, &text.text));
            let now = cx.read(&self.place.at(&path)).await.ok().and_then(|text| part(&path, &text.text));
            let red = self.memory.red_loaders.get(&path).copied();
            files.push(LoaderFile { before: red.unwrap_or(began), path, now });
        }
        files
    }

    /// Whether what loads the tests is fixed by now: they were red, or they never will be and the step does not name the
    /// file as its work.
    pub(super) fn holds_loader(&self, sort: Sort, file: &LoaderFile) -> bool {
        let was_red = !self.memory.red_tests.is_empty();
        sort.is_after_red() && (was_red || !self.is_named(&file.path))
    }

    /// Keeps in mind how the tests are, now that they are red for a good reason.
    pub(super) fn remember_red(&mut self, files: &[TestFile], loaders: &[LoaderFile]) {
        self.memory.red_loaders = loaders.iter().map(|file| (file.path.clone(), file.now)).collect();
        let now = files.iter().filter_map(|file| Some((file.path.clone(), file.now.clone()?)));
        let kept: BTreeMap<String, RedTest> =
            now.map(|(path, (hash, text))| (path, RedTest::of(hash, text))).collect();
        self.memory.red_tests = kept;
    }

    /// The user's own hooks may format tests that were red: what they left is what counts from now on. The agent has no say
    /// in it, since hooks run on what was proven before.
    pub(super) async fn follow_hooks(&mut self, cx: &Cx, changed: &[String]) {
        for path in changed {
            if !self.memory.red_tests.contains_key(path) && !self.memory.red_loaders.contains_key(path) {
                continue;
            }
            let Ok(now) = cx.read(&self.place.at(path)).await else { continue };
            if let Some(part) = self.memory.red_loaders.get_mut(path) {
                *part = loading::loaded_part(path, &now.text).map(|part| Hash::of(part.as_bytes()));
            }
            if let Some(red) = self.memory.red_tests.get_mut(path) {
                *red = RedTest::of(now.hash, now.text);
            }
        }
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
