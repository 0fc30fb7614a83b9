//! Tests of action files.

use proptest::prelude::*;

use super::*;
use crate::action::map::Step;

const FILE: &str = "\
# Action: Review

## User Intent

Review the code
for quality.

More words.

## Agent Flow

```
(Code Reviewer + Security)
  ↓
[APPROVAL GATE: review]
```

## Execution Steps

### Step 0: PREPARE
### Step 0.5: READ
### Step 1.75: REVIEW

## Validation Criteria
- [ ] all findings have a severity
- [x] a report exists

## Prerequisites
- [ ] Tests passing

## Output Contract
- `planning-mds/reviews/` with a report, and `planning-mds/reviews/index.md`
- docs/review.md
- the user's trust
";

fn said(text: &str) -> Vec<String> {
    let (_, findings) = ActionFile::read("agents/actions/review.md", text);
    findings.iter().map(|f| format!("{} {} {}: {}", f.severity, f.place.line, f.rule, f.message)).collect()
}

#[test]
fn oc_06_an_action_file_is_read() {
    let (file, findings) = ActionFile::read("agents/actions/review.md", FILE);
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!((file.name.as_str(), file.title.as_str()), ("review", "Review"));
    assert_eq!(file.intent, "Review the code for quality.");
    assert_eq!(file.prerequisites, ["Tests passing"]);
    assert_eq!(file.validation, ["all findings have a severity", "a report exists"]);
    // OC-41
    assert_eq!(file.outputs, ["planning-mds/reviews/", "planning-mds/reviews/index.md", "docs/review.md"]);
    let steps: Vec<(&str, &str)> =
        file.steps.iter().map(|step| (step.number.as_str(), step.title.as_str())).collect();
    assert_eq!(steps, [("0", "PREPARE"), ("0.5", "READ"), ("1.75", "REVIEW")]);
    let drawn = file.drawn().unwrap();
    assert!(matches!(&drawn.steps[..], [Step::Work { parts, .. }, Step::Gate { .. }] if parts.len() == 2));
}

#[test]
fn oc_109_front_matter_is_read_with_its_places() {
    let text = "---\nprerequisites: [{PRODUCT_ROOT}/a.md]\nsteps:\n  - agent: architect\n  - gate: aproval\n---\n# Action: X\n\n## User Intent\nx\n";
    let (file, findings) = ActionFile::read("x.md", text);
    let wiring = file.wiring.unwrap();
    assert_eq!(wiring.name.value, "x");
    assert_eq!(wiring.prerequisites[0].value, "{PRODUCT_ROOT}/a.md");
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].place.line, findings[0].help.as_deref()), (5, Some("did you mean `approval`?")));
    // Front matter that wires nothing is only a heading of sorts.
    let (file, findings) =
        ActionFile::read("x.md", "---\nname: x\n---\n# Action: X\n## User Intent\nx\n## Agent Flow\ny\n");
    assert!(file.wiring.is_none() && findings.is_empty(), "{findings:?}");
}

// OC-21
#[test]
fn oc_21_a_malformed_action_is_told_with_its_line() {
    assert_eq!(said(""), ["error 1 empty: the file is empty"]);
    assert_eq!(said("just words\n")[0], "error 1 action-title: an action file needs a title");
    assert_eq!(
        said(&FILE.replace("# Action: ", "# ")),
        ["warning 1 action-title: the title does not begin with `Action:`"]
    );
    assert_eq!(
        said(&FILE.replace("Step 1.75", "Step 0.25")),
        ["warning 22 step-order: step 0.25 stands behind step 0.5"]
    );
    assert_eq!(
        said("# Action: X\n"),
        [
            "warning 1 missing-section: the section `User Intent` is missing or empty",
            "warning 1 missing-section: the section `Agent Flow` is missing or empty"
        ]
    );
    let broken = said("---\nsteps: [\n---\n# Action: X\n## User Intent\nx\n## Agent Flow\ny\n");
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(broken[0].starts_with("error "), "{broken:?}");
}

#[test]
fn a_drawing_that_is_not_understood_is_no_plan() {
    for flow in ["Wizard → Architect", "Architect → [BLESSING]", "R0  Review scope lock", ""] {
        let (file, _) = ActionFile::read("x.md", &format!("# Action: X\n## Agent Flow\n{flow}\n"));
        assert_eq!(file.drawn(), None, "{flow}");
    }
    let (file, _) =
        ActionFile::read("x.md", "# Action: X\n## Agent Flow\nProduct Manager (Phase A) -> Architect\n");
    let drawn = file.drawn().unwrap();
    assert!(matches!(&drawn.steps[0], Step::Work { parts, .. } if parts[0].purpose == "Phase A"));
}

proptest! {
    #[test]
    fn any_text_is_an_action_file_or_is_told_why_not(text in "[-# \n:a-z\\[\\]→+]{0,120}") {
        let (file, _) = ActionFile::read("x.md", &text);
        file.drawn();
        prop_assert_eq!(file.name, "x");
    }
}
