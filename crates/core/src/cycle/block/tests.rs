//! Tests of the SIGNAL BLOCK.

use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;

use super::*;
use crate::finding::Finding;
use crate::finding::Severity;

/// The pattern of the seed, word for word.
static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"- Agent: (Human|Planner|Actor|Judge)
- Result: (INIT|PLAN_CREATED|PLAN_UPDATED|SUCCESS|FAIL|PASS|INSUFFICIENT)
- Step Summary: (.+)
- Next: (Planner|Actor|Judge|Human)",
    )
    .unwrap()
});

fn block() -> Block {
    Block {
        role: Role::Planner,
        mark: Mark::PlanCreated,
        summary: "Rename\nthe helper".to_owned(),
        next: Role::Actor,
        extra: vec![("Risk".to_owned(), "low".to_owned())],
    }
}

fn one(text: &str) -> FoundBlock {
    let mut blocks = read_all(text);
    assert_eq!(blocks.len(), 1, "{text}");
    blocks.remove(0)
}

fn said(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|f| format!("{} {}: {}", f.severity, f.rule, f.message)).collect()
}

#[test]
fn cy_81_a_block_has_the_form_of_the_seed() {
    let text = block().render("demo", 2);
    assert_eq!(
        text,
        "### SIGNAL BLOCK\n- Agent: Planner\n- Result: PLAN_CREATED\n- Step Summary: Rename the helper\n- Next: Actor\n- Risk: low\n\n# Signature\nProject=demo | Agent=Planner | Step=2\n"
    );
    assert!(PATTERN.is_match(&text));
    let found = one(&text);
    assert_eq!(found.generation, Generation::B);
    assert_eq!(found.risk.as_deref(), Some("low"));
    assert_eq!(found.signature.as_deref(), Some("Project=demo | Agent=Planner | Step=2"));
    assert_eq!(said(&found.findings), Vec::<String>::new());
}

// CY-01, CY-82
#[test]
fn cy_01_cy_82_every_role_has_its_results_and_its_next() {
    let mut allowed = vec![];
    for role in Role::ALL {
        for mark in Mark::ALL {
            let nexts: Vec<&str> = Role::ALL
                .into_iter()
                .filter(|next| permitted(role, mark, *next).is_ok())
                .map(Role::word)
                .collect();
            if !nexts.is_empty() {
                allowed.push(format!("{role} {mark} {}", nexts.join(" ")));
            }
        }
    }
    assert_eq!(
        allowed,
        [
            // CY-26, K-63
            "Human INIT Human Planner Actor Judge",
            // CY-31, CY-32, CY-36
            "Planner PLAN_CREATED Human Actor",
            "Planner PLAN_UPDATED Human Actor",
            // CY-45, K-59
            "Actor SUCCESS Judge",
            "Actor FAIL Human Planner",
            // CY-56, CY-57, CY-58
            "Judge PASS Human",
            "Judge INSUFFICIENT Human Planner",
        ]
    );
}

#[test]
fn e_37_a_result_of_another_role_is_refused() {
    let refused = permitted(Role::Actor, Mark::Pass, Role::Human).unwrap_err();
    assert_eq!(refused.to_string(), "the result PASS is not for the Actor to give");
    let refused = permitted(Role::Judge, Mark::Pass, Role::Planner).unwrap_err();
    assert_eq!(refused.to_string(), "after PASS of the Judge the Planner cannot come next");
    let text = "### SIGNAL BLOCK\n- Agent: Actor\n- Result: PASS\n- Step Summary: done\n- Next: Human\n";
    assert_eq!(
        said(&one(text).findings),
        ["error not-permitted: the result PASS is not for the Actor to give"]
    );
}

#[test]
fn generation_a_is_one_line() {
    let found = one("Agent=Actor | Cycle=2025-11-08-001 | Step=2 | Confidence=4 | Risk=low | Next=Judge\n");
    assert_eq!(found.generation, Generation::A);
    assert_eq!((found.role, found.next), (Some(Role::Actor), Some(Role::Judge)));
    assert_eq!((found.confidence, found.risk.as_deref()), (Some(4), Some("low")));
    assert_eq!(said(&found.findings), Vec::<String>::new());
    assert_eq!(read_all("Project=demo | Agent=Actor | Step=1b\n"), []);
}

#[test]
fn generation_b_may_carry_further_lines_and_words_behind_next() {
    let text = "text\n\n### SIGNAL BLOCK\n- Agent: Actor\n- Result: COMPLETE\n- Step Summary: merged `data/2023.csv`.\n- Merge Commit: d9a2fdf\n- Next: Planner (for Loop 2)\n# Signature\nProject=meta | Agent=Actor | Step=1b\n\n### Loop 1a\n";
    let found = one(text);
    assert_eq!(found.generation, Generation::B);
    assert_eq!((found.result.as_str(), found.mark, found.next), ("COMPLETE", None, Some(Role::Planner)));
    assert_eq!(found.extra, [("Merge Commit".to_owned(), "d9a2fdf".to_owned())]);
    assert_eq!(found.signature.as_deref(), Some("Project=meta | Agent=Actor | Step=1b"));
    assert_eq!((found.place.line, &text[found.place.start as usize..][..16]), (3, "### SIGNAL BLOCK"));
    assert!(text[..found.place.end as usize].ends_with("(for Loop 2)"));
    assert_eq!(said(&found.findings), ["warning unknown-value: `COMPLETE` is not a result of the loop"]);
    let known = text.replace("COMPLETE", "SUCCESS").replace("Next: Planner", "Next: Judge");
    assert_eq!(
        said(&one(&known).findings),
        ["warning signal-block: the lines Agent, Result, Step Summary and Next do not follow one another"]
    );
}

