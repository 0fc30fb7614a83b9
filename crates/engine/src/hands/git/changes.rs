//! What has changed since a commit or tree, file by file and as a unified diff.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;

use crate::hands::files::Entry;
use crate::hands::files::Kind;
use crate::hands::git::Git;
use crate::hands::git::GitError;
use crate::hands::git::Invocation;
use crate::hands::git::unreadable;

const COMMAND: &str = "diff-tree";
const SYMLINK: u32 = 0o120_000;
/// As much of a file is looked at to tell text from other content.
const BINARY_BYTES: usize = 64 << 10;

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Relative to the workspace.
    pub path: String,
    /// Where it was before a renaming.
    pub old_path: Option<String>,
    pub kind: ChangeKind,
    /// As git writes it: `100644`, `100755`, `120000` for a link, `160000` for a repository inside; 0 for nothing.
    pub old_mode: u32,
    pub new_mode: u32,
    pub binary: bool,
    /// Lines; zero for binary files.
    pub added: u64,
    pub deleted: u64,
    /// Where a link leads now.
    pub target: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
    Renamed,
    /// A file became a link, a link a repository, and so on.
    TypeChanged,
    /// Only the executable bit differs.
    ModeChanged,
}

/// A unified diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    pub text: String,
    /// There was more than the limit allowed.
    pub cut: bool,
}

impl Git<'_> {
    /// What differs between `base` (a commit or a tree; nothing means the empty tree) and the working tree as it is
    /// now, untracked files included.
    pub fn changes_since(&self, base: Option<&str>) -> Result<Vec<Change>, GitError> {
        let tree = self.tree()?;
        self.changes_between(base, &tree)
    }

    /// What differs between two commits or trees.
    pub fn changes_between(&self, base: Option<&str>, tree: &str) -> Result<Vec<Change>, GitError> {
        let env = self.objects_env()?;
        let base = self.base(base, &env)?;
        let tree = self.base(Some(tree), &env)?;
        let options = ["--raw", "--numstat", "-z", "--relative"];
        let printed = self.text(Invocation::read(&diff_tree(&options, &base, &tree)).env(&env))?;
        let mut changes = parse(&printed)?;
        self.count_blinded(&base, &tree, &mut changes, &env)?;
        for change in &mut changes {
            if change.new_mode == SYMLINK {
                let entry = self.files.look(&self.workspace.root().join(&change.path))?;
                if let Some(Entry { kind: Kind::Symlink(target), .. }) = entry {
                    change.target = Some(target);
                }
            }
        }
        Ok(changes)
    }

    /// The unified diff of the same, whole lines up to the limit.
    pub fn diff_since(
        &self,
        base: Option<&str>,
        paths: &[String],
        limit_bytes: usize,
    ) -> Result<Diff, GitError> {
        let tree = self.tree()?;
        self.diff_between(base, &tree, paths, limit_bytes)
    }

    /// The unified diff between two commits or trees, whole lines up to the limit. Text is shown as text, whatever the
    /// attributes of the repository call it.
    pub fn diff_between(
        &self,
        base: Option<&str>,
        tree: &str,
        paths: &[String],
        limit_bytes: usize,
    ) -> Result<Diff, GitError> {
        let changes = self.changes_between(base, tree)?;
        let is_asked = |change: &&Change| {
            let is_below =
                |path: &String| change.path == *path || change.path.starts_with(&format!("{path}/"));
            paths.is_empty() || paths.iter().any(is_below)
        };
        let (binary, text): (Vec<&Change>, Vec<&Change>) =
            changes.iter().filter(is_asked).partition(|change| change.binary);
        let names = |changes: &[&Change]| -> Vec<String> {
            changes.iter().flat_map(|c| std::iter::once(&c.path).chain(&c.old_path)).cloned().collect()
        };
        let mut whole = Diff { text: String::new(), cut: false };
        for (list, option) in [(text, "--text"), (binary, "--no-textconv")] {
            if list.is_empty() || whole.cut {
                continue;
            }
            let room = limit_bytes.saturating_sub(whole.text.len());
            let part = self.patch(base, tree, option, &names(&list), room)?;
            whole.text.push_str(&part.text);
            whole.cut = part.cut;
        }
        Ok(whole)
    }

    fn patch(
        &self,
        base: Option<&str>,
        tree: &str,
        option: &str,
        paths: &[String],
        limit_bytes: usize,
    ) -> Result<Diff, GitError> {
        let env = self.objects_env()?;
        let base = self.base(base, &env)?;
        let mut arguments = diff_tree(&["--patch", "--relative", option], &base, tree);
        arguments.push("--".to_owned());
        arguments.extend(paths.iter().cloned());
        let invocation = Invocation { keep_bytes: limit_bytes, ..Invocation::read(&arguments).env(&env) };
        let ended = self.run(&invocation)?;
        if !ended.success() {
            return Err(self.failure(&invocation, ended));
        }
        let cut = ended.cut();
        let mut text = ended.stdout;
        if cut {
            let end = text.rfind('\n').map_or(0, |at| at + 1);
            text.truncate(end);
        }
        Ok(Diff { text, cut })
    }
}

