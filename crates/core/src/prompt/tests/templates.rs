//! Templates: inheritance, a project's own files, and the lint.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::fourteen;
use super::judged;
use super::values;
use crate::check;
use crate::doc;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::kind::Kind;
use crate::prompt::Library;
use crate::prompt::PhaseList;
use crate::prompt::library::BUILT_IN;
use crate::prompt::library::SCHEMA_FILE;
use crate::prompt::library::SECTIONS_FILE;
use crate::prompt::lint;
use crate::prompt::registry::Registry;
use crate::prompt::render;
use crate::prompt::sections::Sections;

fn project(files: &[(&str, &str)]) -> Library {
    let files: BTreeMap<String, String> =
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let (library, findings) = Library::with(&files);
    assert_eq!(findings, []);
    library
}

fn linted(file: &str, text: &str) -> Vec<String> {
    said(&lint(file, text, Library::standard(), &fourteen()))
}

fn said(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|f| format!("{} {}: {}", f.severity, f.rule, f.message)).collect()
}

/// A template written out in one file, with placeholders of the usual names and titles of the first level.
const PLAIN: &str = "<!-- DES-ORIGIN: command:/nw:execute -->
<!-- DES-STEP-FILE: {step_file_path} -->
<!-- DES-VALIDATION: required -->
<!-- DES-VERSION: 1.0 -->

# AGENT_IDENTITY
You are {agent_name} for {task_id}.

# TASK_CONTEXT
## Background
{self_contained_context.background}
## Acceptance Criteria
{task_specification.acceptance_criteria}

# TDD_14_PHASES
PREPARE RED_ACCEPTANCE RED_UNIT GREEN_UNIT CHECK_ACCEPTANCE GREEN_ACCEPTANCE REVIEW
REFACTOR_L1 REFACTOR_L2 REFACTOR_L3 REFACTOR_L4 POST_REFACTOR_REVIEW FINAL_VALIDATE COMMIT

# QUALITY_GATES
All of G1 to G6.

# OUTCOME_RECORDING
```json
{
  \"status\": \"EXECUTED\",
  \"duration_minutes\": N
}
```

# BOUNDARY_RULES
Only this step.

# TIMEOUT_INSTRUCTION
About 50 turns.

BEGIN EXECUTION NOW.
";

// DS-10, DS-115: the files that there must be.
#[test]
fn ds_10_what_is_built_in_is_complete_and_without_findings() {
    let files: BTreeMap<String, String> =
        BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    for name in [
        "execute-step.template.md",
        "develop-orchestrate.template.md",
        "baseline-create.template.md",
        "_validation-schema.json",
        "_section-definitions.yaml",
    ] {
        assert!(files.contains_key(name), "{name}");
    }
    let (library, findings) = Library::with(&files);
    assert_eq!(findings, []);
    assert_eq!(&library, Library::standard(), "the files are read the same way twice");
    for (name, text) in BUILT_IN.iter().filter(|(name, _)| name.ends_with(".md")) {
        for phases in PhaseList::built_in() {
            let version = &phases.version;
            assert_eq!(lint(name, text, Library::standard(), &phases), [], "{name} {version}");
        }
        assert_eq!(check::file(name, text.as_bytes(), None).kind, Some(Kind::Template), "{name}");
        assert_eq!(check::file(name, text.as_bytes(), None).findings, [], "{name}");
    }
}

// DS-07, DS-10: tables and documents say the same, in both directions.
#[test]
fn ds_10_the_built_in_rules_are_those_of_their_documents() {
    let document = |wanted: &str| BUILT_IN.iter().find(|(name, _)| *name == wanted).unwrap().1;
    let read = |name: &str, take: &mut dyn FnMut(&Node, &Sink)| {
        let (root, findings) = doc::parse(document(name).as_bytes(), &Limits::default());
        let sink = Sink::default();
        take(&root.unwrap(), &sink);
        assert_eq!((findings, sink.into_findings()), (vec![], vec![]), "{name}");
    };
    let (mut sections, mut registry) = (Sections::default(), Registry::default());
    read(SECTIONS_FILE, &mut |root, sink| sections.read(root, sink));
    read(SCHEMA_FILE, &mut |root, sink| registry.read(root, sink));
    assert_eq!(sections, Library::standard().sections);
    assert_eq!(registry, Library::standard().registry);
}

