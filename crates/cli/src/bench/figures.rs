//! What was measured, for machines and for people.

use serde::Serialize;
use serde::Serializer;

use super::place::Device;
use super::place::Place;
use crate::render::table::table;

/// Beyond this the disk is none: syncs cost nothing and the goals mean nothing.
const LIMIT_MAX: f64 = 10_000.0;

const MIB: f64 = 1_048_576.0;

/// Everything that was asked for.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    disk: Device,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) w1: Option<W1>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) w2: Option<W2>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) w3: Option<W3>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) w4: Option<W4>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) w5: Option<W5>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<Size>,
}

/// SQLite alone.
#[derive(Debug, Serialize)]
pub(crate) struct Limit {
    #[serde(serialize_with = "rate")]
    pub(crate) sqlite_full_per_s: f64,
    #[serde(serialize_with = "rate")]
    pub(crate) fdatasync_per_s: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct W1 {
    #[serde(serialize_with = "rate")]
    pub(crate) steps_per_s: f64,
    #[serde(serialize_with = "fine")]
    pub(crate) ratio: f64,
    /// Of the blocks between those of this work.
    #[serde(serialize_with = "rate")]
    pub(crate) limit_per_s: f64,
    #[serde(serialize_with = "fine")]
    pub(crate) syncs_per_step: f64,
    pub(crate) peak_rss_bytes: Option<u64>,
    pub(crate) steps: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct W2 {
    /// From the moment the first step begins.
    #[serde(serialize_with = "rate")]
    pub(crate) steps_per_s: f64,
    /// From nothing to their end: created, leased, loaded and driven.
    #[serde(serialize_with = "rate")]
    pub(crate) runs_per_s: f64,
    #[serde(serialize_with = "fine")]
    pub(crate) ratio: f64,
    #[serde(serialize_with = "rate")]
    pub(crate) limit_per_s: f64,
    #[serde(serialize_with = "fine")]
    pub(crate) syncs_per_step: f64,
    pub(crate) peak_rss_bytes: Option<u64>,
    pub(crate) runs: u64,
    pub(crate) steps: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct W3 {
    #[serde(serialize_with = "fine")]
    pub(crate) resume_s: f64,
    /// Finished steps that were done again, at worst.
    pub(crate) repeated: u64,
    /// Steps under way that were done again, at worst.
    pub(crate) in_flight_repeated: u64,
    #[serde(serialize_with = "fine_if_any", skip_serializing_if = "Option::is_none")]
    pub(crate) resume_100k_s: Option<f64>,
    pub(crate) kills: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct W4 {
    #[serde(serialize_with = "fine")]
    pub(crate) resume_s: f64,
    pub(crate) bytes_per_run: u64,
    /// Living processes that hold one of the parked runs.
    pub(crate) processes: usize,
    pub(crate) runs: u64,
}

/// Attempts in worlds and without, taken in turns.
#[derive(Debug, Serialize)]
pub(crate) struct W5 {
    pub(crate) attempts: u64,
    /// Files of the large workspace; the small one has ten.
    pub(crate) files: u64,
    #[serde(serialize_with = "finest")]
    pub(crate) spawn_s: f64,
    #[serde(serialize_with = "finest")]
    pub(crate) bare_s: f64,
    #[serde(serialize_with = "finest")]
    pub(crate) world_s: f64,
    /// What the world adds to the attempt.
    #[serde(serialize_with = "finest")]
    pub(crate) added_s: f64,
    /// An attempt in the large workspace, by one in the small one.
    #[serde(serialize_with = "fine")]
    pub(crate) many_ratio: f64,
    #[serde(serialize_with = "finest")]
    pub(crate) read_empty_s: f64,
    /// Files that the large change holds.
    pub(crate) changed: usize,
    #[serde(serialize_with = "finest")]
    pub(crate) read_s: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Size {
    pub(crate) entries: u64,
    /// The cost of a step after that many entries, by that after a thousand.
    #[serde(serialize_with = "fine")]
    pub(crate) cost_ratio: f64,
    pub(crate) runs: u64,
    #[serde(serialize_with = "fine")]
    pub(crate) status_s: f64,
}

fn rounded(value: f64, places: i32) -> f64 {
    let scale = 10_f64.powi(places);
    (value * scale).round() / scale
}

fn rate<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rounded(*value, 1))
}

fn fine<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rounded(*value, 4))
}

fn finest<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rounded(*value, 6))
}

fn fine_if_any<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(|value| rounded(value, 4)).serialize(serializer)
}

/// One line for people.
struct Line {
    what: &'static str,
    measured: String,
    goal: &'static str,
    met: Option<bool>,
}

impl Figures {
    pub(crate) fn at(place: &Place) -> Figures {
        let disk = place.device();
        Figures { disk, limit: None, w1: None, w2: None, w3: None, w4: None, w5: None, size: None }
    }

