//! The works themselves.

use std::collections::BTreeSet;
use std::time::Instant;

use seriatim_core::question::Answer;
use seriatim_core::redact::Redactor;
use seriatim_flows::rehearsal::Plan;
use seriatim_journal::Filter;
use seriatim_journal::NewSignal;
use seriatim_journal::OpenFilter;
use seriatim_journal::SignalKind;
use seriatim_journal::Store;
use seriatim_journal::Target;

use super::Sizes;
use super::blocks::COMMITS_MAX;
use super::blocks::First;
use super::blocks::Interleaved;
use super::blocks::Rates;
use super::blocks::Unseen;
use super::blocks::Yardstick;
use super::blocks::median;
use super::blocks::per_second;
use super::figures::W1;
use super::figures::W2;
use super::figures::W3;
use super::figures::W4;
use super::figures::peak_rss_bytes;
use super::figures::reset_peak_rss;
use super::ground::Ground;
use super::ground::bytes_below;
use super::instant::Instantly;
use super::other::Other;
use super::other::Part;
use super::place::Place;
use super::show::Show;
use crate::error::CommandError;
use crate::error::Result;
use crate::workspace::now;

/// The engine's log is warmed as that of the yardstick is.
const WARM_STEPS: u64 = 1_200;

/// Into how many blocks a run is cut.
const BLOCKS: u64 = 40;

/// How often each work is done; what is told is the middle.
const ROUNDS: usize = 3;

/// How often one run is, since a loaded disk needs many blocks.
const ROUNDS_ALONE: usize = 5;

/// How often many runs at once are, which takes a moment only.
const ROUNDS_AT_ONCE: usize = 31;

/// How often a process is killed.
const KILLS: usize = 5;

/// Entries of the long run that a process is killed in.
const LONG_ENTRIES: u64 = 100_000;

pub(crate) fn limit(yardstick: &mut Yardstick, sizes: Sizes, show: &mut Show) -> Result<()> {
    show.now("limit: SQLite alone");
    for _ in 0..sizes.steps(1_000).div_ceil(COMMITS_MAX) {
        yardstick.block(COMMITS_MAX)?;
    }
    Ok(())
}

/// A ground whose log has been written over once.
pub(crate) fn warm_ground(place: &Place, redactor: &Redactor) -> Result<Ground> {
    let mut ground = Ground::open(&place.fresh("store"), redactor.clone())?;
    let leases = ground.begin(1, &Plan { steps: WARM_STEPS, ask: false })?;
    ground.drive_new(leases, &mut Instantly::new(&mut Unseen, place.interrupt()))?;
    Ok(ground)
}

/// One run with `behind` steps in its journal goes on for `steps`, in turns with the yardstick.
pub(crate) fn one_after_the_other(
    place: &Place,
    ground: &mut Ground,
    yardstick: &mut Yardstick,
    rates: &mut Rates,
    behind: u64,
    steps: u64,
) -> Result<()> {
    let plan = Plan { steps: behind + steps, ask: false };
    let leases = ground.begin(1, &plan)?;
    for lease in leases.iter().filter(|_| behind > 0) {
        ground.make_past(lease, &plan, behind)?;
    }
    let mut between = Interleaved::new(yardstick, rates, steps / BLOCKS);
    ground.drive_new(leases, &mut Instantly::new(&mut between, place.interrupt()))?;
    between.trouble.map_or(Ok(()), |error| Err(error.into()))
}

pub(crate) fn w1(
    place: &Place,
    ground: &mut Ground,
    yardstick: &mut Yardstick,
    sizes: Sizes,
    show: &mut Show,
) -> Result<W1> {
    show.now("w1: one run, step by step");
    reset_peak_rss();
    let steps = sizes.steps(1_000);
    let commits = ground.store.commits();
    let mut rates = Rates::default();
    for _ in 0..ROUNDS_ALONE {
        one_after_the_other(place, ground, yardstick, &mut rates, 0, steps)?;
    }
    let commits = ground.store.commits() - commits;
    let (steps_per_s, limit_per_s) = (median(&rates.work), median(&rates.limit));
    Ok(W1 {
        steps_per_s,
        ratio: rates.ratio(),
        limit_per_s,
        syncs_per_step: commits as f64 / (steps * ROUNDS_ALONE as u64) as f64,
        peak_rss_bytes: peak_rss_bytes(),
        steps,
    })
}

pub(crate) fn w2(
    place: &Place,
    ground: &mut Ground,
    yardstick: &mut Yardstick,
    sizes: Sizes,
    show: &mut Show,
) -> Result<W2> {
    show.now("w2: many runs at once");
    reset_peak_rss();
    let (steps, runs) = (sizes.steps(10), sizes.runs(200));
    let commits = ground.store.commits();
    let (mut rates, mut whole) = (Rates::default(), vec![]);
    for _ in 0..ROUNDS_AT_ONCE {
        rates.limit.push(yardstick.block(runs * steps)?);
        let (since, mut first) = (Instant::now(), First::default());
        let leases = ground.begin(runs, &Plan { steps, ask: false })?;
        ground.drive_new(leases, &mut Instantly::new(&mut first, place.interrupt()))?;
        rates.work.push(per_second(runs * steps, first.at.unwrap_or(since)));
        whole.push(per_second(runs, since));
    }
    let commits = ground.store.commits() - commits;
    let (steps_per_s, limit_per_s) = (median(&rates.work), median(&rates.limit));
    Ok(W2 {
        steps_per_s,
        runs_per_s: median(&whole),
        ratio: rates.ratio(),
        limit_per_s,
        syncs_per_step: commits as f64 / (steps * runs * ROUNDS_AT_ONCE as u64) as f64,
        peak_rss_bytes: peak_rss_bytes(),
        runs,
        steps,
    })
}