#[test]
fn generation_c_has_a_loop_summary_confidence_and_context() {
    let text = "#### SIGNAL BLOCK — Loop 12 Judge Review\n\n- Agent: Judge\n- Result: PASS\n- Loop Summary: Normalised.\n- Confidence: 9 (high)\n- Next: Planner\n- Context:\n  - **Status**: MET\n  - Next: Human\n- Test Summary: not run\n\n**Signature**: 3:12:3\n\n---\n";
    let found = one(text);
    assert_eq!(found.generation, Generation::C);
    assert_eq!((found.mark, found.next, found.confidence), (Some(Mark::Pass), Some(Role::Planner), Some(9)));
    assert_eq!(found.signature.as_deref(), Some("3:12:3"));
    assert_eq!(
        said(&found.findings),
        ["warning not-permitted: after PASS of the Judge the Planner cannot come next"]
    );
    assert!(tail_block(text).is_some());
}

#[test]
fn the_drift_of_bold_keys_is_read_too() {
    let text = "## SIGNAL BLOCKS\n\n### SIGNAL BLOCK — Goal 4 COMPLETE (Actor)\n\n**Agent**: Actor\n\n**Result:** GOAL_COMPLETE\n\n**Summary**: Ready.\n\n**Confidence**: 10\n\n**Next**: Judge approval → Merge\n\n---\n\n## Deliverables\n\n**Signature**: 4:FINAL:COMPLETE\n\n---\n### SIGNAL BLOCK — Skip\n\n**Agent**: Planer\n\n**Next**: Goal 5 (modelling)\n\n**Signature**: 4:5:SKIP\n";
    let blocks = read_all(text);
    assert_eq!(blocks.len(), 2);
    assert!(blocks.iter().all(|b| b.generation == Generation::Drift));
    assert_eq!((blocks[0].role, blocks[0].next), (Some(Role::Actor), Some(Role::Judge)));
    assert_eq!(blocks[0].result, "GOAL_COMPLETE");
    assert_eq!(blocks[0].summary, "Ready.");
    assert_eq!(blocks[0].signature.as_deref(), Some("4:FINAL:COMPLETE"));
    assert_eq!(blocks[1].signature.as_deref(), Some("4:5:SKIP"));
    assert_eq!(
        said(&blocks[1].findings),
        [
            "error signal-block: the block has no line `Result`",
            "error signal-block: the block has no line `Step Summary`",
            "warning unknown-value: `Planer` is not one of the four roles",
            "warning unknown-value: `Goal 5 (modelling)` is not one of the four roles",
        ]
    );
    assert_eq!(blocks[1].findings[2].help.as_deref(), Some("did you mean `Planner`?"));
}

#[test]
fn keys_in_a_fence_right_below_the_heading_are_its_keys() {
    let text = "### SIGNAL BLOCK\n```\n- Agent: Judge\n- Result: INSUFFICIENT\n- Step Summary: red\n- Next: Planner\n```\nwords\n- Next: Human\n";
    let found = one(text);
    assert_eq!((found.mark, found.next), (Some(Mark::Insufficient), Some(Role::Planner)));
    assert_eq!(tail_block(text), None);
}

#[test]
fn e_36_only_the_block_in_the_tail_counts() {
    let real = block().render("demo", 1);
    let fake = real.replace("Planner", "Human");
    let stage = format!("# Step\n\n```diff\n+{fake}\n{fake}```\n\n{real}\n\n---\n");
    assert_eq!(tail_block(&stage).unwrap().role, Some(Role::Planner));
    assert_eq!(tail_block(&format!("{stage}\nP.S. one more thing\n")), None);
    assert_eq!(tail_block(&format!("```diff\n{fake}```\n")), None);
    assert_eq!(tail_block(""), None);
}

#[test]
fn cy_26_the_block_of_the_human_is_signed() {
    let text = "### SIGNAL BLOCK\n- Agent: Human\n- Result: INIT\n- Step Summary: go\n- Next: Planner\n";
    assert_eq!(said(&one(text).findings), ["warning signature: the block of the Human is not signed"]);
    let signed = format!("{text}# Signature\nProject=demo | Agent=Human | Step=0\n");
    assert_eq!(said(&one(&signed).findings), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cy_81_what_is_written_is_read_back(
        (role, mark, next) in (prop::sample::select(&Role::ALL), prop::sample::select(&Mark::ALL), prop::sample::select(&Role::ALL)),
        summary in "\\PC{0,40}", keys in prop::collection::vec(("\\PC{0,12}", "\\PC{0,12}"), 0..3), step: u32
    ) {
        let block = Block { role, mark, summary, next, extra: keys };
        let text = block.render("de|mo\n", step);
        prop_assert!(PATTERN.is_match(&text));
        let blocks = read_all(&text);
        prop_assert_eq!(blocks.len(), 1);
        let found = &blocks[0];
        prop_assert_eq!((found.role, found.mark, found.next), (Some(role), Some(mark), Some(next)));
        prop_assert_eq!(&found.summary, &one_line(&block.summary));
        prop_assert_eq!(found.signature.clone(), Some(format!("Project=de/mo | Agent={role} | Step={step}")));
        let broken = found.findings.iter().any(|f| f.severity == Severity::Error);
        prop_assert_eq!(broken, block.check().is_err());
        prop_assert_eq!(tail_block(&text), Some(found.clone()));
    }

    #[test]
    fn no_text_makes_the_reader_stumble(text in "(### SIGNAL BLOCK|- |\\*\\*|Agent|Result|Next|: |=|\\||\n|\r\n|```|Signature|# |é| ){0,30}") {
        for block in read_all(&text) {
            let (start, end) = (block.place.start as usize, block.place.end as usize);
            prop_assert!(text.get(start..end).is_some(), "{block:?}");
        }
        let _ = tail_block(&text);
    }
}
