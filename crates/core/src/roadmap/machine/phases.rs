//! Which phases a step has (K-01, K-123). `show`, the hooks, the gate, the roadmap dialect and `phase` all ask here.

use crate::roadmap::log::Log;
use crate::roadmap::phases::Schema;
use crate::roadmap::state::PhaseRecord;

/// The first version whose header tells which phases a log has; older headers say nothing about them.
const HEADER_TELLS_FROM: u32 = 4;

/// What is on record about a step, as far as its phases are concerned.
#[derive(Clone, Copy, Debug)]
pub enum Listed<'a> {
    /// No file knows the step.
    Nothing,
    /// A step file or a status file lists the phases of a step.
    Records(&'a [PhaseRecord]),
    /// A log names phases as they end. It may not name the step yet.
    Log { log: &'a Log, step: &'a str },
}

/// Returns the phases of a step: `[guard] phases` of the project, else the roadmap's list, else those of the log's latest
/// finished step; each as long as it has all phases that are on record. Otherwise the known list that fits what is on
/// record, then what the header of a log tells, and the usual list where nothing tells.
pub fn phases_of<'s>(listed: Listed<'s>, own: &'s [Schema], planned: Option<&'s Schema>) -> &'s Schema {
    let names = names(listed);
    match listed {
        Listed::Log { log, .. } => found(&names, own, planned, log.latest_finished(), &|has_all| {
            header(log).filter(has_all).or_else(|| Schema::detect(log.phase_names()).filter(has_all))
        }),
        Listed::Nothing | Listed::Records(_) => among(&names, own, planned),
    }
}

/// The same for the names that a step file or a status file lists.
pub(in crate::roadmap) fn among<'s>(
    names: &[&str],
    own: &'s [Schema],
    planned: Option<&'s Schema>,
) -> &'s Schema {
    found(names, own, planned, None, &|_| None)
}

/// Asks whether a list has all phases that are on record.
type HasAll<'a> = &'a dyn Fn(&&Schema) -> bool;

fn found<'s>(
    names: &[&str],
    own: &'s [Schema],
    planned: Option<&'s Schema>,
    finished: Option<&'s Schema>,
    of_log: &dyn Fn(HasAll<'_>) -> Option<&'static Schema>,
) -> &'s Schema {
    let lists = || own.iter().chain(planned).chain(Schema::built_in());
    // A name that no list has says nothing about which list it is.
    let is_known = |name: &&str| lists().any(|schema| schema.phase(name).is_some());
    let known: Vec<&str> = names.iter().copied().filter(is_known).collect();
    let has_all = |schema: &&Schema| known.iter().all(|name| schema.phase(name).is_some());
    if let Some(said) = own.iter().chain(planned).chain(finished).find(has_all) {
        return said;
    }
    let complete = |schema: &&Schema| schema.names().eq(known.iter().copied());
    if let Some(fitting) = Schema::built_in().iter().find(complete).or_else(|| of_log(&has_all)) {
        return fitting;
    }
    Schema::detect_in(lists(), known.iter().copied()).unwrap_or_else(|| Schema::usual())
}

fn names(listed: Listed<'_>) -> Vec<&str> {
    match listed {
        Listed::Nothing => vec![],
        Listed::Records(records) => records.iter().map(|record| record.name.as_str()).collect(),
        Listed::Log { log, step } => {
            let mut names: Vec<&str> = vec![];
            for event in log.events().iter().filter(|event| event.step == step && event.is_phase()) {
                if !names.contains(&event.phase.as_str()) {
                    names.push(&event.phase);
                }
            }
            names
        }
    }
}