/// One process killed and another one that went on.
struct Recovery {
    resume_s: f64,
    /// Steps that both did, but for the last one of the first: that was under way.
    repeated: u64,
    in_flight_repeated: u64,
}

fn recovery(place: &Place, steps: u64, behind: u64) -> Result<Recovery> {
    place.go_on()?;
    let dir = place.fresh("killed");
    let mut first = Other::start(Part::Begin, &dir, steps, 1, behind)?;
    let mut done: Vec<String> = vec![];
    while (done.len() as u64) < steps / 2 {
        done.push(first.step().ok_or_else(|| CommandError::not_good("a process died before it was killed"))?);
    }
    first.kill()?;
    done.extend(first.steps());
    drop(first);
    let under_way = done.last().cloned();
    let done: BTreeSet<String> = done.into_iter().collect();

    let mut second = Other::start(Part::GoOn, &dir, steps, 1, behind)?;
    let mut again = vec![];
    // When the second step begins, the outcome of the first is durable.
    again.extend(second.step());
    again.extend(second.step());
    let resume_s = second.since.elapsed().as_secs_f64();
    again.extend(second.steps());
    second.ended()?;
    let all: BTreeSet<&String> = done.iter().chain(&again).collect();
    if all.len() as u64 != steps {
        return Err(CommandError::not_good(format!("{} of {steps} steps were done after a kill", all.len())));
    }
    let (in_flight, finished): (Vec<&String>, Vec<&String>) =
        again.iter().filter(|key| done.contains(*key)).partition(|key| under_way.as_ref() == Some(*key));
    let (repeated, in_flight_repeated) = (finished.len() as u64, in_flight.len() as u64);
    let _ = std::fs::remove_dir_all(&dir);
    Ok(Recovery { resume_s, repeated, in_flight_repeated })
}

pub(crate) fn w3(place: &Place, sizes: Sizes, show: &mut Show) -> Result<W3> {
    // Fewer than these have no middle to be killed in.
    let steps = sizes.steps(1_000).max(8);
    let mut rounds = vec![];
    for round in 1..=KILLS {
        show.now(&format!("w3: kill {round} of {KILLS}"));
        rounds.push(recovery(place, steps, 0)?);
    }
    let mut long = vec![];
    // A short rehearsal of the bench itself does without.
    for round in 1..=(if steps < 1_000 { 0 } else { ROUNDS }) {
        show.now(&format!("w3: kill {round} of {ROUNDS} in a run of {LONG_ENTRIES} entries"));
        long.push(recovery(place, steps, (LONG_ENTRIES.saturating_sub(steps)) / 2)?);
    }
    let seconds = |rounds: &[Recovery]| median(&rounds.iter().map(|r| r.resume_s).collect::<Vec<_>>());
    let worst = |of: fn(&Recovery) -> u64| rounds.iter().chain(&long).map(of).max().unwrap_or_default();
    Ok(W3 {
        resume_s: seconds(&rounds),
        repeated: worst(|r| r.repeated),
        in_flight_repeated: worst(|r| r.in_flight_repeated),
        resume_100k_s: (!long.is_empty()).then(|| seconds(&long)),
        kills: rounds.len() + long.len(),
    })
}

pub(crate) fn w4(place: &Place, redactor: &Redactor, sizes: Sizes, show: &mut Show) -> Result<W4> {
    let (steps, runs) = (sizes.steps(1), sizes.runs(1_000));
    let (mut seconds, mut bytes, mut processes) = (vec![], 0, 0);
    for round in 1..=ROUNDS {
        place.go_on()?;
        show.now(&format!("w4: parked runs, round {round} of {ROUNDS}"));
        let dir = place.fresh("parked");
        let mut asker = Other::start(Part::Ask, &dir, steps, runs, 0)?;
        asker.steps();
        asker.ended()?;
        bytes = bytes_below(&dir).div_ceil(runs);

        let mut store = Store::open(&dir, redactor.clone())?;
        processes = store.runs(&Filter::default())?.runs.iter().filter(|r| r.holder.is_some()).count();
        let answered = answer_all(place, &mut store)?;
        store.close()?;
        if answered != runs {
            return Err(CommandError::not_good(format!("{answered} of {runs} runs had asked")));
        }

        let mut second = Other::start(Part::GoOn, &dir, steps, runs, 0)?;
        let done = second.steps().len() as u64;
        seconds.push(second.since.elapsed().as_secs_f64());
        second.ended()?;
        if done != runs * steps {
            return Err(CommandError::not_good(format!("{done} of {} steps were done", runs * steps)));
        }
        let _ = std::fs::remove_dir_all(&dir);
    }
    Ok(W4 { resume_s: median(&seconds), bytes_per_run: bytes, processes, runs })
}

/// Answers every open question, as people do from other processes.
fn answer_all(place: &Place, store: &mut Store) -> Result<u64> {
    let open = store.open_calls(&OpenFilter::default())?;
    for call in &open {
        place.go_on()?;
        let answer =
            Answer { choice: "approve".to_owned(), text: None, by: "bench".to_owned(), digest: call.digest };
        store.signal(&NewSignal {
            to: Target::Call(call.id.clone()),
            kind: SignalKind::Answer,
            body: store.clean(serde_json::to_vec(&answer).unwrap_or_default()),
            by: "bench".to_owned(),
            at: now(),
            digest: call.digest,
        })?;
    }
    Ok(open.len() as u64)
}