// DS-12 as well.
#[test]
fn ds_11_the_sections_of_a_step_are_data() {
    let set = Library::standard().sections.get("execute_step").unwrap();
    assert_eq!(
        set.mandatory,
        [
            "DES_METADATA",
            "AGENT_IDENTITY",
            "TASK_CONTEXT",
            "TDD_14_PHASES",
            "QUALITY_GATES",
            "OUTCOME_RECORDING",
            "BOUNDARY_RULES",
            "TIMEOUT_INSTRUCTION"
        ]
    );
    assert_eq!(set.optional, ["REVIEW_CRITERIA", "RECOVERY_INSTRUCTIONS"]);
}

#[test]
fn ds_09_every_validated_command_has_its_own_template() {
    let library = Library::standard();
    for command in library.registry.iter() {
        let validated = command.level != crate::prompt::registry::Level::None;
        assert_eq!(command.template.is_some(), validated, "{}", command.name);
        if let Some(template) = &command.template {
            let found = library.template(template).unwrap();
            assert_eq!(library.command_of(found), Some(command));
        }
    }
}

// DS-84.
#[test]
fn ds_72_and_ds_84_common_sections_come_from_the_base() {
    let library = Library::standard();
    let whole = library.resolve("baseline-create").unwrap();
    let names: Vec<&str> = whole.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "AGENT_IDENTITY",
            "TASK_CONTEXT",
            "OUTCOME_RECORDING",
            "BOUNDARY_RULES",
            "TIMEOUT_INSTRUCTION",
            "RECOVERY_INSTRUCTIONS"
        ]
    );
    let base = library.template("base-task").unwrap();
    assert_eq!(library.template("baseline-create").unwrap().parts.len(), 1, "the rest is inherited");
    assert_eq!(whole.parts[3], base.parts[3]);
    assert_eq!(whole.closing, base.closing);
    // The order of a step prompt is that of its sections, also where the base lacks some of them.
    let whole = library.resolve("develop-orchestrate").unwrap();
    let names: Vec<&str> = whole.parts.iter().map(|part| part.name.as_str()).collect();
    let set = library.sections.get("execute_step").unwrap();
    let wanted: Vec<&str> = set.mandatory[1..].iter().chain(&set.optional).map(String::as_str).collect();
    assert_eq!(names, wanted);
}

#[test]
fn ds_10_a_project_can_bring_its_own_files() {
    let library = project(&[
        (
            "base-task.template.md",
            "---\nabstract: true\n---\n# BOUNDARY_RULES\nOurs.\n# TIMEOUT_INSTRUCTION\n9 turns.\n",
        ),
        (
            "bake.template.md",
            "---\nextends: base-task.template.md\ncommand: /acme:bake\n---\n<!-- DES-ORIGIN: command:/acme:bake -->\n\
             <!-- DES-VALIDATION: required -->\n<!-- DES-VERSION: 1.0 -->\n# OVEN_RULES\n{{oven}} is {heat}.\n",
        ),
        (SECTIONS_FILE, "bake:\n  mandatory_sections: [DES_METADATA, OVEN_RULES, BOUNDARY_RULES]\n"),
        (
            SCHEMA_FILE,
            r#"{"version": "1.0", "commands": {"/acme:bake": {"level": "partial", "template": "bake", "sections": "bake"}}}"#,
        ),
    ]);
    let given = BTreeMap::from([("heat".to_owned(), 220.into())]);
    let prompt = render(&library, "bake", &given, &PhaseList::usual()).unwrap();
    assert_eq!(
        prompt,
        "<!-- DES-ORIGIN: command:/acme:bake -->\n<!-- DES-VALIDATION: required -->\n<!-- DES-VERSION: 1.0 -->\n\n\
         # OVEN_RULES\n{oven} is 220.\n\n# BOUNDARY_RULES\nOurs.\n\n# TIMEOUT_INSTRUCTION\n9 turns.\n"
    );
    let phases = PhaseList::usual();
    let standard = crate::prompt::Standard { library: &library, phases: &phases };
    assert_eq!(crate::prompt::prepare("bake", &given, &standard), Ok(prompt));
    assert!(library.registry.get("/nw:execute").is_some(), "what a project does not name stays");
}

