//! The parameters of a step, and the sentences about them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn usual() -> Registry {
    Registry::new([])
}

#[track_caller]
fn parsed(line: &str) -> (String, String, String) {
    match parse_line(line, &usual()).unwrap() {
        Invocation { agent, target: Target::Step { project, step } } => (agent, project, step),
        other => panic!("{other:?}"),
    }
}

fn refused(line: &str) -> String {
    parse_line(line, &usual()).unwrap_err().to_string()
}

/// DW-15, DW-16, DW-18, E-44: blanks and quotes around the parameters do not matter.
#[test]
fn dw_15_dw_16_dw_18_e_44_parameters_are_trimmed_and_unquoted() {
    let expected = ("software-crafter".to_owned(), "des-us007".to_owned(), "01-01".to_owned());
    for line in [
        "/nw:execute  @software-crafter  \"des-us007\"  \"01-01\"",
        "@software-crafter 'des-us007' \"01-01\"",
        "@software-crafter des-us007 01-01",
        "software-crafter des-us007 01-01",
        "  @software-crafter \" des-us007 \" '01-01' ",
    ] {
        assert_eq!(parsed(line), expected, "{line}");
    }
}

/// The sentences, to the letter.
#[test]
fn dw_19_dw_20_dw_28_dw_29_dw_34_dw_35_e_44_e_45_wrong_parameters_are_refused() {
    let long = "a".repeat(100);
    for (line, message) in [
        ("@software-crafter \"des-us007\" \"01-01\" extra", "Too many parameters. Expected 3, got 4"),
        ("@software-crafter des-us007", "Too few parameters. Expected 3, got 2"),
        ("", "Too few parameters. Expected 3, got 0"),
        ("@software-crafter \"\" 01-01", "The project id is empty"),
        ("@software-crafter ' ' 01-01", "The project id is empty"),
        ("@ des-us007 01-01", "The agent name is empty"),
        ("@software-crafter “des-us007” 01-01", "The project id still has quotes around it: “des-us007”"),
        ("@software-crafter des-us007 ''01-01''", "The step id still has quotes around it: '01-01'"),
        (
            "@plumber des-us007 01-01",
            "Invalid agent name: plumber. Must be one of: researcher, software-crafter, solution-architect, product-owner, acceptance-designer, devop",
        ),
        (
            "@devop ../../etc 01-01",
            "Invalid project id: ../../etc. It must be kebab-case, such as auth-upgrade",
        ),
        ("@devop Des_us 01-01", "Invalid project id: Des_us. It must be kebab-case, such as auth-upgrade"),
        ("@devop a--b 01-01", "Invalid project id: a--b. It must be kebab-case, such as auth-upgrade"),
        (
            "@devop p ../01",
            "Invalid step id: ../01. It must be two digits, a hyphen and two digits, such as 01-01",
        ),
        (&format!("@devop {long} 01-01"), "The project id has 100 characters; it must have fewer than 100"),
    ] {
        assert_eq!(refused(line), message, "{line}");
    }
    assert!(parse_line(&format!("@devop {} 01-01", &long[..99]), &usual()).is_ok());
}

/// DW-33, E-58: a secret is refused, and not repeated.
#[test]
fn dw_33_e_58_a_secret_is_refused_and_not_repeated() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let message = refused(&format!("@devop p {secret}"));
    assert!(message.starts_with("The step id looks like a secret"), "{message}");
    assert!(!message.contains(&secret));
}

/// K-102: an id that a roadmap can have is not refused for its form.
#[test]
fn k_102_other_ids_wait_for_the_roadmap() {
    assert_eq!(parsed("@devop p 01-01-light").2, "01-01-light");
}

/// DW-17, DW-24, K-101: the six, and the agents of the configuration after them.
#[test]
fn dw_17_dw_24_k_101_agents_of_the_configuration_come_after_the_six() {
    let registry = Registry::new(["default", "plumber", "devop", "plumber"]);
    assert!(parse_line("@plumber p 01-01", &registry).is_ok());
    let message = parse_line("@baker p 01-01", &registry).unwrap_err().to_string();
    assert!(message.ends_with("acceptance-designer, devop, plumber"), "{message}");
    assert!(usual().names().iter().all(|name| Registry::capability(name).is_some()));
    let drift = registry.drift([
        "researcher",
        "software-crafter",
        "solution-architect",
        "product-owner",
        "acceptance-designer",
        "plumber",
        "baker",
    ]);
    let said: Vec<&str> = drift.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        said,
        ["the agent `devop` is not in the agent directory", "the agent `baker` is not registered"]
    );
}