    /// A small table: what, how much, the goal, and whether it is met.
    pub(crate) fn in_words(&self) -> String {
        let Device { mount, device, filesystem } = &self.disk;
        let heading = format!("On the disk of {mount} ({device}, {filesystem}), medians:\n");
        // Without a disk that has to be waited for, what is left is the processor.
        let instant = self.limit.as_ref().is_some_and(|l| l.sqlite_full_per_s >= LIMIT_MAX);
        let rows: Vec<Vec<String>> = self
            .lines()
            .into_iter()
            .map(|line| {
                let verdict = match line.met {
                    None => "",
                    Some(_) if instant => "no goal: this disk waits for nothing",
                    Some(true) => "met",
                    Some(false) => "NOT met",
                };
                vec![line.what.to_owned(), line.measured, line.goal.to_owned(), verdict.to_owned()]
            })
            .collect();
        format!("{heading}{}", table(&["work", "measured", "goal", "verdict"], &rows))
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![];
        if let Some(limit) = &self.limit {
            let sqlite = format!("{:.0} durable commits a second by SQLite alone", limit.sqlite_full_per_s);
            lines.push(Line { what: "limit", measured: sqlite, goal: "", met: None });
            let syncs = format!("{:.0} bare syncs a second", limit.fdatasync_per_s);
            lines.push(Line { what: "", measured: syncs, goal: "", met: None });
        }
        if let Some(w1) = &self.w1 {
            let speed =
                format!("{:.0} steps a second, {:.0} % of the limit", w1.steps_per_s, w1.ratio * 100.0);
            lines.push(Line::new("w1 one run", speed, "at least 75 %", w1.ratio >= 0.75));
            lines.push(syncs(w1.syncs_per_step, "at most 1.05", w1.syncs_per_step <= 1.05));
            lines.extend(memory(w1.peak_rss_bytes));
        }
        if let Some(w2) = &self.w2 {
            let speed = format!("{:.0} steps a second, {:.1} times the limit", w2.steps_per_s, w2.ratio);
            lines.push(Line::new("w2 many runs at once", speed, "at least 8 times", w2.ratio >= 8.0));
            lines.push(syncs(w2.syncs_per_step, "at most 0.03", w2.syncs_per_step <= 0.03));
            lines.extend(memory(w2.peak_rss_bytes));
        }
        if let Some(w3) = &self.w3 {
            let time = format!("{} to the next durable step", milliseconds(w3.resume_s));
            lines.push(Line::new("w3 killed", time, "at most 50 ms", w3.resume_s <= 0.05));
            if let Some(seconds) = w3.resume_100k_s {
                let time = format!("{} with 100,000 entries", milliseconds(seconds));
                lines.push(Line::new("", time, "at most 300 ms", seconds <= 0.3));
            }
            let again = format!("{} finished steps done again in {} kills", w3.repeated, w3.kills);
            lines.push(Line::new("", again, "none", w3.repeated == 0));
        }
        if let Some(w4) = &self.w4 {
            let room = format!("{} bytes and {} processes", w4.bytes_per_run, w4.processes);
            let sparing = w4.bytes_per_run <= 2_048 && w4.processes == 0;
            lines.push(Line::new("w4 parked runs, each", room, "at most 2,048 and none", sparing));
            let time = format!("{} until all {} are through", milliseconds(w4.resume_s), w4.runs);
            lines.push(Line::new("", time, "at most 200 ms", w4.resume_s <= 0.2));
        }
        if let Some(w5) = &self.w5 {
            lines.extend(w5.lines());
        }
        if let Some(size) = &self.size {
            let cost =
                format!("{:.2} times the cost of a step after {} entries", size.cost_ratio, size.entries);
            lines.push(Line::new("size", cost, "at most 1.1 times", size.cost_ratio <= 1.1));
            let time = format!("{} for `status` with {} runs", milliseconds(size.status_s), size.runs);
            lines.push(Line::new("", time, "under 50 ms", size.status_s < 0.05));
        }
        lines
    }
}

impl W5 {
    fn lines(&self) -> Vec<Line> {
        let ms = |seconds: f64| format!("{:.1} ms", seconds * 1_000.0);
        let told = |what, measured| Line { what, measured, goal: "", met: None };
        let added = format!(
            "{} in a world, {} without: {} more",
            ms(self.world_s),
            ms(self.bare_s),
            ms(self.added_s)
        );
        let many = format!("with {} files {:.2} times that with ten", self.files, self.many_ratio);
        vec![
            told("w5 an attempt that does nothing", format!("{} for a bare spawn", ms(self.spawn_s))),
            Line::new("", added, "at most 15 ms more", self.added_s <= 0.015),
            Line::new("", many, "at most 1.2 times", self.many_ratio <= 1.2),
            told("", format!("{} to read an empty change", ms(self.read_empty_s))),
            told("", format!("{} to read a change of {} files", ms(self.read_s), self.changed)),
        ]
    }
}

impl Line {
    fn new(what: &'static str, measured: String, goal: &'static str, met: bool) -> Line {
        Line { what, measured, goal, met: Some(met) }
    }
}

fn syncs(per_step: f64, goal: &'static str, met: bool) -> Line {
    Line::new("", format!("{per_step:.4} syncs a step"), goal, met)
}

fn memory(bytes: Option<u64>) -> Option<Line> {
    let mib = bytes? as f64 / MIB;
    Some(Line::new("", format!("{mib:.1} MiB of memory at most"), "under 32 MiB", mib < 32.0))
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.0} ms", seconds * 1_000.0)
}

/// The most memory that this process had since the last reset, where the kernel tells.
pub(crate) fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1_024)
}

/// Forgets the peak, where the kernel lets us; else it is that of the whole process, which is no less.
pub(crate) fn reset_peak_rss() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