#[test]
fn broken_files_of_a_project_are_findings() {
    let files = [
        (SECTIONS_FILE, "bake: [\n"),
        (SCHEMA_FILE, r#"{"commands": {"/acme:bake": {"level": "ful"}}}"#),
        ("x.template.md", "---\nextend: base-task\n---\n"),
    ];
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let (_, findings) = Library::with(&files);
    let said: Vec<String> =
        findings.iter().map(|f| format!("{} {} {}", f.file, f.finding.place.line, f.finding.rule)).collect();
    assert_eq!(
        said,
        [
            "_section-definitions.yaml 1 yaml",
            "_validation-schema.json 1 unknown-value",
            "x.template.md 2 unknown-field"
        ]
    );
}

#[test]
fn ds_72_a_circle_and_an_unknown_parent_are_found() {
    let library = project(&[
        ("a.template.md", "---\nextends: b\n---\n"),
        ("b.template.md", "---\nextends: c\n---\n"),
        ("c.template.md", "---\nextends: a\n---\n"),
        ("d.template.md", "---\nextends: base-tsk\n---\n"),
    ]);
    assert_eq!(
        said(&library.resolve("a").unwrap_err()),
        ["error template-circle: templates extend each other in a circle: a -> b -> c -> a"]
    );
    let unknown = library.resolve("d").unwrap_err();
    assert_eq!(
        said(&unknown),
        ["error template-extends: `d` extends a template that is not there: `base-tsk`"]
    );
    assert_eq!(unknown[0].help.as_deref(), Some("did you mean `base-task`?"));
    assert_eq!(unknown[0].place.line, 2);
    assert_eq!(
        linted("own.template.md", "---\nextends: own\n---\n"),
        ["error template-circle: templates extend each other in a circle: own -> own"]
    );
    assert!(render(&library, "base-task", &values(), &fourteen()).is_err(), "abstract");
    assert!(render(&library, "nothing", &values(), &fourteen()).is_err());
}

// E-72: a template in one file, titles of the first level, is fine as a template and when it is rendered.
#[test]
fn e_72_a_plain_template_passes_as_such_and_rendered() {
    assert_eq!(linted("execute-step.template.md", PLAIN), Vec::<String>::new());
    let library = project(&[("execute-step.template.md", PLAIN)]);
    let prompt = render(&library, "execute-step", &values(), &fourteen()).unwrap();
    assert_eq!(judged(&prompt, &fourteen()).errors, []);
    assert!(prompt.ends_with("BEGIN EXECUTION NOW.\n"));
}

#[test]
fn k_25_in_a_template_placeholders_are_at_home_and_sections_may_be_left_open() {
    let open = PLAIN.replace("# QUALITY_GATES\nAll of G1 to G6.\n", "## {QUALITY_GATES}\n");
    assert_eq!(linted("execute-step.template.md", &open), Vec::<String>::new());
    // Nobody fills it, so that no prompt comes out.
    let library = project(&[("execute-step.template.md", &open)]);
    let findings = render(&library, "execute-step", &values(), &fourteen()).unwrap_err();
    assert_eq!(
        said(&findings),
        ["error value: the section `{QUALITY_GATES}` is left open, and no template before has it"]
    );
    // With a parent that has it, it is put there.
    let child = "---\nextends: execute-step\n---\n## {QUALITY_GATES}\n\n## {AGENT_IDENTITY}\nYou are here.\n";
    let library = project(&[("child.template.md", child)]);
    let prompt = render(&library, "child", &values(), &fourteen()).unwrap();
    assert!(prompt.contains("- **G1**") && prompt.contains("## AGENT_IDENTITY\nYou are here."), "{prompt}");
    assert_eq!(judged(&prompt, &fourteen()).errors, []);
}

#[test]
fn ds_80_the_lint_names_what_every_prompt_would_lack() {
    let text = PLAIN
        .replace("# QUALITY_GATES\nAll of G1 to G6.\n", "")
        .replace("REVIEW\nREFACTOR_L1", "REFACTOR_L1")
        .replace("About 50 turns.", "Soon.")
        .replace("BEGIN EXECUTION NOW.", "")
        .replace("{agent_name}", "{agent_nmae}")
        .replace("<!-- DES-VERSION: 1.0 -->\n", "");
    assert_eq!(
        linted("execute-step.template.md", &text),
        [
            "error DES_METADATA: MISSING: Mandatory section 'DES_METADATA' not found",
            "error QUALITY_GATES: MISSING: Mandatory section 'QUALITY_GATES' not found",
            "error TDD_14_PHASES: INCOMPLETE: TDD phase 'REVIEW' not mentioned",
            "error TIMEOUT_INSTRUCTION: MISSING: No timeout/turn-limit instruction found",
            "warning template-closing: the template does not end with `BEGIN EXECUTION NOW.`",
            "warning placeholder: the placeholder `{agent_nmae}` is none that is filled by itself",
        ]
    );
    let fence = PLAIN.replace("Only this step.", "```\nOnly this step.");
    assert!(linted("x.template.md", &fence).iter().any(|f| f.starts_with("error code-fence")));
}

#[test]
fn prompts_and_templates_are_told_apart_and_checked() {
    let prompt = super::rendered("execute-step", &fourteen());
    let checked = |name: &str, text: &str| {
        let checked = check::file(name, text.as_bytes(), None);
        (checked.kind, said(&checked.findings))
    };
    assert_eq!(checked("p.md", &prompt), (Some(Kind::Prompt), vec![]));
    assert_eq!(checked("t.md", PLAIN), (Some(Kind::Template), vec![]));
    assert_eq!(checked("x.template.md", PLAIN), (Some(Kind::Template), vec![]));
    let seven = super::rendered("execute-step", &PhaseList::usual());
    assert_eq!(checked("p.md", &seven), (Some(Kind::Prompt), vec![]));
    let (kind, findings) = checked("p.md", &super::without_section(&prompt, "QUALITY_GATES"));
    assert_eq!(kind, Some(Kind::Prompt));
    assert_eq!(findings, ["error QUALITY_GATES: MISSING: Mandatory section 'QUALITY_GATES' not found"]);
    let (_, findings) = checked("x.template.md", "---\nextends: our-base\n---\n");
    assert_eq!(
        findings,
        ["warning template-extends: `x` extends a template that is not there: `our-base`"],
        "it may be a file of the project"
    );
}

proptest! {
    // Any text can be linted and any chain resolved; nothing loops and nothing panics.
    #[test]
    fn any_text_can_be_a_template(text in "(---\n(extends: [a-c]\n)?---\n)?(\\PC{0,30}\n|# TASK_CONTEXT\n|\\{[a-z.]{0,9}\\}\n){0,6}") {
        let _ = lint("a.template.md", &text, Library::standard(), &PhaseList::usual());
    }

    #[test]
    fn chains_of_templates_always_end(parents in proptest::collection::vec(0usize..6, 5)) {
        let files: BTreeMap<String, String> = parents
            .iter()
            .enumerate()
            .map(|(i, parent)| (format!("t{i}.template.md"), format!("---\nextends: t{parent}\n---\n# TASK_CONTEXT\n{i}\n")))
            .collect();
        let (library, _) = Library::with(&files);
        for i in 0..5 {
            // `t5` is not there, so that every chain ends there or goes round.
            let name = format!("t{i}");
            prop_assert!(library.resolve(&name).is_err());
        }
    }
}
