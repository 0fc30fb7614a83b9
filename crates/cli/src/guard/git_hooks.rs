//! The hooks of git: two small scripts that ask the commit gate, and that let an earlier hook have its say first.

use std::path::Path;
use std::path::PathBuf;

use seriatim_core::guard::git_hook::SIGNATURE;
use seriatim_core::guard::git_hook::is_signed;
use seriatim_core::hash::Hash;
use seriatim_engine::guard::Kept;
use seriatim_engine::hands::files::Expect;

use super::change;
use super::change::Act;
use super::plan::Change;
use super::plan::named;
use super::program;
use crate::error::CommandError;
use crate::error::Result;

pub(super) const NAMES: [&str; 2] = ["pre-commit", "pre-push"];
/// What is added to the name of a hook that was there before.
const BEFORE: &str = ".before-seriatim";
const MODE: u32 = 0o755;

/// Where a repository has its hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) folder: PathBuf,
    /// The value of core.hooksPath, where there is one.
    pub(super) configured: Option<String>,
    /// Files in it are part of what is committed.
    pub(super) tracked: bool,
    /// The project, as seen from the top of the repository, where git starts its hooks.
    below: PathBuf,
}

/// What is found under the name of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    There,
    /// It is ours, but not as it should be.
    Altered,
    NotExecutable,
    /// Somebody else's.
    Foreign,
    Missing,
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            State::There => "there",
            State::Altered => "altered",
            State::NotExecutable => "not executable",
            State::Foreign => "somebody else's",
            State::Missing => "missing",
        }
    }
}