/// The list that the header of a log tells; step files are never asked for theirs, since their own list counts.
fn header(log: &Log) -> Option<&'static Schema> {
    let version = log.schema_version()?;
    let major: u32 = version.trim().trim_start_matches(['v', 'V']).split('.').next()?.parse().ok()?;
    if major < HEADER_TELLS_FROM { None } else { Schema::of_version(&version) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: &str = "PREPARE RED_ACCEPTANCE RED_UNIT GREEN COMMIT";
    const SEVEN: &str = "PREPARE RED_ACCEPTANCE RED_UNIT GREEN REVIEW REFACTOR_CONTINUOUS COMMIT";

    fn log(header: &str, steps: &[(&str, &str)]) -> Log {
        let mut text = format!("schema_version: \"{header}\"\nproject_id: p\nevents:\n");
        let phases =
            steps.iter().flat_map(|(step, phases)| phases.split(' ').map(move |phase| (step, phase)));
        for (step, phase) in phases.filter(|(_, phase)| !phase.is_empty()) {
            text.push_str(&format!("  - \"{step}|{phase}|EXECUTED|PASS|2026-02-05T22:03:00Z\"\n"));
        }
        if steps.is_empty() {
            text = text.replace("events:\n", "events: []\n");
        }
        Log::read("execution-log.yaml", &text).unwrap()
    }

    fn of(log: &Log, own: &[Schema]) -> String {
        phases_of(Listed::Log { log, step: "02" }, own, None).names().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn k_123_the_projects_own_list_counts_more_than_anything_else() {
        let own = Schema::parse("version: own\nphases: [RED, GREEN, CHECK, COMMIT]\n").unwrap();
        let log = log("4.0", &[("01", FIVE), ("02", "RED")]);
        assert_eq!(of(&log, std::slice::from_ref(&own)), "RED GREEN CHECK COMMIT");
        let fresh = phases_of(Listed::Nothing, std::slice::from_ref(&own), Some(Schema::usual()));
        assert_eq!(fresh, &own);
        // A record that it cannot hold is of another generation.
        let records = [PhaseRecord::new("PREPARE", 0), PhaseRecord::new("COMMIT", 1)];
        let found = phases_of(Listed::Records(&records), std::slice::from_ref(&own), Some(Schema::usual()));
        assert_eq!(found, Schema::usual());
    }

    #[test]
    fn k_123_a_log_goes_on_with_the_phases_of_its_latest_finished_step() {
        assert_eq!(of(&log("3.0", &[("00", SEVEN), ("01", FIVE)]), &[]), FIVE);
        assert_eq!(of(&log("3.0", &[("00", FIVE), ("01", SEVEN), ("02", "PREPARE")]), &[]), SEVEN);
        // One that is not finished says nothing.
        assert_eq!(of(&log("3.0", &[("01", FIVE), ("03", "PREPARE RED_UNIT GREEN REVIEW")]), &[]), FIVE);
    }

    #[test]
    fn k_123_without_a_finished_step_any_complete_known_list_passes() {
        assert_eq!(of(&log("3.0", &[("02", FIVE)]), &[]), FIVE);
        assert_eq!(of(&log("1.0", &[("02", "RED GREEN COMMIT")]), &[]), "RED GREEN COMMIT");
    }

    #[test]
    fn k_123_the_header_tells_only_from_4_on() {
        assert_eq!(of(&log("3.0", &[]), &[]), SEVEN);
        assert_eq!(of(&log("1.0", &[]), &[]), SEVEN);
        assert_eq!(of(&log("4.0", &[]), &[]), FIVE);
        assert_eq!(of(&log("v5.1", &[]), &[]), "RED GREEN COMMIT");
        assert_eq!(of(&log("4.0", &[("02", "PREPARE")]), &[]), FIVE);
    }

    #[test]
    fn k_123_a_step_file_has_the_phases_that_it_lists() {
        let records: Vec<PhaseRecord> =
            FIVE.split(' ').enumerate().map(|(index, name)| PhaseRecord::new(name, index)).collect();
        let found = phases_of(Listed::Records(&records), &[], None);
        assert_eq!(found.names().collect::<Vec<_>>().join(" "), FIVE);
        assert_eq!(phases_of(Listed::Records(&[]), &[], None), Schema::usual());
    }
}
