//! The command line of git.

use super::Disarm;
use super::GitUse;
use super::Seen;
use super::Verb;

/// Options of git itself that take the next word.
const VALUED: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--attr-source"];

/// The setting that says where git looks for hooks. Names of settings know no case.
const HOOKS_PATH: &str = "core.hookspath";

/// What was said before the verb.
#[derive(Default)]
struct Before {
    dir: Option<String>,
    hooks_path: Option<String>,
    aliases: Vec<(String, String)>,
}

impl Before {
    fn set(&mut self, setting: &str) {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let name = name.to_ascii_lowercase();
        if name == HOOKS_PATH {
            self.hooks_path = Some(value.to_owned());
        } else if let Some(alias) = name.strip_prefix("alias.") {
            self.aliases.push((alias.to_owned(), value.to_owned()));
        }
    }
}

pub(super) fn look(arguments: &[String], assigned: &[(String, String)], dir: Option<&str>, seen: &mut Seen) {
    let mut before = Before { dir: dir.map(str::to_owned), ..Before::default() };
    for (name, value) in assigned {
        // Settings may come through the environment, as numbered names and values.
        if name.starts_with("GIT_CONFIG_KEY_") && value.eq_ignore_ascii_case(HOOKS_PATH) {
            let number = name.trim_start_matches("GIT_CONFIG_KEY_");
            let of = format!("GIT_CONFIG_VALUE_{number}");
            let value = assigned.iter().find(|(name, _)| *name == of).map(|(_, value)| value.clone());
            before.hooks_path = Some(value.unwrap_or_default());
        } else if name == "GIT_CONFIG_PARAMETERS" && value.to_ascii_lowercase().contains(HOOKS_PATH) {
            before.hooks_path = Some(value.clone());
        }
    }
    let mut rest = arguments;
    while let Some((word, behind)) = rest.split_first() {
        if !word.starts_with('-') {
            verb(word, behind, before, seen);
            return;
        }
        if !VALUED.contains(&word.as_str()) {
            if let Some(setting) = word.strip_prefix("--config-env=") {
                before.set(setting);
            }
            rest = behind;
            continue;
        }
        let Some((value, behind)) = behind.split_first() else { return };
        match word.as_str() {
            "-C" => before.dir = Some(below(before.dir.as_deref(), value)),
            "-c" => before.set(value),
            _ => {}
        }
        rest = behind;
    }
}

fn verb(word: &str, arguments: &[String], before: Before, seen: &mut Seen) {
    let alias = before.aliases.iter().find(|(name, _)| *name == word.to_ascii_lowercase());
    let expanded = alias.and_then(|(_, value)| {
        let words: Vec<String> = value.split_whitespace().map(str::to_owned).collect();
        let (first, more) = words.split_first()?;
        Some((first.clone(), more.iter().chain(arguments).cloned().collect::<Vec<_>>()))
    });
    let (word, arguments) = match &expanded {
        Some((word, arguments)) => (word.as_str(), arguments.as_slice()),
        None => (word, arguments),
    };
    let verb = match word {
        "commit" => Verb::Commit,
        "push" => Verb::Push,
        "merge" => Verb::Merge,
        "pull" => Verb::Pull,
        "rebase" => Verb::Rebase,
        "cherry-pick" => Verb::CherryPick,
        "revert" => Verb::Revert,
        "am" => Verb::Am,
        "commit-tree" | "update-ref" | "fast-import" | "replace" | "send-pack" => Verb::Plumbing,
        "config" => return config(arguments, seen),
        _ => return,
    };
    let no_verify = skips_hooks(verb, arguments);
    let Before { dir, hooks_path, .. } = before;
    seen.git.push(GitUse { verb, no_verify, hooks_path_override: hooks_path, dir });
}

/// Whether the arguments say `--no-verify`, in any of the ways that git takes it.
fn skips_hooks(verb: Verb, arguments: &[String]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            return false;
        }
        if word.starts_with("--") {
            // Git takes a shortened option as long as it can mean one thing alone.
            if "--no-verify".starts_with(word.as_str()) && word.len() >= "--no-veri".len() {
                return true;
            }
            if matches!(word.as_str(), "--message" | "--file" | "--author" | "--date" | "--template") {
                words.next();
            }
            continue;
        }
        let Some(letters) = word.strip_prefix('-') else { continue };
        if !matches!(verb, Verb::Commit | Verb::Am) {
            continue;
        }
        for (at, letter) in letters.char_indices() {
            match letter {
                'n' => return true,
                // The rest of the word is the value, or else the next word is.
                'm' | 'F' | 'C' | 'c' | 't' => {
                    if at + 1 == letters.len() {
                        words.next();
                    }
                    break;
                }
                'u' | 'S' => break,
                _ => {}
            }
        }
    }
    false
}

/// `git config`, where it changes the place of hooks. Reading it is nobody's harm.
fn config(arguments: &[String], seen: &mut Seen) {
    let Some(at) = arguments.iter().position(|word| word.eq_ignore_ascii_case(HOOKS_PATH)) else { return };
    let (before, behind) = arguments.split_at(at);
    let said = |wanted: &[&str]| before.iter().any(|word| wanted.contains(&word.as_str()));
    let value = behind.get(1).filter(|word| !word.starts_with('-'));
    let unsets = said(&["--unset", "--unset-all", "unset"]);
    if unsets || (value.is_some() && !said(&["--get", "--get-all", "--get-regexp", "get"])) {
        let value = value.filter(|_| !unsets).cloned();
        seen.disarm.push(Disarm::HooksPath { value });
    }
}

/// A folder as seen from another one.
pub(super) fn below(dir: Option<&str>, to: &str) -> String {
    match dir {
        Some(dir) if !to.starts_with(['/', '~', '$']) => format!("{}/{to}", dir.trim_end_matches('/')),
        _ => to.to_owned(),
    }
}