impl Place {
    /// Nothing where the project is in no repository with a working tree.
    pub(super) fn of(root: &Path) -> Option<Place> {
        let line = |argv: &[&str]| Some(program::said(root, argv)?.trim_end_matches('\n').to_owned());
        let top = PathBuf::from(line(&["git", "rev-parse", "--show-toplevel"])?);
        // From the top, because a relative core.hooksPath is meant from there.
        let top_text = top.to_str()?;
        let hooks = line(&["git", "-C", top_text, "rev-parse", "--git-path", "hooks"])?;
        let folder = top.join(hooks);
        let configured = line(&["git", "-C", top_text, "config", "--get", "core.hooksPath"]);
        let listed =
            folder.to_str().and_then(|folder| line(&["git", "-C", top_text, "ls-files", "--", folder]));
        let below = root.strip_prefix(&top).unwrap_or(Path::new("")).to_owned();
        Some(Place { folder, configured, tracked: listed.is_some_and(|files| !files.is_empty()), below })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn earlier(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{BEFORE}"))
    }

    /// The script of a hook.
    pub(super) fn script(&self, name: &str) -> String {
        let (keep, give, gate, what) = if name == "pre-push" {
            let keep = "# Both get what git says on standard input.\n\
                        refs=$(cat)\n\
                        refs() { [ -z \"$refs\" ] || printf '%s\\n' \"$refs\"; }\n";
            (keep, "refs | ", "commit-gate --push", "push")
        } else {
            ("", "", "commit-gate", "commit")
        };
        let workspace = match self.below.to_str() {
            None | Some("") => String::new(),
            Some(below) => format!(" --workspace {}", quoted(below)),
        };
        let rest = if name == "pre-push" { " \"$@\"" } else { "" };
        let end = if give.is_empty() { "exec " } else { give };
        format!(
            "#!/bin/sh\n\
             {SIGNATURE}{name}. `seriatim guard uninstall` takes it away.\n\
             {keep}\
             # A hook that was here before comes first, and its no counts.\n\
             earlier=\"$(dirname \"$0\")/{name}{BEFORE}\"\n\
             if [ -x \"$earlier\" ]; then\n\
             \x20   if grep -q 'dirname \"$0\")/h\"' \"$earlier\"; then\n\
             \x20       # Husky tells by the name of the script what to run.\n\
             \x20       {give}EARLIER=\"$earlier\" sh -c '. \"$EARLIER\"' \"$0\" \"$@\" || exit $?\n\
             \x20   else\n\
             \x20       {give}\"$earlier\" \"$@\" || exit $?\n\
             \x20   fi\n\
             fi\n\
             if ! command -v seriatim >/dev/null 2>&1; then\n\
             \x20   echo 'seriatim: this project is guarded, but the program seriatim is not on PATH: the {what} is refused.' >&2\n\
             \x20   echo 'seriatim: install it or mend PATH; a person can end the guard with seriatim guard uninstall.' >&2\n\
             \x20   exit 1\n\
             fi\n\
             {end}seriatim {gate}{workspace}{rest}\n"
        )
    }

    pub(super) fn state(&self, name: &str) -> State {
        let path = self.path(name);
        let script = self.script(name);
        let Ok(bytes) = std::fs::read(&path) else {
            return if path.symlink_metadata().is_ok() { State::Foreign } else { State::Missing };
        };
        if bytes == script.as_bytes() {
            return if program::is_executable(&path) { State::There } else { State::NotExecutable };
        }
        // The framework of the name pre-commit moves a hook aside and calls it from there.
        let aside = self.folder.join(format!("{name}.legacy"));
        if std::fs::read(&aside).is_ok_and(|bytes| bytes == script.as_bytes())
            && program::is_executable(&aside)
        {
            return State::There;
        }
        if is_signed(&bytes) { State::Altered } else { State::Foreign }
    }

    /// Puts the hooks in.
    pub(super) fn install(&self, root: &Path, kept: &[Kept]) -> Result<(Vec<Change>, Vec<Kept>)> {
        let mut changes = vec![];
        let mut ours = vec![];
        for name in NAMES {
            let path = self.path(name);
            let shown = named(root, &path);
            let script = self.script(name);
            let known = kept.iter().find(|kept| kept.path == shown);
            let folders = change::missing_folders(&path).iter().map(|folder| named(root, folder)).collect();
            ours.push(Kept {
                path: shown.clone(),
                original: None,
                ours: Hash::of(script.as_bytes()),
                folders: known.map_or(folders, |known| known.folders.clone()),
            });
            let mut lines = vec![];
            let mut acts = vec![];
            match self.state(name) {
                State::There => continue,
                State::Missing => lines.push(format!("+ asks `seriatim commit-gate` at each {}", word(name))),
                State::Altered | State::NotExecutable => {
                    self.belongs_here(&path, &script)?;
                    lines.push("~ is written anew, as it should be".to_owned());
                }
                State::Foreign => {
                    let earlier = self.earlier(name);
                    if earlier.symlink_metadata().is_ok() {
                        return Err(both(root, &path, &earlier));
                    }
                    lines.push(format!("> kept as {name}{BEFORE}, and run first"));
                    lines.push(format!("+ asks `seriatim commit-gate` at each {}", word(name)));
                    acts.push(Act::Move { from: path.clone(), to: earlier });
                }
            }
            acts.push(Act::Write { path, bytes: script.into_bytes(), mode: Some(MODE), expect: Expect::Any });
            changes.push(Change { path: shown, lines, acts });
        }
        Ok((changes, ours))
    }

    /// A hook that guards another folder of the same repository is not taken away from it.
    fn belongs_here(&self, path: &Path, script: &str) -> Result<()> {
        let gate =
            |text: &str| text.lines().find(|line| line.contains("seriatim commit-gate")).map(str::to_owned);
        let there = std::fs::read_to_string(path).unwrap_or_default();
        let folder =
            |line: Option<String>| line.and_then(|line| Some(line.split_once("--workspace ")?.1.to_owned()));
        if folder(gate(&there)) == folder(gate(script)) || gate(&there).is_none() {
            return Ok(());
        }
        Err(CommandError::usage(format!("{} guards another folder of this repository", path.display())).hint(
            "one folder of a repository can be guarded; uninstall the guard there first, or guard the top",
        ))
    }
}

/// Takes the hooks out that were put in. What somebody else put in their place is left alone, and said.
pub(super) fn uninstall(root: &Path, kept: &[Kept], place: Option<&Place>) -> (Vec<Change>, Vec<String>) {
    let (mut changes, mut warnings) = (vec![], vec![]);
    for kept in kept {
        let path = root.join(&kept.path);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let earlier = path.with_file_name(format!("{name}{BEFORE}"));
        let mut change = Change { path: kept.path.clone(), lines: vec![], acts: vec![] };
        let is_ours = |bytes: &[u8]| {
            let script = place.map(|place| place.script(&name));
            Hash::of(bytes) == kept.ours || script.is_some_and(|script| script.as_bytes() == bytes)
        };
        match std::fs::read(&path) {
            Ok(bytes) if is_ours(&bytes) => {
                change.lines.push("- removed".to_owned());
                change.acts.push(Act::Remove { path: path.clone() });
            }
            Ok(_) => {
                let aside = path.with_file_name(format!("{name}.legacy"));
                if std::fs::read(&aside).is_ok_and(|bytes| is_ours(&bytes)) {
                    change.path = named(root, &aside);
                    change.lines.push("- removed".to_owned());
                    change.acts.push(Act::Remove { path: aside });
                    changes.push(change);
                } else {
                    warnings.push(format!("{} is no longer the guard's, so it is left as it is", kept.path));
                }
                if earlier.exists() {
                    let beside = named(root, &earlier);
                    warnings.push(format!("{beside} is the hook from before the guard; it is left there"));
                }
                continue;
            }
            Err(_) => {}
        }
        if earlier.symlink_metadata().is_ok() {
            change.lines.push(format!("< {name}{BEFORE} is put back"));
            change.acts.push(Act::Move { from: earlier, to: path });
        }
        let folders = kept.folders.iter().rev().map(|folder| Act::RemoveFolder { path: root.join(folder) });
        change.acts.extend(folders);
        if !change.lines.is_empty() {
            changes.push(change);
        }
    }
    (changes, warnings)
}

/// The hooks that are ours by their signature, for when nothing tells which were put in.
pub(super) fn discover(root: &Path, place: &Place) -> Vec<Kept> {
    let found = |name: &&str| {
        let path = place.path(name);
        let bytes = std::fs::read(&path).ok().filter(|bytes| is_signed(bytes))?;
        Some(Kept { path: named(root, &path), original: None, ours: Hash::of(&bytes), folders: vec![] })
    };
    NAMES.iter().filter_map(found).collect()
}

fn word(name: &str) -> &str {
    name.trim_start_matches("pre-")
}

fn both(root: &Path, hook: &Path, earlier: &Path) -> CommandError {
    let (hook, earlier) = (named(root, hook), named(root, earlier));
    CommandError::usage(format!("{hook} is not the guard's, and {earlier} holds an earlier hook already"))
        .hint(format!("put one of them away, or merge them into {hook}; then install again"))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
