//! Pictures of definitions, to the letter, and what holds for every picture.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// The beginning of a definition; steps follow.
fn heading(name: &str, formal: u32) -> String {
    format!(
        "definition:\n  id: \"PROC-5.1\"\n  name: {}\n  description: \"What the picture is of.\"\n  \
         version: \"1.0\"\n  phase: 5\n  information_composition: {{formal: {formal}, tacit: {}, emergent: 0}}\n\
         interfaces: {{inputs: [], outputs: []}}\nflow: \"x\"\n",
        serde_json::to_string(name).unwrap(),
        100 - formal
    )
}

/// A step with further fields.
fn step(id: &str, name: &str, capability: &str, pattern: &str, rest: &str) -> String {
    format!(
        "  - id: \"{id}\"\n    name: {}\n    capability: {capability}\n    pattern: {pattern}\n{rest}",
        serde_json::to_string(name).unwrap()
    )
}

/// Triggers as `ACTION SEVERITY TARGET CONDITION`; `-` is no target.
fn triggers(all: &[(&str, &str, &str, &str)]) -> String {
    let mut out = String::from("    escalation_triggers:\n");
    for (action, severity, target, condition) in all {
        let _ = writeln!(out, "      - condition: {}", serde_json::to_string(condition).unwrap());
        let _ = writeln!(out, "        action: {action}\n        severity: {severity}");
        if *target != "-" {
            let _ = writeln!(out, "        target: \"{target}\"");
        }
    }
    out
}

#[track_caller]
fn diagram(text: &str) -> Diagram {
    let (definition, findings) = Definition::parse(text.as_bytes());
    let definition = definition.unwrap_or_else(|| panic!("{findings:?}\n{text}"));
    let known = BTreeMap::from([("PROC-5.2".to_owned(), "Unit testing".to_owned())]);
    Diagram::of(&definition, &known)
}

/// Agents, people and a decision, and nothing beside the line.
fn straight() -> Diagram {
    diagram(&format!(
        "{}steps:\n{}{}{}",
        heading("Bake bread", 90),
        step("5.1.1", "Knead the dough", "Generate", "AI-Only", ""),
        step("5.1.2", "Let it rise", "Analyse", "Human-Led", ""),
        step("5.1.3", "Decide whether it is done", "Decide", "Human-Only", ""),
    ))
}

/// A way back with a fix, one by the policy, ends, and a step that a mode leaves out.
fn looping() -> Diagram {
    let checks = triggers(&[
        ("RETURN", "MEDIUM", "5.1.1", "The tests do not pass"),
        ("RETURN", "HIGH", "5.1.2", "The design is at fault, and the design was agreed upon with everybody"),
        ("ESCALATE", "LOW", "-", "The build is slow"),
    ]);
    let publish = triggers(&[
        ("BLOCK", "HIGH", "-", "The licence of a part does not allow it"),
        ("DEFER", "LOW", "-", "The customer is on holiday"),
        ("RETURN", "LOW", "5.1.1", "The text has mistakes."),
    ]);
    let flow = "control_flow:\n  retry_policy:\n    on_validation_failure: {return_to: \"5.1.2\", max_iterations: 2}\n  \
                fix_steps:\n    - id: \"5.1.3a\"\n      name: \"Mend what the tests found\"\n      \
                trigger_from: \"5.1.3\"\n      invocation: ON_RETRY\n      capability: Transform\n      pattern: AI-Only\n  \
                mode_variations: {QUICK: {skip_steps: [\"5.1.2\"]}}\n";
    diagram(&format!(
        "{}steps:\n{}{}{}{}{flow}",
        heading("Write a program", 50),
        step("5.1.1", "Gather what is wanted", "Elicit", "Partnership", ""),
        step("5.1.2", "Design it", "Synthesise", "AI-Led", "    when: \"inputs.size > 3\"\n"),
        step("5.1.3", "Check it against everything that was ever promised", "Validate", "AI-Only", &checks),
        step("5.1.4", "Publish it", "Decide", "Human-Only", &publish),
    ))
}

/// Targets outside the process: known, unknown, and none; and letters that XML and terminals take for commands.
fn leaving() -> Diagram {
    let checks = triggers(&[
        ("RETURN", "HIGH", "PROC-5.2", "New code lacks tests"),
        ("RETURN", "MEDIUM", "PROC-9.9", "A < B & \"C\" > D; `#1`\u{1b}[31m"),
        ("RETURN", "LOW", "-", "Nobody knows where to go"),
    ]);
    diagram(&format!(
        "{}steps:\n{}{}",
        heading("Review & <release> \"it\"", 20),
        step("5.1.1", "Prüfe die Änderungen 検査する", "Validate", "AI-Only", &checks),
        step(
            "5.1.2",
            "Unbreakable-word-that-is-much-longer-than-any-box-in-the-picture",
            "Preserve",
            "AI-Led",
            ""
        ),
    ))
}

#[test]
fn as_text() {
    insta::assert_snapshot!("straight-text", text(&straight(), 100));
    insta::assert_snapshot!("looping-text", text(&looping(), 100));
    insta::assert_snapshot!("leaving-text", text(&leaving(), 100));
}

#[test]
fn as_svg() {
    insta::assert_snapshot!("straight-svg", svg(&straight()));
    insta::assert_snapshot!("looping-svg", svg(&looping()));
    insta::assert_snapshot!("leaving-svg", svg(&leaving()));
}

#[test]
fn as_mermaid() {
    insta::assert_snapshot!("straight-mermaid", mermaid(&straight()));
    insta::assert_snapshot!("looping-mermaid", mermaid(&looping()));
    insta::assert_snapshot!("leaving-mermaid", mermaid(&leaving()));
}

