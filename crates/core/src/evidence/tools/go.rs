//! `go test`, in words and with `-json`.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::evidence::Counts;
use crate::evidence::Failed;
use crate::evidence::Kind;
use crate::evidence::Tool;
use crate::evidence::found::Found;
use crate::evidence::text;

pub(super) fn read(lines: &[&str]) -> Found {
    let said = from_json(lines);
    if said.is_empty() {
        return of_words(lines.iter().copied());
    }
    of_words(said.lines().map(str::trim_end))
}

/// The same words as without `-json`, put together again from the events.
fn from_json(lines: &[&str]) -> String {
    let mut said = String::new();
    for line in lines.iter().filter(|line| line.starts_with('{') && line.contains("\"Action\"")) {
        let Ok(event) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        if let Some(output) = event.get("Output").and_then(serde_json::Value::as_str) {
            said.push_str(output);
        }
    }
    said
}

fn of_words<'o>(lines: impl Iterator<Item = &'o str>) -> Found {
    let mut reader = Reader::default();
    for line in lines {
        reader.line(line);
    }
    reader.end()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Pass,
    Fail,
    Skip,
}

#[derive(Default)]
struct Reader {
    spoke: bool,
    /// Whether every test has a line of its own.
    verbose: bool,
    found: Found,
    results: Vec<(String, Outcome)>,
    parents: BTreeSet<String>,
    failures: Vec<Failed>,
    /// How many there were when the package before this one ended.
    failed_before: usize,
    /// The test that speaks. In the verbose form it speaks before its result stands, otherwise after it.
    speaking: String,
    /// The last line with a place that each test has written.
    logged: BTreeMap<String, (String, u32, String)>,
    panic: Option<String>,
    compile: Vec<Failed>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim_start();
        if let Some(result) = trimmed.strip_prefix("--- ") {
            self.result(result);
        } else if let Some((word, name)) = line.strip_prefix("=== ").and_then(|rest| rest.split_once(' ')) {
            self.verbose |= word == "RUN";
            self.speaking = name.trim().to_owned();
        } else if let Some(rest) = line.strip_prefix("FAIL\t") {
            self.package_failed(rest);
        } else if let Some(rest) = line.strip_prefix("ok  \t") {
            self.spoke = true;
            self.found.nothing |= rest.ends_with("[no tests to run]");
            self.found.passed_some |= !rest.ends_with("[no tests to run]");
        } else if line.starts_with("?   \t") && line.ends_with("[no test files]") {
            self.spoke = true;
            self.found.nothing = true;
        } else if let Some(said) = line.strip_prefix("panic: ") {
            self.panic.get_or_insert_with(|| said.to_owned());
        } else if line.starts_with("fatal error: ") {
            self.panic.get_or_insert_with(|| line.to_owned());
        } else if let Some(((file, number), said)) =
            text::place(trimmed).filter(|((file, _), _)| file.ends_with(".go"))
        {
            self.placed(
                file,
                number,
                said.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()).trim(),
                line,
            );
        }
    }

    /// `FAIL: TestGreet/polite (0.00s)`
    fn result(&mut self, result: &str) {
        let (outcome, rest) = match result.split_once(": ") {
            Some(("PASS", rest)) => (Outcome::Pass, rest),
            Some(("FAIL", rest)) => (Outcome::Fail, rest),
            Some(("SKIP", rest)) => (Outcome::Skip, rest),
            _ => return,
        };
        let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
        self.spoke = true;
        if let Some((parent, _)) = name.rsplit_once('/') {
            self.parents.insert(parent.to_owned());
        }
        self.results.push((name.to_owned(), outcome));
        self.speaking = name.to_owned();
        if outcome == Outcome::Fail {
            self.failures.push(Failed::new(name, Kind::Assertion, ""));
        }
    }

    /// A line that begins with a place: what a test has logged, or what the compiler refuses.
    fn placed(&mut self, file: &str, number: u32, said: &str, line: &str) {
        if !line.starts_with([' ', '\t']) {
            let path = file.strip_prefix("./").unwrap_or(file);
            self.compile.push(Failed::new(path, Kind::Compile, said).at(Some((path, number))));
            return;
        }
        let logged = (file.to_owned(), number, said.to_owned());
        self.logged.insert(self.speaking.clone(), logged);
    }

    /// `example.com/greet [build failed]`, or a package and its time.
    fn package_failed(&mut self, rest: &str) {
        self.spoke = true;
        let (package, note) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        let broken = match note {
            "[build failed]" => Some(Kind::Compile),
            "[setup failed]" => Some(Kind::Setup),
            _ => None,
        };
        if let Some(kind) = broken {
            let said = std::mem::take(&mut self.compile);
            match said.is_empty() {
                true => self.found.push(Failed::new(package, kind, note)),
                false => said.into_iter().for_each(|failed| self.found.push(failed)),
            }
        }
        let said = std::mem::replace(&mut self.failed_before, self.failures.len());
        let Some(panic) = self.panic.take() else {
            // A package can fail beside its tests: at its end, or because it left by itself.
            if broken.is_none() && said == self.failures.len() {
                self.found.push(Failed::new(
                    package,
                    Kind::Error,
                    "the package failed, and none of its tests says why",
                ));
            }
            return;
        };
        let kind = kind_of_panic(&panic);
        match self.failures.last_mut().filter(|_| kind != Kind::Timeout) {
            // A panic ends the binary: it belongs to the test that failed last.
            Some(failed) => {
                failed.kind = kind;
                failed.message = text::short(&panic);
            }
            None => self.found.push(Failed::new(package, kind, &panic)),
        }
    }

    fn end(mut self) -> Found {
        if !self.spoke {
            return Found::default();
        }
        self.found.tool = Some(Tool::GoTest);
        let parents = self.parents;
        for mut failed in self.failures.into_iter().filter(|failed| !parents.contains(&failed.name)) {
            if let Some((file, line, said)) =
                self.logged.get(&failed.name).filter(|_| failed.message.is_empty())
            {
                failed.message = text::short(said);
                failed = failed.at(Some((file, *line)));
            }
            self.found.push(failed);
        }
        let leaves = |wanted| {
            let of_kind =
                |(name, outcome): &&(String, Outcome)| *outcome == wanted && !parents.contains(name);
            self.results.iter().filter(of_kind).count() as u64
        };
        if self.verbose {
            let counts = Counts::of(leaves(Outcome::Pass), leaves(Outcome::Fail), 0, leaves(Outcome::Skip));
            self.found.add_counts(counts);
            self.found.passed_some = false;
        }
        self.found
    }
}

fn kind_of_panic(panic: &str) -> Kind {
    if panic.starts_with("test timed out") {
        return Kind::Timeout;
    }
    let lower = panic.trim_start_matches('"').to_lowercase();
    if ["not implemented", "not yet implemented", "unimplemented", "todo"]
        .iter()
        .any(|words| lower.starts_with(words))
    {
        return Kind::Missing;
    }
    if panic.starts_with("fatal error: ") { Kind::Crash } else { Kind::Error }
}
