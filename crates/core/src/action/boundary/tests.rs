//! Tests of the rule about where roles may write.

use proptest::prelude::*;

use super::*;
use crate::guard::scope::Status;

fn duty(writes: &[&str]) -> Duty {
    Duty {
        role: "devops".to_owned(),
        writes: writes.iter().map(|entry| (*entry).to_owned()).collect(),
        ..Duty::default()
    }
}

fn said(writes: &[&str], changed: &[&str]) -> Vec<String> {
    let changed: Vec<Changed> = changed.iter().map(|path| Changed::new(*path, Status::Modified)).collect();
    feedback(&judge(&duty(writes), &changed).unwrap())
}

#[test]
fn oc_14_only_what_the_contract_names_may_change() {
    assert_eq!(said(&["engine/**", "docs/a.md"], &["engine/src/x.rs", "docs/a.md"]), Vec::<String>::new());
    assert_eq!(
        said(&["engine/**"], &["experience/x.ts"]),
        ["experience/x.ts is not among the files that you may write"]
    );
    assert_eq!(said(&[], &["a"]).len(), 1);
    assert_eq!(said(&["engine/**"], &["../x"]), ["../x is outside of the workspace"]);
}

// OC-16, E-69
#[test]
fn e_69_nothing_of_a_solution_goes_into_the_framework() {
    let refused = "agents/templates/x.md belongs to the generic framework; write what is about this solution to planning-mds/";
    assert_eq!(said(&["engine/**"], &["agents/templates/x.md"]), [refused]);
    assert_eq!(said(&["**/*.md"], &["agents/templates/x.md"]), [refused]);
    assert_eq!(said(&["agents/templates/**"], &["agents/templates/x.md"]), Vec::<String>::new());
    let customers = ["Acme Farms".to_owned(), "AB".to_owned()];
    let breach = solution_words("agents/templates/x.md", "for acme-farms and AB", &customers).unwrap();
    assert!(breach.to_string().ends_with("names this solution: Acme Farms"), "{breach}");
    assert_eq!(solution_words("planning-mds/x.md", "for Acme Farms", &customers), None);
    assert_eq!(solution_words("agents/x.md", "for everybody", &customers), None);
}

#[test]
fn what_the_engine_writes_is_no_breach() {
    assert_eq!(
        said(&["a"], &["logs/errors/x.json", ".snapshots/a/manifest.json", ".artifacts-failed/r/x"]),
        Vec::<String>::new()
    );
    let ignored = Changed { ignored: true, ..Changed::new("target/x", Status::Added) };
    assert_eq!(judge(&duty(&["a"]), &[ignored]).unwrap(), []);
    assert!(judge(&duty(&["/etc"]), &[]).is_err());
}

proptest! {
    #[test]
    fn oc_14_a_change_outside_of_all_promises_is_always_found(
        folder in "[a-c]", path in "[a-e]/[a-z]{1,4}",
    ) {
        let pattern = format!("{folder}/**");
        prop_assert_eq!(said(&[&pattern], &[&path]).is_empty(), path.starts_with(&folder));
    }
}