#[test]
fn k_65_a_serious_matter_leads_back_once_unless_the_definition_says_more() {
    let times = |policy: &str| {
        let checks = triggers(&[("RETURN", "HIGH", "5.1.1", "Wrong")]);
        let step = step("5.1.1", "Look", "Analyse", "AI-Only", &checks);
        let flow = format!("control_flow:\n  retry_policy:\n    on_validation_failure: {{{policy}}}\n");
        let drawn = diagram(&format!("{}steps:\n{step}{flow}", heading("Look", 90)));
        drawn.returns[0].origins[0].reasons[0].times_max
    };
    assert_eq!(times("max_iterations: 5"), Some(1));
    assert_eq!(times("max_iterations: 5, high_max_iterations: 2"), Some(2));
}

#[test]
fn px_55_a_step_is_drawn_with_the_pattern_by_which_it_is_really_done() {
    let first = |formal| {
        let step = step("5.1.1", "Look", "Analyse", "AI-Led", "");
        diagram(&format!("{}steps:\n{step}", heading("Look", formal))).stations[0].pattern
    };
    assert_eq!(first(90), Pattern::AiLed);
    assert_eq!(first(20), Pattern::Partnership);
}

/// Any process with these names and conditions, and ways between any of its steps.
fn any_process() -> impl Strategy<Value = String> {
    let way = (0..6usize, ".{0,60}", prop::sample::select(vec!["LOW", "MEDIUM", "HIGH"]));
    let stop = (
        ".{1,50}",
        prop::sample::select(vec!["AI-Only", "Human-Led", "Partnership"]),
        prop::collection::vec(way, 0..4),
    );
    (".{1,60}", prop::collection::vec(stop, 1..6), 0..=100u32).prop_map(|(name, stops, formal)| {
        let mut out = format!("{}steps:\n", heading(&name, formal));
        for (i, (name, pattern, ways)) in stops.iter().enumerate() {
            let targets: Vec<String> = ways.iter().map(|(to, _, _)| format!("5.1.{}", to + 1)).collect();
            let all: Vec<_> = ways
                .iter()
                .zip(&targets)
                .map(|((_, condition, severity), target)| {
                    ("RETURN", *severity, target.as_str(), condition.as_str())
                })
                .collect();
            let rest = if all.is_empty() { String::new() } else { triggers(&all) };
            out.push_str(&step(&format!("5.1.{}", i + 1), name, "Validate", pattern, &rest));
        }
        out
    })
}

/// Whether tags are balanced and every `&` begins an entity that XML knows.
fn is_well_formed(xml: &str) -> bool {
    let mut open = vec![];
    for part in xml.split('<').skip(1) {
        let Some((tag, text)) = part.split_once('>') else { return false };
        let entities = text.split('&').skip(1);
        if !entities
            .into_iter()
            .all(|e| ["amp;", "lt;", "gt;", "quot;"].iter().any(|known| e.starts_with(known)))
        {
            return false;
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        match tag {
            _ if tag.starts_with('!') || tag.ends_with('/') => {}
            _ if tag.starts_with('/') => {
                if open.pop() != Some(&tag[1..]) {
                    return false;
                }
            }
            _ => open.push(name),
        }
    }
    open.is_empty() && !xml.chars().any(|c| c.is_control() && c != '\n')
}

proptest! {
    #[test]
    fn every_picture_is_well_formed_and_the_same_again(source in any_process()) {
        let (Some(definition), _) = Definition::parse(source.as_bytes()) else { return Ok(()) };
        let drawn = Diagram::of(&definition, &BTreeMap::new());
        let picture = svg(&drawn);
        prop_assert!(is_well_formed(&picture), "{picture}");
        prop_assert_eq!(&picture, &svg(&Diagram::of(&definition, &BTreeMap::new())));
        prop_assert!(!mermaid(&drawn).chars().any(|c| c.is_control() && c != '\n'));
    }

    #[test]
    fn no_line_of_the_text_is_wider_than_the_terminal(source in any_process(), columns in 84..160usize) {
        let (Some(definition), _) = Definition::parse(source.as_bytes()) else { return Ok(()) };
        let drawn = text(&Diagram::of(&definition, &BTreeMap::new()), columns);
        for line in drawn.lines() {
            prop_assert!(lettering::width(line) <= columns, "{} columns: {line}", lettering::width(line));
            prop_assert!(!line.chars().any(char::is_control));
        }
    }

    #[test]
    fn ways_that_overlap_have_tracks_of_their_own(source in any_process()) {
        let (Some(definition), _) = Definition::parse(source.as_bytes()) else { return Ok(()) };
        let drawn = Diagram::of(&definition, &BTreeMap::new());
        for (i, one) in drawn.returns.iter().enumerate() {
            prop_assert!(one.track < drawn.tracks);
            for other in &drawn.returns[i + 1..] {
                let ((a, b), (c, d)) = (one.span(), other.span());
                prop_assert!(one.track != other.track || b < c || d < a);
            }
        }
    }

    #[test]
    fn wrapped_text_fits_and_loses_nothing_but_blanks(words in ".{0,200}", columns in 2..40usize) {
        let lines = wrap(&words, columns, usize::MAX);
        prop_assert!(lines.iter().all(|line| lettering::width(line) <= columns));
        let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        prop_assert_eq!(bare(&lines.concat()), bare(&readable(&words)));
        prop_assert!(wrap(&words, columns, 2).len() <= 2);
    }
}