impl Git<'_> {
    /// Counts the lines of text that attributes of the repository declare to be binary: they have no say in what is seen.
    fn count_blinded(
        &self,
        base: &str,
        tree: &str,
        changes: &mut [Change],
        env: &[(String, String)],
    ) -> Result<(), GitError> {
        for change in changes.iter_mut().filter(|change| change.binary) {
            let old = change.old_path.as_ref().unwrap_or(&change.path);
            let sides = [(base, old), (tree, &change.path)];
            if sides.into_iter().any(|(tree, path)| self.holds_zero(tree, path, env)) {
                continue;
            }
            // Git itself counts nothing where an attribute forbids it, but it prints the lines.
            let mut arguments = diff_tree(&["--patch", "--unified=0", "--relative", "--text"], base, tree);
            arguments.push("--".to_owned());
            arguments.extend(change.old_path.iter().chain([&change.path]).cloned());
            let printed = self.text(Invocation::read(&arguments).env(env))?;
            let lines = || printed.lines().skip_while(|line| !line.starts_with("@@"));
            let count = |sign: char| lines().filter(|line| line.starts_with(sign)).count() as u64;
            (change.binary, change.added, change.deleted) = (false, count('+'), count('-'));
        }
        Ok(())
    }

    /// Whether the beginning of a file has a byte that no text has; what is not there has none.
    fn holds_zero(&self, tree: &str, path: &str, env: &[(String, String)]) -> bool {
        let object = format!("{tree}:./{path}");
        let blob = Invocation::read(&["cat-file", "blob", &object]).env(env);
        let found = self.run(&Invocation { keep_bytes: BINARY_BYTES, ..blob });
        found.is_ok_and(|ended| ended.success() && ended.stdout.contains('\0'))
    }
}

fn diff_tree(options: &[&str], base: &str, tree: &str) -> Vec<String> {
    // No program from the configuration of the repository takes part, and the user's taste in diffs does not count.
    let fixed =
        ["-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"];
    [COMMAND]
        .iter()
        .chain(&fixed)
        .chain(options)
        .chain(&[base, tree])
        .map(|word| (*word).to_owned())
        .collect()
}

/// Reads `--raw --numstat -z`: first all raw entries, then all counts.
fn parse(printed: &str) -> Result<Vec<Change>, GitError> {
    let mut fields = printed.split_terminator('\0');
    let mut changes = Vec::new();
    let mut counts: BTreeMap<String, (bool, u64, u64)> = BTreeMap::new();
    while let Some(field) = fields.next() {
        let broken = || unreadable(COMMAND, field);
        if let Some(raw) = field.strip_prefix(':') {
            changes.push(parse_raw(raw, &mut fields).ok_or_else(broken)?);
        } else {
            let (path, count) = parse_count(field, &mut fields).ok_or_else(broken)?;
            counts.insert(path, count);
        }
    }
    for change in &mut changes {
        if let Some((binary, added, deleted)) = counts.remove(&change.path) {
            (change.binary, change.added, change.deleted) = (binary, added, deleted);
        }
    }
    Ok(changes)
}

