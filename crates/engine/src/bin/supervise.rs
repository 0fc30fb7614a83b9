//! Test support: a supervisor as a program of its own, and an engine that tests may kill.
//!
//! `seriatim-supervise run MARKER ARGV...` runs one process and repeats its lines; `sweep MARKER` ends what an
//! attempt left behind and prints the ids.

use std::env;
use std::io;
use std::io::Write;
use std::process::ExitCode;

use seriatim_engine::hands::process::DEFAULT_ENVIRONMENT;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::Stream;
use seriatim_engine::hands::process::Watch;
use seriatim_engine::hands::process::environment;
use seriatim_engine::hands::runner::Supervised;
use seriatim_engine::hands::supervise;

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
