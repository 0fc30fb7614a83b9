//! How much people are involved: a matter of how much of the knowledge is not written down (PX-33 to PX-58).

use super::Composition;
use super::Decimal;
use super::Pattern;

/// The level of engagement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Low,
    Medium,
    High,
}

impl Level {
    /// High above 70, Medium from 40 to 70 inclusive, Low below 40.
    pub fn of(composition: Option<&Composition>) -> Level {
        let share = composition.map_or(Decimal::ZERO, Composition::non_formal);
        match () {
            () if share > Decimal::whole(70) => Level::High,
            () if share >= Decimal::whole(40) => Level::Medium,
            () => Level::Low,
        }
    }

    /// A judgement with less confidence than this is put to a person.
    pub fn floor(self) -> i64 {
        match self {
            Level::Low => 0,
            Level::Medium => 50,
            Level::High => 80,
        }
    }

    /// The pattern by which a step is really carried out (PX-55).
    pub fn elevate(self, pattern: Pattern) -> Pattern {
        match (self, pattern) {
            (Level::High, Pattern::AiOnly) => Pattern::AiLed,
            (Level::High, Pattern::AiLed) => Pattern::Partnership,
            (_, pattern) => pattern,
        }
    }

    /// The confidence that entry and exit criteria need (K-75): 100 less the tacit share, at least the floor, at
    /// most 90.
    pub fn threshold(self, composition: Option<&Composition>) -> f64 {
        let tacit = composition.map_or(0.0, |c| c.tacit.value.to_f64());
        (100.0 - tacit).max(self.floor() as f64).min(90.0)
    }

    /// Whether a judgement within a step is too uncertain to stand alone. Where people are much involved, a missing
    /// number counts as uncertain (PX-59).
    pub fn uncertain(self, confidence: Option<f64>) -> bool {
        match (self, confidence) {
            (Level::Low, _) | (Level::Medium, None) => false,
            (Level::High, None) => true,
            (level, Some(confidence)) => confidence < level.floor() as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc::At;
    use crate::finding::Place;

    fn composition(tacit: &str, emergent: &str) -> Composition {
        let at = |text: &str| At::new(text.parse().unwrap(), Place::TOP);
        Composition { place: Place::TOP, formal: at("0"), tacit: at(tacit), emergent: at(emergent) }
    }

    #[test]
    fn e_03_px_33_px_34_levels_by_the_non_formal_share() {
        for (tacit, emergent, level) in [
            ("35", "35", Level::Medium),
            ("35.5", "35", Level::High),
            ("40", "0", Level::Medium),
            ("39.9", "0", Level::Low),
        ] {
            assert_eq!(Level::of(Some(&composition(tacit, emergent))), level);
        }
    }

    #[test]
    fn px_55_elevation_lifts_two_patterns_at_high_and_none_elsewhere() {
        let all =
            [Pattern::AiOnly, Pattern::AiLed, Pattern::Partnership, Pattern::HumanLed, Pattern::HumanOnly];
        let high = all.map(|p| Level::High.elevate(p));
        let lifted = [
            Pattern::AiLed,
            Pattern::Partnership,
            Pattern::Partnership,
            Pattern::HumanLed,
            Pattern::HumanOnly,
        ];
        assert_eq!(high, lifted);
        assert_eq!(all.map(|p| Level::Medium.elevate(p)), all);
        assert_eq!(all.map(|p| Level::Low.elevate(p)), all);
    }

    #[test]
    fn px_113_threshold_has_a_floor_and_a_cap() {
        assert_eq!(Level::Low.threshold(Some(&composition("15", "5"))), 85.0);
        assert_eq!(Level::Low.threshold(Some(&composition("0", "0"))), 90.0);
        assert_eq!(Level::High.threshold(Some(&composition("60", "30"))), 80.0);
        assert_eq!(Level::Medium.threshold(Some(&composition("60", "0"))), 50.0);
    }

    #[test]
    fn px_58_px_59_uncertainty_by_level() {
        assert!(Level::High.uncertain(Some(79.9)) && Level::High.uncertain(None));
        assert!(!Level::High.uncertain(Some(80.0)));
        assert!(Level::Medium.uncertain(Some(49.0)) && !Level::Medium.uncertain(Some(50.0)));
        assert!(!Level::Medium.uncertain(None) && !Level::Low.uncertain(Some(0.0)));
    }
}
