//! The hooks of git that the guard puts into a repository, as texts.

/// By this line the scripts are known, of this version or another one.
pub const SIGNATURE: &str = "# seriatim guard: ";

/// What asks the guard, as one line of a hook.
const GATE: &str = "seriatim commit-gate";

/// Returns whether a hook is one that the guard wrote.
pub fn is_signed(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).lines().take(3).any(|line| line.starts_with(SIGNATURE))
}

/// A hook of a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellHook {
    pub shell: String,
    pub text: String,
}

/// Returns a hook of the shell without the lines that ask the guard; nothing where it does not ask, or where it is no
/// script of a shell. Every other line stays: what else is in a hook is the user's.
///
/// The engine runs the hooks before a commit of its own. It has judged that commit by the record and by the gates
/// themselves, and the guard would ask for the record that the engine is about to write.
pub fn without_gate(text: &str) -> Option<ShellHook> {
    let shebang = text.lines().next()?.strip_prefix("#!")?;
    let shell = shebang.split_whitespace().last()?;
    if !["sh", "bash", "dash"].contains(&shell.rsplit('/').next()?) {
        return None;
    }
    let mut lines: Vec<&str> = vec![];
    let mut asks = false;
    let mut in_search = false;
    for line in text.lines() {
        // The guard's own script looks for the program first; without its question there is nothing to look for.
        in_search |= is_signed(text.as_bytes()) && line.starts_with("if ! command -v seriatim ");
        if in_search {
            in_search = line != "fi";
            continue;
        }
        match asked(line) {
            None => lines.push(line),
            Some(Asks::AsTheLast) => lines.push("exit 0"),
            Some(Asks::AmongOthers) => lines.push(":"),
        }
        asks |= asked(line).is_some();
    }
    asks.then(|| ShellHook { shell: shell.to_owned(), text: format!("{}\n", lines.join("\n")) })
}

/// How a line asks the guard.
#[derive(Clone, Copy)]
enum Asks {
    AsTheLast,
    AmongOthers,
}

/// Returns how a line asks the guard, where it does nothing but that.
fn asked(line: &str) -> Option<Asks> {
    let line = line.trim();
    let (asks, call) = match line.strip_prefix("exec ") {
        Some(call) => (Asks::AsTheLast, call),
        None => (Asks::AmongOthers, line),
    };
    let rest = call.strip_prefix(GATE)?;
    let rest = ["|| exit $?", "|| exit 1", "|| exit"]
        .iter()
        .find_map(|end| rest.strip_suffix(end))
        .unwrap_or(rest)
        .trim();
    let is_alone = rest.is_empty()
        || rest.strip_prefix("--workspace ").is_some_and(|folder| {
            let plain =
                folder.strip_prefix('\'').and_then(|folder| folder.strip_suffix('\'')).unwrap_or(folder);
            !plain.contains(['\'', ';', '&', '|', '$', '`', '>', '<', '"'])
        });
    is_alone.then_some(asks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_question_to_the_guard_is_taken_out_of_a_hook() {
        let composed =
            "#!/bin/sh\nnpm test || exit 1\nseriatim commit-gate --workspace 'app' || exit $?\necho done\n";
        assert_eq!(
            without_gate(composed).map(|hook| hook.text).as_deref(),
            Some("#!/bin/sh\nnpm test || exit 1\n:\necho done\n")
        );
        for other in [
            "#!/bin/sh\nnpm test\n",
            "#!/bin/sh\nseriatim commit-gate; npm test\n",
            "#!/bin/sh\nseriatim commit-gate && npm test\n",
            "#!/bin/sh\nseriatim commit-gate --workspace $(npm test)\n",
            "#!/bin/sh\nseriatim commit-gate-of-mine\n",
            "#!/usr/bin/env python3\nseriatim commit-gate\n",
            "seriatim commit-gate\n",
        ] {
            assert_eq!(without_gate(other), None, "{other}");
        }
    }

    #[test]
    fn the_guards_own_script_looks_for_no_program_without_its_question() {
        let script = "#!/bin/sh\n# seriatim guard: pre-commit.\nearlier=x\nif ! command -v seriatim >/dev/null 2>&1; then\n    \
            exit 1\nfi\nexec seriatim commit-gate\n";
        assert_eq!(
            without_gate(script).map(|hook| hook.text).as_deref(),
            Some("#!/bin/sh\n# seriatim guard: pre-commit.\nearlier=x\nexit 0\n")
        );
        let theirs = script.replace("# seriatim guard: pre-commit.\n", "");
        assert!(without_gate(&theirs).is_some_and(|hook| hook.text.contains("command -v seriatim")));
    }
}
