//! Test support: a supervisor as a program of its own, and an engine that tests may kill.
//!
//! `seriatim-supervise run MARKER ARGV...` runs one process and repeats its lines; `sweep MARKER` ends what an
//! attempt left behind and prints the ids. `spawn FILE` runs the process that a file describes as JSON, repeats its
//! lines, and prints at last how it ended; `probe DIR` tries whether there can be worlds. So a test can be another user.

use std::env;
use std::fs;
use std::io;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use seriatim_engine::hands::process::DEFAULT_ENVIRONMENT;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::Stream;
use seriatim_engine::hands::process::Watch;
use seriatim_engine::hands::process::environment;
use seriatim_engine::hands::runner::Supervised;
use seriatim_engine::hands::supervise;
use seriatim_engine::hands::world::probe;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [supervise::ARGUMENT, ..] => ExitCode::from(u8::try_from(supervise::main()).unwrap_or(1)),
        ["run", marker, argv @ ..] => run(marker, argv),
        ["sweep", marker] => {
            let ids: Vec<String> =
                Supervised::by_this_program().sweep(marker).iter().map(u32::to_string).collect();
            say(&ids.join(" "));
            ExitCode::SUCCESS
        }
        ["spawn", file] => spawn(file.as_ref()),
        ["probe", folder] => match probe(folder.as_ref()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(refused) => {
                say(&format!("{refused}\n{}", refused.help));
                ExitCode::FAILURE
            }
        },
        _ => ExitCode::from(2),
    }
}

fn run(marker: &str, argv: &[&str]) -> ExitCode {
    let argv = argv.iter().map(|word| (*word).to_owned()).collect();
    let env = environment(&DEFAULT_ENVIRONMENT);
    let spawn = Spawn { env, grace_ms: 200, ..Spawn::new(argv, ".", marker) };
    match Supervised::by_this_program().run(&spawn, &Repeat) {
        Ok(ended) if ended.success() => ExitCode::SUCCESS,
        Ok(_) | Err(_) => ExitCode::FAILURE,
    }
}

/// The last line begins with `ended ` or `refused `.
fn spawn(file: &Path) -> ExitCode {
    let read = fs::read(file).ok().and_then(|text| serde_json::from_slice::<Spawn>(&text).ok());
    let Some(spawn) = read else { return ExitCode::from(2) };
    let (word, told) = match Supervised::by_this_program().run(&spawn, &Repeat) {
        Ok(ended) => ("ended", serde_json::to_string(&ended)),
        Err(error) => ("refused", serde_json::to_string(&error)),
    };
    match told {
        Ok(text) => say(&format!("{word} {text}")),
        Err(_) => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

struct Repeat;

impl Watch for Repeat {
    fn line(&self, _: Stream, line: &str) {
        say(line);
    }
}

fn say(line: &str) {
    let mut stdout = io::stdout().lock();
    // A test that no longer listens has what it needs.
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}
