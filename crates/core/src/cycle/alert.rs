//! Alerts: what a person should hear of, and the counters behind the pause (CY-83 to CY-86, K-60).

use std::fmt;

use serde::Deserialize;
use serde::Serialize;

use super::Limits;
use super::Mark;
use super::Risk;
use crate::time::Utc;

/// So many loops without a person are a sign of being stuck.
const STUCK_LOOPS: u32 = 3;

/// Something that a person should hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Alert {
    #[serde(rename = "Stuck Cycles")]
    StuckCycles,
    #[serde(rename = "High Risk")]
    HighRisk,
    #[serde(rename = "5-Loop Pause")]
    FiveLoopPause,
    #[serde(rename = "Duration Exceeded")]
    DurationExceeded,
}

impl Alert {
    pub const ALL: [Alert; 4] =
        [Alert::StuckCycles, Alert::HighRisk, Alert::FiveLoopPause, Alert::DurationExceeded];

    /// The name that the seed gives it.
    pub fn name(self) -> &'static str {
        match self {
            Alert::StuckCycles => "Stuck Cycles",
            Alert::HighRisk => "High Risk",
            Alert::FiveLoopPause => "5-Loop Pause",
            Alert::DurationExceeded => "Duration Exceeded",
        }
    }

    /// A pause is expected and no error.
    pub fn is_expected(self) -> bool {
        self == Alert::FiveLoopPause
    }

    /// What happened, in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Alert::StuckCycles => "Planner, Actor and Judge have gone round three times without a person.",
            Alert::HighRisk => "A step of high risk is planned that no person has approved.",
            Alert::FiveLoopPause => {
                "The loop is paused because the work was not sufficient too often in a row."
            }
            Alert::DurationExceeded => "The cycle has been running for long without a person.",
        }
    }
}

impl fmt::Display for Alert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether the loop has gone round too often since a person last had a say (CY-83).
pub fn stuck(loops_since_human: u32) -> bool {
    loops_since_human >= STUCK_LOOPS
}

/// Whether a step is of high risk and nobody approved it (CY-84).
pub fn high_risk(risk: Risk, approved: bool) -> bool {
    risk == Risk::High && !approved
}

/// Whether more time than allowed has passed since a person last had a say (CY-86). Exactly at the limit is not over.
pub fn overdue(last_checkpoint: Utc, now: Utc, limits: &Limits) -> bool {
    now.since_ms(last_checkpoint) > u64::from(limits.minutes) * 60_000
}

/// How often in a row the work was not sufficient, and how often in a row the Actor failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    pub insufficient: u32,
    pub fails: u32,
}

impl Counters {
    /// Counts a result. A PASS ends a row of INSUFFICIENT, which a FAIL between does not (E-31, E-32); a SUCCESS
    /// ends a row of FAIL.
    #[must_use]
    pub fn after(self, mark: Mark) -> Counters {
        match mark {
            Mark::Insufficient => Counters { insufficient: self.insufficient.saturating_add(1), ..self },
            Mark::Pass => Counters { insufficient: 0, ..self },
            Mark::Fail => Counters { fails: self.fails.saturating_add(1), ..self },
            Mark::Success => Counters { fails: 0, ..self },
            Mark::Init | Mark::PlanCreated | Mark::PlanUpdated => self,
        }
    }

    /// Whether the loop pauses for a person now (CY-10, K-60).
    pub fn pauses(self, limits: &Limits) -> bool {
        self.insufficient >= limits.insufficient || self.fails >= limits.insufficient
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause_after(marks: &[Mark]) -> Option<usize> {
        let limits = Limits::default();
        let mut counters = Counters::default();
        marks.iter().position(|mark| {
            counters = counters.after(*mark);
            counters.pauses(&limits)
        })
    }

    const I: Mark = Mark::Insufficient;

    // CY-09, CY-10, CY-93
    #[test]
    fn cy_09_cy_10_cy_93_the_fifth_in_a_row_pauses() {
        assert_eq!(pause_after(&[I, I, I, I]), None);
        assert_eq!(pause_after(&[I, I, I, I, I]), Some(4));
        assert!(!Counters::default().pauses(&Limits::default()));
    }

    #[test]
    fn e_31_a_pass_begins_anew() {
        assert_eq!(pause_after(&[I, I, I, I, Mark::Pass, I]), None);
    }

    #[test]
    fn e_32_a_fail_of_the_actor_does_not_begin_anew() {
        assert_eq!(pause_after(&[I, I, Mark::Fail, I, I, I]), Some(5));
    }

    #[test]
    fn e_33_five_fails_of_the_actor_pause_as_well() {
        let round = [Mark::PlanUpdated, Mark::Fail];
        assert_eq!(pause_after(&round.repeat(6)), Some(9));
        assert_eq!(
            pause_after(&[Mark::Fail, Mark::Fail, Mark::Success, Mark::Fail, Mark::Fail, Mark::Fail]),
            None
        );
    }

    // CY-83, CY-84, CY-85, CY-86
    #[test]
    fn cy_83_cy_84_cy_85_cy_86_the_alerts_and_their_names() {
        let names = Alert::ALL.map(Alert::name);
        assert_eq!(names, ["Stuck Cycles", "High Risk", "5-Loop Pause", "Duration Exceeded"]);
        assert_eq!(serde_json::to_value(Alert::ALL).unwrap(), serde_json::json!(names));
        assert_eq!(Alert::ALL.map(Alert::is_expected), [false, false, true, false]);
        assert_eq!([2, 3, 4].map(stuck), [false, true, true]);
        assert!(high_risk(Risk::High, false));
        assert!(!high_risk(Risk::High, true) && !high_risk(Risk::Medium, false));
        let at = |ms: i64| overdue(Utc(1_000), Utc(1_000 + ms), &Limits::default());
        assert!(!at(30 * 60_000) && at(30 * 60_000 + 1));
    }
}
