//! The time that a process may take (PX-44 to PX-48).

use serde_json::Value;
use serde_json::json;

use super::definition::Sla;

/// More than this over the expected time is worth a note: a quarter.
const SIGNIFICANT_PERCENT: u64 = 25;

/// How a run stands against its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    Fine,
    /// Past the warning share; so many percent of the timeout are used.
    Warning {
        percent: u64,
    },
    Over,
}

fn ms(minutes: super::Decimal) -> u64 {
    u64::try_from(minutes.thousandths()).unwrap_or(0).saturating_mul(60)
}

/// Exactly at the limit is not over it (E-19).
pub fn pace(sla: &Sla, elapsed_ms: u64) -> Pace {
    let Some(timeout) = sla.timeout_minutes.as_ref().map(|t| ms(t.value)).filter(|t| *t > 0) else {
        return Pace::Fine;
    };
    let warning = (timeout as f64 * sla.warning_threshold_percent.to_f64() / 100.0) as u64;
    match () {
        () if elapsed_ms > timeout => Pace::Over,
        () if elapsed_ms > warning => Pace::Warning { percent: elapsed_ms.saturating_mul(100) / timeout },
        () => Pace::Fine,
    }
}

/// The metrics of the outcome; suspended time does not count, and is told (E-18).
pub fn metrics(sla: &Sla, elapsed_ms: u64, suspended_ms: u64) -> Value {
    let minutes = |ms: u64| (ms as f64 / 60.0).round() / 1000.0;
    let limit = sla.timeout_minutes.as_ref().or(sla.expected_duration_minutes.as_ref());
    let within = limit.is_none_or(|l| elapsed_ms <= ms(l.value));
    json!({
        "expected_minutes": sla.expected_duration_minutes.as_ref().map(|e| e.value.to_f64()),
        "actual_minutes": minutes(elapsed_ms),
        "suspended_minutes": minutes(suspended_ms),
        "within_sla": within,
    })
}

/// A note for the audit when the run took significantly longer than expected (PX-47).
pub fn overrun(sla: &Sla, elapsed_ms: u64) -> Option<String> {
    let expected = sla.expected_duration_minutes.as_ref()?;
    let limit = ms(expected.value).saturating_mul(100 + SIGNIFICANT_PERCENT) / 100;
    (elapsed_ms > limit).then(|| {
        let minutes = (elapsed_ms as f64 / 6_000.0).round() / 10.0;
        format!(
            "It took {minutes} minutes, significantly longer than the {} that were expected.",
            expected.value
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::At;
    use crate::finding::Place;

    fn sla(expected: &str, timeout: &str) -> Sla {
        let at = |text: &str| Some(At::new(text.parse().unwrap(), Place::TOP));
        Sla {
            place: Place::TOP,
            expected_duration_minutes: at(expected),
            timeout_minutes: at(timeout),
            warning_threshold_percent: super::super::Decimal::whole(80),
        }
    }

    #[test]
    fn e_19_px_45_px_46_exactly_at_the_limit_is_a_warning_and_not_over() {
        let sla = sla("0.5", "1.5");
        assert_eq!(pace(&sla, 72_000), Pace::Fine);
        assert_eq!(pace(&sla, 72_001), Pace::Warning { percent: 80 });
        assert_eq!(pace(&sla, 90_000), Pace::Warning { percent: 100 });
        assert_eq!(pace(&sla, 90_001), Pace::Over);
    }

    #[test]
    fn px_47_px_48_metrics_and_overrun_of_a_quarter() {
        let sla = sla("2", "5");
        assert_eq!(overrun(&sla, 150_000), None);
        assert_eq!(
            overrun(&sla, 150_001).unwrap(),
            "It took 2.5 minutes, significantly longer than the 2 that were expected."
        );
        let found = metrics(&sla, 90_000, 60_000);
        assert_eq!(found["actual_minutes"], json!(1.5));
        assert_eq!(found["suspended_minutes"], json!(1.0));
        assert_eq!(found["within_sla"], json!(true));
        assert_eq!(metrics(&sla, 300_001, 0)["within_sla"], json!(false));
    }
}
