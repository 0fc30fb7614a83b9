//! w5: what a world adds to an attempt, by the way that every attempt goes.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use serde::de::DeserializeOwned;
use seriatim_core::config::Agent;
use seriatim_core::config::Config;
use seriatim_core::config::Kind;
use seriatim_core::config::PinnedConfig;
use seriatim_core::redact::Redactor;
use seriatim_core::report::Report;
use seriatim_core::world::Isolation;
use seriatim_core::world::ViewChange;
use seriatim_engine::hands::clock::Clock;
use seriatim_engine::hands::clock::SystemClock;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::paths;
use seriatim_engine::hands::process::Unwatched;
use seriatim_engine::hands::repository::GitRepositories;
use seriatim_engine::hands::runner::Supervised;
use seriatim_engine::hands::views::Worlds;
use seriatim_engine::hands::views::WorldsAt;
use seriatim_engine::job::Address;
use seriatim_engine::job::Job;
use seriatim_engine::job::Told;
use seriatim_engine::perform::Hands;
use seriatim_engine::perform::perform;
use seriatim_flows::Request;
use seriatim_flows::registry::STANDARD;
use seriatim_flows::rehearsal::Plan;
use seriatim_flows::request::Assignment;
use seriatim_flows::request::Done;
use seriatim_flows::request::WorldCall;
use seriatim_journal::RunRef;

use super::Sizes;
use super::blocks::median;
use super::figures::W5;
use super::ground::Ground;
use super::place::Place;
use super::show::Show;
use crate::error::CommandError;
use crate::error::Result;

const FEW: u64 = 10;
const MANY: u64 = 100_000;
/// Files of one folder.
const PER_FOLDER: u64 = 100;
const CHANGED: u64 = 50;
const REMOVED: u64 = 3_200;
/// How often the large change is read.
const READS: usize = 11;
/// The agent that does nothing but report.
const NOTHING: &str = r#"printf '{"status": "done", "summary": "nothing"}' >"$SERIATIM_REPORT""#;

pub(crate) fn w5(place: &Place, redactor: &Redactor, sizes: Sizes, show: &mut Show) -> Result<W5> {
    let (attempts, files) = (sizes.steps(100), sizes.runs(MANY));
    show.now("w5: making the files");
    let mut ground = Ground::open(&place.fresh("store"), redactor.clone())?;
    let run = ground.begin(1, &Plan { steps: 1, ask: false })?.first().map(|lease| lease.run);
    let run = run.ok_or_else(|| CommandError::not_good("no run was begun"))?;
    let few = Bench::new(&place.fresh("few"), run, FEW, redactor)?;
    let many = Bench::new(&place.fresh("many"), run, files, redactor)?;
    show.now("w5: attempts in worlds and without");
    let mut times = Times::default();
    for round in 0..attempts {
        place.go_on()?;
        times.spawn.push(few.spawn()?);
        times.bare.push(few.attempt(round, Isolation::None, NOTHING)?);
        // Whoever comes second finds other caches, so that the two change places.
        if round % 2 == 0 {
            times.world.push(few.attempt(round, Isolation::World, NOTHING)?);
            times.world_many.push(many.attempt(round, Isolation::World, NOTHING)?);
        } else {
            times.world_many.push(many.attempt(round, Isolation::World, NOTHING)?);
            times.world.push(few.attempt(round, Isolation::World, NOTHING)?);
        }
        times.read.push(few.read(round)?.0);
        few.drop_view(round)?;
        many.drop_view(round)?;
    }
    show.now("w5: reading a large change");
    let changed = many.change_much(attempts, files)?;
    let reads: Vec<f64> = (0..READS).map(|_| Ok(many.read(attempts)?.0)).collect::<Result<_>>()?;
    many.drop_view(attempts)?;
    ground.close()?;
    let world_s = median(&times.world);
    Ok(W5 {
        attempts,
        files,
        spawn_s: median(&times.spawn),
        bare_s: median(&times.bare),
        world_s,
        added_s: world_s - median(&times.bare),
        many_ratio: median(&times.world_many) / world_s.max(1e-9),
        read_empty_s: median(&times.read),
        changed,
        read_s: median(&reads),
    })
}

/// Seconds, one of each kind per round.
#[derive(Default)]
struct Times {
    spawn: Vec<f64>,
    bare: Vec<f64>,
    world: Vec<f64>,
    world_many: Vec<f64>,
    read: Vec<f64>,
}

/// A workspace with files, and the hands that work in it.
struct Bench {
    hands: Hands,
    workspace: PathBuf,
    run: RunRef,
}

