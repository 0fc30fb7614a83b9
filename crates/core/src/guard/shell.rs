//! Whether a command line commits, pushes, or takes the guard away.
//!
//! This is the friendly layer: it tells an agent early and in words what git's own hooks would refuse later. It
//! sees through the usual ways to write a command, and not through scripts, aliases or what is computed.

mod git;
mod words;

#[cfg(test)]
mod tests;

use words::Command;

use super::scope;

/// Commands inside of commands: `bash -c "sh -c '...'"`.
const DEPTH_MAX: u32 = 8;

/// What git is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    Commit,
    Push,
    Merge,
    Pull,
    Rebase,
    CherryPick,
    Revert,
    Am,
    /// Commits and branches made by hand, which no hook of git sees.
    Plumbing,
}

/// One use of git that makes or publishes commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitUse {
    pub verb: Verb,
    /// Git is told to leave its hooks out.
    pub no_verify: bool,
    /// Git is told to look for hooks elsewhere: where.
    pub hooks_path_override: Option<String>,
    /// The folder, where the command changes to one; as written, so possibly with variables in it.
    pub dir: Option<String>,
}

/// A step towards taking the guard away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disarm {
    /// `seriatim guard uninstall`.
    Uninstall,
    /// `git config core.hooksPath`, set or unset.
    HooksPath { value: Option<String> },
    /// A file of the guard is written, moved or removed.
    File { path: String },
}

/// What a command line would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub git: Vec<GitUse>,
    pub disarm: Vec<Disarm>,
}

impl Seen {
    /// The uses of git that commit or push.
    pub fn commits_or_pushes(&self) -> impl Iterator<Item = &GitUse> {
        self.git.iter().filter(|seen| matches!(seen.verb, Verb::Commit | Verb::Push))
    }
}

/// Looks at a command line.
pub fn look(text: &str) -> Seen {
    let mut seen = Seen::default();
    // Most commands name none of what is looked for, and are done with here.
    if ["git", "seriatim", ".claude", ".codex", ".gemini"].iter().any(|word| text.contains(word))
        || text.contains(['\\', '\'', '"', '$', '`'])
    {
        look_into(text, None, 0, &mut seen);
    }
    seen
}

fn look_into(text: &str, dir: Option<&str>, depth: u32, seen: &mut Seen) {
    if depth > DEPTH_MAX {
        return;
    }
    // Folders by depth of brackets: what a subshell changes to ends with it.
    let mut folders: Vec<Option<String>> = vec![dir.map(str::to_owned)];
    for command in words::commands(text) {
        folders.truncate(command.depth + 1);
        while folders.len() <= command.depth {
            folders.push(folders.last().cloned().flatten());
        }
        let here = folders.last().cloned().flatten();
        for inner in &command.substituted {
            look_into(inner, here.as_deref(), depth + 1, seen);
        }
        for target in &command.written {
            written(target, seen);
        }
        if let Some(to) = run(&command, here.as_deref(), depth, seen)
            && let Some(folder) = folders.last_mut()
        {
            *folder = Some(to);
        }
    }
}

/// Looks at one simple command; gives the folder back that it changes to.
fn run(command: &Command, dir: Option<&str>, depth: u32, seen: &mut Seen) -> Option<String> {
    let (assigned, words) = unwrapped(&command.words);
    let (program, arguments) = words.split_first()?;
    match program.rsplit('/').next().unwrap_or(program) {
        "cd" | "pushd" => {
            let to = arguments.iter().find(|word| !word.starts_with('-'))?;
            return Some(git::below(dir, to));
        }
        "git" | "git.exe" => git::look(arguments, &assigned, dir, seen),
        "seriatim" => {
            let plain: Vec<&str> =
                arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
            if plain.windows(2).any(|pair| pair == ["guard", "uninstall"]) {
                seen.disarm.push(Disarm::Uninstall);
            }
        }
        "eval" => look_into(&arguments.join(" "), dir, depth + 1, seen),
        shell if is_shell(shell) => {
            if let Some(script) = script(arguments) {
                look_into(script, dir, depth + 1, seen);
            } else {
                // Without a script the shell reads what is fed to it.
                for fed in &command.fed {
                    look_into(fed, dir, depth + 1, seen);
                }
            }
        }
        "find" => {
            let runs = |word: &String| matches!(word.as_str(), "-exec" | "-execdir" | "-ok");
            if let Some(at) = arguments.iter().position(runs) {
                let words = arguments.get(at + 1..).unwrap_or_default().to_vec();
                run(&Command { words, ..Command::default() }, dir, depth + 1, seen);
            }
        }
        writer if is_writer(writer, arguments) => {
            for word in arguments {
                written(word.strip_prefix("of=").unwrap_or(word), seen);
            }
        }
        _ => {}
    }
    None
}

