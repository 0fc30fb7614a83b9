//! Tests of the limits.

use proptest::prelude::*;

use super::*;

fn changed(path: &str, added: u64, deleted: u64) -> Changed {
    Changed { path: path.to_owned(), added, deleted, binary: false, renamed: false }
}

fn size(lines: u64, files: u64) -> Measure {
    Measure { lines, files, docs_only: false }
}

fn any() -> Limits {
    Limits { mode: ScopeMode::Any, ..Limits::default() }
}

#[test]
fn e_29_what_counts_as_lines_and_files() {
    let changes = [
        changed("src/a.rs", 10, 5),
        Changed { renamed: true, ..changed("src/moved.rs", 0, 0) },
        changed("Cargo.lock", 40, 2),
        Changed { binary: true, ..changed("logo.png", 7, 7) },
        changed("src/gone.rs", 0, 30),
    ];
    assert_eq!(measure(&changes), Measure { lines: 87, files: 5, docs_only: false });
    assert_eq!(measure(&[]), Measure { lines: 0, files: 0, docs_only: false });
    assert_eq!(measure(&[changed("a", u64::MAX, u64::MAX), changed("b", 1, 1)]).lines, u64::MAX);
}

// E-28, CY-42
#[test]
fn e_28_cy_42_only_both_exceeded_is_a_stop() {
    let limits = Limits::default();
    for (lines, files) in [(400, 2), (100, 9), (150, 2), (150, 9), (900, 2), (0, 0)] {
        assert_eq!(judge(&size(lines, files), Risk::Medium, &limits), Verdict::Fine, "{lines} {files}");
    }
    assert_eq!(
        judge(&size(151, 3), Risk::Medium, &limits),
        Verdict::Stop("151 lines in 3 files were changed; the limit is 150 lines or 2 files.".to_owned())
    );
}

#[test]
fn a_project_may_take_either_for_too_much() {
    assert_eq!(judge(&size(150, 2), Risk::Low, &any()), Verdict::Fine);
    for (lines, files) in [(151, 1), (10, 3)] {
        assert!(matches!(judge(&size(lines, files), Risk::Low, &any()), Verdict::Stop(_)), "{lines} {files}");
    }
    let docs = Measure { lines: 164, files: 1, docs_only: true };
    assert!(matches!(judge(&docs, Risk::Low, &any()), Verdict::Flagged(_)));
    assert!(matches!(judge(&Measure { files: 3, ..docs }, Risk::Low, &any()), Verdict::Stop(_)));
}

// E-30, CY-74
#[test]
fn e_30_cy_74_documents_at_low_risk_have_a_slack_below_a_tenth() {
    let limits = Limits::default();
    let docs = |lines| Measure { lines, files: 3, docs_only: true };
    assert_eq!(judge(&docs(150), Risk::Low, &limits), Verdict::Fine);
    for lines in [151, 164] {
        assert_eq!(
            judge(&docs(lines), Risk::Low, &limits),
            Verdict::Flagged(format!(
                "{lines} lines were changed where 150 are allowed; it passes because less than a tenth more was changed, in documents alone and at low risk."
            ))
        );
    }
    assert!(matches!(judge(&docs(165), Risk::Low, &limits), Verdict::Stop(_)));
    assert!(matches!(judge(&docs(151), Risk::Medium, &limits), Verdict::Stop(_)));
    assert!(matches!(judge(&size(151, 3), Risk::Low, &limits), Verdict::Stop(_)));
}

#[test]
fn an_excess_of_either_is_told_at_the_approval() {
    let limits = Limits::default();
    assert_eq!(remarks(&size(150, 2), &limits), Vec::<String>::new());
    assert_eq!(
        remarks(&size(151, 3), &limits),
        [
            "The change has 151 lines, more than the 150 that a step should have.",
            "The change touches 3 files, more than the 2 that a step should touch.",
        ]
    );
}

#[test]
fn documents_are_known_by_their_names() {
    for (path, doc) in [
        ("README.md", true),
        ("docs/guide.txt", true),
        ("docs/picture.png", true),
        ("LICENSE", true),
        ("notes/a.rst", true),
        ("docs/build.py", false),
        ("requirements.txt", false),
        ("Makefile", false),
        ("logo.png", false),
        ("src/readme.rs", false),
    ] {
        assert_eq!(measure(&[changed(path, 1, 0)]).docs_only, doc, "{path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn more_is_never_better(lines in 0..400_u64, files in 0..6_u64, more in 0..50_u64, docs_only: bool, strict: bool) {
        let limits = if strict { any() } else { Limits::default() };
        let rank = |verdict: Verdict| match verdict {
            Verdict::Fine => 0,
            Verdict::Flagged(_) => 1,
            Verdict::Stop(_) => 2,
        };
        let judged = |lines, files| rank(judge(&Measure { lines, files, docs_only }, Risk::Low, &limits));
        prop_assert!(judged(lines, files) <= judged(lines + more, files));
        prop_assert!(judged(lines, files) <= judged(lines, files + more));
        // What is judged a stop is also too large for a plan.
        prop_assert!(judged(lines, files) < 2 || limits.exceeded(lines, files));
    }
}
