//! Tests of the rules about what roles hand in.

use proptest::prelude::*;

use super::*;

fn listing(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

fn said(duty: &Duty, path: &str, text: &str, existing: &[&str]) -> Vec<String> {
    let artifacts = [Artifact { path, text: Some(text) }];
    validate(duty, &artifacts, &listing(existing)).iter().map(ToString::to_string).collect()
}

fn plain_duty() -> Duty {
    Duty { role: "architect".to_owned(), ..Duty::default() }
}

// OC-35: completeness.
#[test]
fn oc_35_required_sections_are_there_and_say_something() {
    let duty = Duty {
        sections: vec![
            (String::new(), vec!["Summary".to_owned()]),
            ("planning-mds/BLUEPRINT.md".to_owned(), vec!["3.2 Personas".to_owned()]),
        ],
        ..plain_duty()
    };
    let good = "# Top\n## Summary\ntext\n## 3.2  personas\ntext\n";
    assert_eq!(said(&duty, "planning-mds/BLUEPRINT.md", good, &[]), Vec::<String>::new());
    assert_eq!(
        said(&duty, "planning-mds/BLUEPRINT.md", "# Top\n## 1. Summary\n", &[]),
        [
            "Missing required section: \"3.2 Personas\" (planning-mds/BLUEPRINT.md)",
            "Empty required section: \"Summary\" (planning-mds/BLUEPRINT.md:2)",
        ]
    );
    assert_eq!(said(&duty, "other.md", good, &[]), Vec::<String>::new());
    assert_eq!(said(&duty, "code.rs", "fn main() {}", &[]), Vec::<String>::new());
}

// OC-35: format.
#[test]
fn oc_35_a_file_is_what_its_name_says() {
    let duty = plain_duty();
    for (path, text, problem) in [
        ("a.json", "{\n\"a\": 1,\n}\n", "Invalid JSON in line 3: key must be a string (a.json:3)"),
        ("a.json", "", "The file is empty (a.json)"),
        ("a.yaml", "a: 1\n---\nb: [\n", "Invalid YAML in line "),
        ("a.toml", "a = 1\nb = \n", "Invalid TOML in line 2: "),
        ("a.md", "# A\n```\nnever\n", "Invalid Markdown in line 2: a code block is never closed (a.md:2)"),
        ("a.md", "---\na: [\n---\n# A\n", "Invalid front matter in line "),
    ] {
        let said = said(&duty, path, text, &[]);
        assert_eq!(said.len(), 1, "{path}: {said:?}");
        assert!(said[0].starts_with(problem), "{said:?}");
    }
    for (path, text) in [
        ("a.json", "\u{FEFF}{\"a\": [1, 2]}"),
        ("a.yaml", "---\na: 1\n---\nb: 2\n"),
        ("chart.yaml", "a: {{ .Values.a }}\n"),
        ("a.toml", "a = 1\n"),
        ("empty.py", ""),
    ] {
        assert_eq!(said(&duty, path, text, &[]), Vec::<String>::new(), "{path}");
    }
    let binary = [Artifact { path: "a.md", text: None }, Artifact { path: "a.png", text: None }];
    assert_eq!(validate(&duty, &binary, &BTreeSet::new()).len(), 1);
}

// OC-35: cross-references.
#[test]
fn oc_35_references_lead_somewhere() {
    let duty = plain_duty();
    let text = "# Here\n[a](../b.md) [b](c.md#x) [w](https://x.org) [h](#here) [n](#nowhere)\n[o](../../../x.md)\n\
                F0001-S0001 and F0001-S0099\n[d](stories/)\n";
    let existing =
        ["planning-mds/features/F0001-S0001.md", "planning-mds/b.md", "planning-mds/features/stories/x.md"];
    assert_eq!(
        said(&duty, "planning-mds/features/a.md", text, &existing),
        [
            "Broken reference: Link to non-existent file planning-mds/features/c.md (planning-mds/features/a.md:2)",
            "Broken reference: Link to non-existent heading #nowhere of planning-mds/features/a.md (planning-mds/features/a.md:2)",
            "Broken reference: Link to ../../../x.md, which is outside of the workspace (planning-mds/features/a.md:3)",
            "Broken reference: Link to non-existent story F0001-S0099 (planning-mds/features/a.md:4)",
        ]
    );
    assert_eq!(said(&duty, "a.md", "F0001-S0099\n", &[]), Vec::<String>::new());
}

// OC-36, OC-37
#[test]
fn oc_37_all_errors_go_back_in_the_documented_form() {
    let problems = [
        problem("a.md", None, "Missing required section: \"3.2 Personas\""),
        problem("a.json", Some(45), "Invalid JSON in line 45: unexpected token"),
    ];
    assert_eq!(
        feedback(&problems),
        "Previous output was invalid. Errors found:\n- Missing required section: \"3.2 Personas\" (a.md)\n\
         - Invalid JSON in line 45: unexpected token (a.json:45)\n\nPlease correct these issues and regenerate output."
    );
}

#[test]
fn oc_42_every_missing_path_is_reported() {
    let missing = ["planning-mds/a.md".to_owned(), "planning-mds/b.yaml".to_owned()];
    assert_eq!(
        missing_text("architect", &missing),
        "Agent architect completed but required artifacts missing:\n- Expected: planning-mds/a.md\n\
         - Expected: planning-mds/b.yaml\n\nThis indicates an agent execution issue."
    );
}

#[test]
fn oc_47_the_status_of_parallel_work_names_everyone() {
    let ended = |role: &str, failed: Option<&str>| Ended {
        role: role.to_owned(),
        failed: failed.map(str::to_owned),
        retrying: failed.is_some(),
    };
    assert_eq!(
        parallel_text(&[
            ended("backend-developer", None),
            ended("frontend-developer", Some("syntax error")),
            ended("quality-engineer", None)
        ]),
        "Parallel execution results:\n✅ Backend Developer - Success\n❌ Frontend Developer - Failed (syntax error)\n\
         ✅ Quality Engineer - Success\n\nRetrying Frontend Developer..."
    );
}

#[test]
fn e_62_each_attempt_keeps_its_invalid_output() {
    let kept: BTreeSet<String> =
        (1..=3).map(|attempt| failed_path("run-1", "architect", attempt, "docs/a.md")).collect();
    assert_eq!(kept.len(), 3);
    assert!(kept.contains(".artifacts-failed/run-1/architect-2/docs/a.md"));
    assert!(kept.iter().all(|path| paths::is_own(path)));
}

proptest! {
    #[test]
    fn oc_35_any_text_can_be_judged(text in ".{0,200}", ending in "md|json|yaml|toml|rs") {
        let path = format!("x.{ending}");
        let artifacts = [Artifact { path: &path, text: Some(&text) }];
        let problems = validate(&plain_duty(), &artifacts, &BTreeSet::new());
        prop_assert!(problems.iter().all(|problem| problem.path == path));
    }

    #[test]
    fn oc_35_valid_json_is_valid(value in proptest::collection::btree_map("[a-z]{1,5}", 0_i64..100, 0..5)) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(said(&plain_duty(), "x.json", &text, &[]), Vec::<String>::new());
    }
}