impl Bench {
    fn new(dir: &Path, run: RunRef, files: u64, redactor: &Redactor) -> Result<Bench> {
        let unusable = |error: std::io::Error| {
            CommandError::not_good(format!("{} cannot be used: {error}", dir.display()))
        };
        let workspace = dir.join("work");
        for folder in ["work", "store", "layers", "store/attempts", "store/outputs"] {
            fs::create_dir_all(dir.join(folder)).map_err(unusable)?;
        }
        for number in 0..files {
            let file = workspace.join(file_name(number));
            if let Some(folder) = file.parent().filter(|_| number % PER_FOLDER == 0) {
                fs::create_dir_all(folder).map_err(unusable)?;
            }
            fs::write(file, format!("{number}\n")).map_err(unusable)?;
        }
        // A repository of its own keeps the view from covering one around it. Without git there is none to cover.
        let _ = Command::new("git").args(["init", "--quiet"]).current_dir(&workspace).status();
        let processes = Arc::new(Supervised::by_this_program());
        let worlds = Worlds::new(WorldsAt {
            workspace: workspace.clone(),
            store: dir.join("store"),
            dir: Some(dir.join("layers")),
            temporary: None,
            home: std::env::var_os("HOME").map(PathBuf::from),
        });
        worlds.works().map_err(|error| CommandError::not_good(error.to_string()).hint(error.help))?;
        let root =
            paths::Workspace::new(&workspace).map_err(|error| CommandError::usage(error.to_string()))?;
        let repositories = GitRepositories::new(processes.clone(), Arc::new(Disk), dir.join("store/git"));
        let hands = Hands {
            clock: Arc::new(SystemClock::default()),
            files: Arc::new(Disk),
            processes,
            repositories: Arc::new(repositories),
            views: Arc::new(worlds),
            workspace: root.with_store(&dir.join("store")),
            config: Arc::new(Config::default()),
            registry: &STANDARD,
            redactor: redactor.clone(),
            scratch: dir.join("store/attempts"),
            outputs: dir.join("store/outputs"),
        };
        Ok(Bench { hands, workspace, run })
    }

    fn job(&self, round: u64, isolation: Isolation, script: &str, request: Request) -> Job {
        let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
        let agent = Agent { isolation: Some(isolation), ..Agent::new(Kind::Command { argv }) };
        let mut config = Config::default();
        config.agents.insert("default".to_owned(), agent);
        Job {
            address: Address { run: self.run, key: format!("/{}:{round}", isolation.word()) },
            run_name: "bench".to_owned(),
            config: Arc::new(PinnedConfig::new(config)),
            request,
            at: SystemClock::default().now(),
            earlier: vec![],
            told: Told::default(),
        }
    }

    /// Performs a request as the engine does, and returns how long it took.
    fn perform<T: DeserializeOwned>(&self, job: &Job) -> Result<(f64, T)> {
        let since = Instant::now();
        let done = perform(&self.hands, job, &Unwatched);
        let seconds = since.elapsed().as_secs_f64();
        let bytes = done.map_err(|stuck| CommandError::not_good(stuck.to_string()))?;
        let outcome: Done<T> = serde_json::from_slice(&bytes)
            .map_err(|error| CommandError::not_good(format!("an outcome cannot be read: {error}")))?;
        outcome
            .map(|outcome| (seconds, outcome))
            .map_err(|failure| CommandError::not_good(format!("an attempt failed: {}", failure.message)))
    }

    fn attempt(&self, round: u64, isolation: Isolation, script: &str) -> Result<f64> {
        let assignment = Assignment { view: view_of(round), ..Assignment::default() };
        let job = self.job(round, isolation, script, Request::Agent(Box::new(assignment)));
        Ok(self.perform::<Report>(&job)?.0)
    }

    /// The same program without anything around it.
    fn spawn(&self) -> Result<f64> {
        let since = Instant::now();
        let report = self.hands.scratch.join("spawned");
        let mut command = Command::new("sh");
        command.args(["-c", NOTHING]).env("SERIATIM_REPORT", &report).current_dir(&self.workspace);
        let ended = command.status();
        let seconds = since.elapsed().as_secs_f64();
        match ended {
            Ok(status) if status.success() => Ok(seconds),
            _ => Err(CommandError::not_good("`sh` could not be run")),
        }
    }

    fn call<T: DeserializeOwned>(&self, call: WorldCall) -> Result<(f64, T)> {
        self.perform(&self.job(0, Isolation::World, "", Request::World(call)))
    }

    /// Reads what a view changes, and returns how long it took and how many files there are.
    fn read(&self, round: u64) -> Result<(f64, usize)> {
        let call = WorldCall::Change { view: view_of(round), place: String::new(), named: vec![] };
        let (seconds, change) = self.call::<ViewChange>(call)?;
        Ok((seconds, change.files.len()))
    }

    fn drop_view(&self, round: u64) -> Result<()> {
        let call = WorldCall::Drop { view: view_of(round), place: String::new() };
        self.call::<()>(call).map(|_| ())
    }

    /// Lets an agent change and remove many files, and returns how many the view then changes.
    fn change_much(&self, round: u64, files: u64) -> Result<usize> {
        let folders = files.div_ceil(PER_FOLDER);
        let removed = (REMOVED / PER_FOLDER).min(folders / 2);
        let rest = (removed * PER_FOLDER)..files;
        let gone: Vec<String> = (0..removed).map(|folder| format!("d{folder}")).collect();
        let others: Vec<String> =
            rest.take(usize::try_from(CHANGED).unwrap_or(usize::MAX)).map(file_name).collect();
        let script = format!(
            "rm -rf {}; for file in {}; do echo more >>$file; done; {NOTHING}",
            gone.join(" "),
            others.join(" ")
        );
        self.attempt(round, Isolation::World, &script)?;
        Ok(self.read(round)?.1)
    }
}

fn view_of(round: u64) -> String {
    format!("w5-{round}")
}

fn file_name(number: u64) -> String {
    format!("d{}/f{number}", number / PER_FOLDER)
}