/// DW-21, DW-22, K-101: an agent that cannot be called, and those that can.
#[test]
fn dw_21_dw_22_an_unavailable_agent_is_refused_with_alternatives() {
    let mut there = Availability {
        configured: BTreeSet::from(["researcher".to_owned(), "devop".to_owned()]),
        ..Availability::default()
    };
    assert_eq!(there.check("devop", &usual()), Ok(()));
    there.busy.insert("devop".to_owned());
    let message = there.check("devop", &usual()).unwrap_err().to_string();
    assert_eq!(message, "Agent 'devop' is not currently available. Available agents: researcher");
    there.has_default = true;
    assert_eq!(there.check("product-owner", &usual()), Ok(()));
}

/// DW-12, DW-93, K-13: the path of a step file is refused with the form that takes its place.
#[test]
fn dw_12_dw_93_k_13_the_old_form_names_the_new_one() {
    assert_eq!(
        refused("/nw:execute @software-crafter \"docs/feature/auth-upgrade/steps/01-01.json\""),
        "The path of a step file is no longer a parameter: docs/feature/auth-upgrade/steps/01-01.json. \
         Use: seriatim run step @software-crafter auth-upgrade 01-01"
    );
    assert_eq!(
        refused("@researcher \"steps/02-01.json\""),
        "The path of a step file is no longer a parameter: steps/02-01.json. \
         Use: seriatim run step @researcher PROJECT 02-01"
    );
    let opted_in = usual().with_step_files();
    let target = parse_line("@researcher steps/02-01.json", &opted_in).unwrap().target;
    assert_eq!(target, Target::File { path: "steps/02-01.json".to_owned() });
}

/// DW-30, DW-31, DW-32, K-103: files and steps that are not there.
#[test]
fn dw_30_dw_31_dw_32_k_103_what_is_not_there_is_said_to_the_letter() {
    let project = "auth-upgrade".to_owned();
    let roadmap = Message::RoadmapNotFound { project: project.clone() };
    assert_eq!(roadmap.to_string(), "Roadmap not found at docs/feature/auth-upgrade/roadmap.yaml");
    let status = Message::StatusNotFound { project };
    assert_eq!(
        status.to_string(),
        "Execution status not found at docs/feature/auth-upgrade/execution-status.yaml"
    );
    assert_eq!(status.hint().unwrap(), "create one with `seriatim roadmap init auth-upgrade`");
    let available = vec!["01-01".to_owned(), "01-02".to_owned()];
    let step = Message::StepNotFound { step: "09-09".to_owned(), available };
    assert_eq!(step.to_string(), "Step 09-09 not found in roadmap. Available steps: 01-01, 01-02");
    assert!(
        [roadmap, status, step].iter().all(|message| !message.is_blocked() && message.blocked().is_none())
    );
    assert_eq!(state_paths("p")[0], status_path("p"));
    assert_eq!(roadmap_paths("p")[0], roadmap_path("p"));
    assert_eq!(
        log_path("auth-upgrade", "20260129-150000", "01-01"),
        "docs/feature/auth-upgrade/logs/20260129-150000-01-01.log",
        "DW-94"
    );
}

/// DW-87, DW-88: blocked steps have a record.
#[test]
fn dw_87_dw_88_a_blocked_step_has_a_record() {
    let open =
        Message::DependencyNotMet { step: "02-01".into(), blocking: vec!["01-02".into(), "01-03".into()] };
    assert!(open.is_blocked());
    assert_eq!(
        open.blocked().unwrap(),
        json!({"execution_blocked": {
            "reason": "dependency_not_met",
            "blocking_tasks": ["01-02", "01-03"],
            "message": "Cannot execute until dependencies complete",
        }})
    );
    assert_eq!(
        open.to_string(),
        "Cannot execute until dependencies complete: step 02-01 waits for 01-02, 01-03"
    );
    let bare = Message::InsufficientContext { step: "02-01".into(), missing: vec!["description".into()] };
    assert_eq!(
        bare.blocked().unwrap(),
        json!({"execution_blocked": {
            "reason": "insufficient_context",
            "missing_information": ["description"],
            "resolution": "Update step file with missing context",
        }})
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// DW-36, E-45: whatever is typed, what comes through names no place outside of the project's folder.
    #[test]
    fn e_45_what_is_accepted_stays_in_its_folder(project in "\\PC{0,20}", step in "\\PC{0,20}") {
        let accepted = parse(&["@devop", project.as_str(), step.as_str()], &usual());
        if let Ok(Invocation { target: Target::Step { project, step }, .. }) = accepted {
            for part in [project, step] {
                prop_assert!(!part.contains(['/', '\\', '"', '\'', ' ']) && !part.contains("..") && !part.is_empty());
            }
        }
    }
}