/// `100644 100755 <old> <new> M`, then the path; for renamings the old path and then the new one.
fn parse_raw<'t>(raw: &str, fields: &mut impl Iterator<Item = &'t str>) -> Option<Change> {
    let words: Vec<&str> = raw.split(' ').collect();
    let [old_mode, new_mode, old_id, new_id, letter] = words.as_slice() else { return None };
    let first = fields.next()?.to_owned();
    let (old_path, path) = match letter.chars().next()? {
        'R' | 'C' => (Some(first), fields.next()?.to_owned()),
        _ => (None, first),
    };
    let kind = match letter.chars().next()? {
        'A' | 'C' => ChangeKind::Added,
        'D' => ChangeKind::Deleted,
        'R' => ChangeKind::Renamed,
        'T' => ChangeKind::TypeChanged,
        'M' if old_id == new_id => ChangeKind::ModeChanged,
        'M' => ChangeKind::Modified,
        _ => return None,
    };
    Some(Change {
        path,
        old_path,
        kind,
        old_mode: u32::from_str_radix(old_mode, 8).ok()?,
        new_mode: u32::from_str_radix(new_mode, 8).ok()?,
        binary: false,
        added: 0,
        deleted: 0,
        target: None,
    })
}

/// `3 TAB 1 TAB path`, or `3 TAB 1 TAB` and then both paths; `-` instead of numbers for binary files.
fn parse_count<'t>(
    field: &str,
    fields: &mut impl Iterator<Item = &'t str>,
) -> Option<(String, (bool, u64, u64))> {
    let mut parts = field.splitn(3, '\t');
    let (added, deleted, path) = (parts.next()?, parts.next()?, parts.next()?);
    let path = if path.is_empty() {
        fields.next()?;
        fields.next()?.to_owned()
    } else {
        path.to_owned()
    };
    let binary = added == "-";
    let number = |text: &str| if binary { Some(0) } else { text.parse().ok() };
    Some((path, (binary, number(added)?, number(deleted)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_52_raw_entries_and_counts_are_joined_by_path() {
        let fields = [
            ":100644 100644 a b M",
            "a b\nc",
            ":000000 120000 0 d A",
            "é",
            ":100644 100755 e e M",
            "run",
            ":100644 100644 f g R090",
            "old",
            "new",
            ":100644 000000 h 0 D",
            "gone",
            "2\t1\ta b\nc",
            "1\t0\té",
            "0\t0\trun",
            "3\t4\t",
            "old",
            "new",
            "-\t-\tgone",
        ];
        let changes = parse(&fields.join("\0")).unwrap();
        let short: Vec<_> = changes
            .iter()
            .map(|it| (it.path.as_str(), it.kind, it.added, it.deleted, it.binary, it.old_path.as_deref()))
            .collect();
        assert_eq!(
            short,
            [
                ("a b\nc", ChangeKind::Modified, 2, 1, false, None),
                ("é", ChangeKind::Added, 1, 0, false, None),
                ("run", ChangeKind::ModeChanged, 0, 0, false, None),
                ("new", ChangeKind::Renamed, 3, 4, false, Some("old")),
                ("gone", ChangeKind::Deleted, 0, 0, true, None),
            ]
        );
        assert_eq!((changes[1].old_mode, changes[1].new_mode), (0, 0o120_000));
    }

    #[test]
    fn what_is_not_a_diff_is_refused() {
        for text in ["nonsense", ":1 2", ":100644 100644 a b M\0", ":100644 100644 a b Q\0p\0", "1\tx\tp\0"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
