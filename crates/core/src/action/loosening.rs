//! What became easier to pass between two versions of a lifecycle file. It is shown at the next approval, so that
//! nobody lowers a bar unseen (OC-03, OC-122).

use super::lifecycle::Lifecycle;
use super::lifecycle::STAGES;

/// Every way in which `after` demands less than `before`, in words.
pub fn loosened(before: &Lifecycle, after: &Lifecycle) -> Vec<String> {
    let mut found = vec![];
    let rank = |stage: &str| STAGES.iter().position(|known| *known == stage);
    if before.current_stage != after.current_stage {
        let earlier = rank(&after.current_stage) < rank(&before.current_stage);
        let word = if earlier { "went back" } else { "changed" };
        found.push(format!("the stage {word} from {} to {}", before.current_stage, after.current_stage));
    }
    for stage in &before.stages {
        let Ok(now) = after.stage(&stage.name) else {
            found.push(format!("the stage {} is no longer there", stage.name));
            continue;
        };
        for gate in stage.required_gates.iter().filter(|gate| !now.required_gates.contains(gate)) {
            found.push(format!("the stage {} no longer requires the gate {gate}", stage.name));
        }
    }
    for gate in &before.gates {
        if let Some(now) = after.gates.iter().find(|now| now.name == gate.name)
            && now.command != gate.command
        {
            let (was, is) = (gate.command.join(" "), now.command.join(" "));
            found.push(format!("the gate {} ran `{was}` and now runs `{is}`", gate.name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::lifecycle::Gate;
    use crate::action::lifecycle::Stage;
    use proptest::prelude::*;

    fn lifecycle(current: &str, required: &[&str], command: &str) -> Lifecycle {
        let stage = |name: &str| Stage {
            name: name.to_owned(),
            description: String::new(),
            required_gates: required.iter().map(|gate| (*gate).to_owned()).collect(),
        };
        let gate = Gate { name: "infra".to_owned(), command: vec![command.to_owned()], ..Gate::default() };
        Lifecycle {
            current_stage: current.to_owned(),
            stages: ["planning", "implementation"].map(stage).to_vec(),
            gates: vec![gate],
        }
    }

    #[test]
    fn oc_122_whatever_becomes_easier_is_told() {
        let before = lifecycle("implementation", &["infra", "security"], "strict");
        let after = lifecycle("planning", &["security"], "lenient");
        assert_eq!(
            loosened(&before, &after),
            [
                "the stage went back from implementation to planning",
                "the stage planning no longer requires the gate infra",
                "the stage implementation no longer requires the gate infra",
                "the gate infra ran `strict` and now runs `lenient`",
            ]
        );
        let gone = Lifecycle { stages: vec![], ..before.clone() };
        assert_eq!(loosened(&before, &gone).len(), 2);
    }

    proptest! {
        #[test]
        fn oc_122_more_gates_loosen_nothing(gates in proptest::collection::btree_set("[a-e]", 0..5), more in "[f-h]") {
            let names: Vec<&str> = gates.iter().map(String::as_str).collect();
            let all: Vec<&str> = names.iter().copied().chain([more.as_str()]).collect();
            let (few, many) = (lifecycle("planning", &names, "x"), lifecycle("planning", &all, "x"));
            prop_assert!(loosened(&few, &many).is_empty());
            prop_assert_eq!(loosened(&many, &few).len(), 2);
        }
    }
}