fn is_shell(program: &str) -> bool {
    matches!(program, "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish")
}

/// The text behind `-c`, which may stand in a group of flags (`-lc`).
fn script(arguments: &[String]) -> Option<&str> {
    let at = arguments.iter().position(|word| {
        word.starts_with('-') && !word.starts_with("--") && word.len() > 1 && word.contains('c')
    })?;
    arguments.get(at + 1..)?.iter().find(|word| !word.starts_with(['-', '+'])).map(String::as_str)
}

fn is_writer(program: &str, arguments: &[String]) -> bool {
    match program {
        "rm" | "mv" | "cp" | "ln" | "chmod" | "chown" | "tee" | "touch" | "truncate" | "install"
        | "unlink" | "dd" | "rsync" | "shred" | "patch" => true,
        "sed" | "perl" | "ruby" => {
            arguments.iter().any(|word| word.starts_with("-i") || word == "--in-place")
        }
        _ => false,
    }
}

/// Whether a path names the store below a git common dir, wherever that is: a repository can be a submodule, or have
/// its folder elsewhere.
fn is_of_a_store(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let at = parts.windows(2).position(|pair| pair == [".git", "seriatim"]);
    if let Some(at) = at {
        let inside = parts.get(at + 2..).unwrap_or_default().join("/");
        return !scope::is_shared_with_agents(&inside);
    }
    let is_ours =
        |name: &str| name.starts_with("journal.") || (name.starts_with("guard") && name.ends_with(".json"));
    parts.windows(2).any(|pair| matches!(pair, ["seriatim", name] if is_ours(name)))
}

/// Notes that a path of the guard is written to.
fn written(path: &str, seen: &mut Seen) {
    let plain = path.trim_end_matches('/');
    let guarded = [".git/hooks", ".seriatim", ".claude/settings.json", ".claude/settings.local.json"]
        .into_iter()
        .chain([".codex/hooks.json", ".codex/config.toml", ".gemini/settings.json"]);
    let hit = |name: &str| {
        let inside = plain.split_once(name).is_some_and(|(before, behind)| {
            (before.is_empty() || before.ends_with('/')) && (behind.is_empty() || behind.starts_with('/'))
        });
        // Whoever removes the folder removes the file.
        inside || plain.rsplit('/').next() == name.split_once('/').map(|(folder, _)| folder)
    };
    if guarded.into_iter().any(hit) || is_of_a_store(plain) {
        seen.disarm.push(Disarm::File { path: path.to_owned() });
    }
}

/// A command without the assignments and the programs in front that only run another one.
fn unwrapped(words: &[String]) -> (Vec<(String, String)>, &[String]) {
    let mut assigned = vec![];
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        if let Some((name, value)) = assignment(word) {
            assigned.push((name.to_owned(), value.to_owned()));
            rest = behind;
            continue;
        }
        // Flags of a wrapper that have a value of their own.
        let valued: &[&str] = match word.rsplit('/').next().unwrap_or(word) {
            "env" => &["-u", "--unset", "-C", "--chdir"],
            "sudo" | "doas" => &["-u", "-g", "-C", "-h", "-p", "-r", "-t", "-U"],
            "nice" => &["-n"],
            "ionice" => &["-c", "-n", "-p"],
            "timeout" => &["-k", "-s", "--signal", "--kill-after"],
            "xargs" => &["-I", "-n", "-P", "-L", "-d", "-a", "-E", "-s"],
            "stdbuf" => &["-i", "-o", "-e"],
            "time" => &["-f", "-o"],
            "command" | "builtin" | "exec" | "nohup" | "setsid" | "busybox" | "then" | "do" | "else"
            | "elif" | "if" | "while" | "until" | "!" => &[],
            _ => return (assigned, rest),
        };
        let is_timeout = word.rsplit('/').next() == Some("timeout");
        rest = after_flags(behind, valued);
        if is_timeout {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    (assigned, rest)
}

fn after_flags<'w>(mut words: &'w [String], valued: &[&str]) -> &'w [String] {
    while let Some((word, behind)) = words.split_first() {
        if word == "--" {
            return behind;
        }
        if !word.starts_with('-') || word.len() < 2 {
            return words;
        }
        words = if valued.contains(&word.as_str()) { behind.get(1..).unwrap_or_default() } else { behind };
    }
    words
}

fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_name))
        .then_some((name, value))
}
