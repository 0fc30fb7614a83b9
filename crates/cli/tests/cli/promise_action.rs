//! The promise at the command line, for actions: nothing is good by default, red is red, findings stay.

use crate::action_support::RELEASE;
use crate::action_support::Workshop;

const REVIEWED: &str = "- backend-developer\n- security\n- {gate: approval, name: release}\n";
const CRITICAL: (&str, usize, &str) =
    ("security", 1, "usual; found critical 'SQL injection' engine/api.sh 1");

/// A critical finding survives a reviewer that crashes, says nothing about it, or closes what did not change.
#[test]
fn oc_58_a_critical_finding_survives_omission_and_a_false_closing() {
    for (second, what) in
        [("usual; finish", "omission"), ("usual; closes F7", "another name"), ("usual; exit 1", "a crash")]
    {
        let workshop = Workshop::of(REVIEWED);
        workshop.table(&[("security", 0, second), CRITICAL]);
        workshop.build(&[]).exits(3);
        let question = workshop.question();
        assert!(!question.choices().contains(&"approve"), "{what}: {:?}", question.choices());
        let open = serde_json::json!("open");
        let shown = workshop.shown();
        assert_eq!(shown["findings"][0]["state"], open, "{what}: {shown}");
    }
}

/// A red exit code is red, whatever number stands in the output or in a report that the agent wrote.
#[test]
fn oc_57_no_number_outvotes_a_red_exit_code() {
    for command in [
        "echo TOTAL 100 0 100%; exit 1",
        "echo TOTAL 100 0 100%; exit 101",
        "echo TOTAL 100 0 100%; exit 137",
        "echo TOTAL 100 0 100%; kill -9 $$",
    ] {
        let workshop = Workshop::of("- backend-developer\n- {gate: quality, name: tested}\n");
        workshop.configure(&format!("[gates.coverage]\ncommand = [\"sh\", \"-c\", \"{command}\"]\n"));
        workshop.build(&[]).exits(3);
        assert_eq!(workshop.question().choices(), ["fix", "retry", "cancel"], "{command}");
    }
}

/// Zero tests are unknown, and a gate that runs none does not pass.
#[test]
fn a_run_of_no_tests_does_not_pass_its_gate() {
    let workshop = Workshop::of(
        "- backend-developer\n- {gate: quality, name: tested, thresholds: {pass_rate_pct: 1}}\n",
    );
    workshop
        .configure("[gates.tests]\ncommand = [\"sh\", \"-c\", \"echo ==== no tests ran in 0.01s ====\"]\n");
    workshop.build(&[]).exits(3).says("no test ran");
}

/// Where nothing is configured, the approval and the end say so, and name who approved.
#[test]
fn without_checks_the_end_names_what_was_not_checked_and_who_approved() {
    let workshop = Workshop::of("- backend-developer\n- {gate: approval, name: release}\n");
    workshop.build(&[]).exits(3).says("Not checked");
    let end = workshop.resume(&[RELEASE]);
    end.exits(0).says("Approved: release by ").says("Not checked: this action has no gate that runs a check");
}
