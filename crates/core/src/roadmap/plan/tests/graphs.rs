//! The order of steps, and the circles in it.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::PLAN;
use super::lines;
use super::read;
use crate::roadmap::plan::Roadmap;
use crate::roadmap::plan::Step;

fn plan(steps: &[(&str, &[&str])]) -> String {
    let step = |(id, needs): &(&str, &[&str])| {
        format!("- {{id: {id}, name: A, criteria: [x], deps: [{}]}}\n", needs.join(", "))
    };
    format!("project_id: p\nsteps:\n{}", steps.iter().map(step).collect::<String>())
}

fn names<'s>(steps: &[&'s Step]) -> Vec<&'s str> {
    steps.iter().map(|step| step.id.as_str()).collect()
}

fn done(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

/// DW-96: dependency order is the default, and where it leaves a choice the file decides.
#[test]
fn dw_96_the_order_follows_dependencies_and_then_the_file() {
    let text = plan(&[("03-01", &["02-01"]), ("01-01", &[]), ("02-01", &["01-01"]), ("01-02", &[])]);
    let roadmap = read(&text);
    assert_eq!(names(&roadmap.order().unwrap()), ["01-01", "02-01", "03-01", "01-02"]);
    let layers = roadmap.layers().unwrap();
    let layers: Vec<Vec<&str>> = layers.iter().map(|layer| names(layer)).collect();
    assert_eq!(layers, [vec!["01-01", "01-02"], vec!["02-01"], vec!["03-01"]]);
}

/// DW-54: a step can begin when everything that it needs is complete.
#[test]
fn dw_54_steps_are_ready_when_their_dependencies_are_done() {
    let roadmap = read(PLAN);
    assert_eq!(names(&roadmap.ready(&done(&[]))), ["01-01"]);
    assert_eq!(names(&roadmap.ready(&done(&["01-01"]))), ["01-02"]);
    assert_eq!(roadmap.open_needs("02-01", &done(&["01-01"])), ["01-02"]);
    assert_eq!(names(&roadmap.ready(&done(&["01-01", "01-02"]))), ["02-01"]);
    assert_eq!(names(&roadmap.ready(&done(&["01-01", "01-02", "02-01"]))), Vec::<&str>::new());
    assert_eq!(roadmap.needs("09-09"), Vec::<&str>::new());
}

/// DW-96, K-39: side by side only what is independent; a file in common keeps two steps apart.
#[test]
fn k_39_steps_that_name_the_same_file_are_not_in_one_layer() {
    let text = "project_id: p\nsteps:\n\
        - {id: 01-01, name: A, criteria: [x], files_to_modify: [src/a.py]}\n\
        - {id: 01-02, name: B, criteria: [x], allowed_file_patterns: ['src/**']}\n\
        - {id: 01-03, name: C, criteria: [x], deliverables: [docs/c.md]}\n\
        - {id: 01-04, name: D, criteria: [x]}\n";
    let roadmap = read(text);
    let layers = roadmap.layers().unwrap();
    let layers: Vec<Vec<&str>> = layers.iter().map(|layer| names(layer)).collect();
    assert_eq!(layers, [vec!["01-01", "01-03", "01-04"], vec!["01-02"]]);
    let (a, b) = (roadmap.step("01-01").unwrap(), roadmap.step("01-02").unwrap());
    assert_eq!(Roadmap::shared_files(a, b), ["src/a.py"]);
}

/// E-47: circles, unknown ids and steps that need themselves are errors that name them.
#[test]
fn e_47_a_circle_is_named_as_a_path() {
    let text =
        plan(&[("01-01", &["01-03"]), ("01-02", &["01-01"]), ("01-03", &["01-02"]), ("01-04", &["01-01"])]);
    assert_eq!(
        lines(&text),
        ["3:8 error DEPENDENCY_CYCLE these steps wait for one another: 01-01 → 01-03 → 01-02 → 01-01"]
    );
    let roadmap = read(&text);
    assert_eq!(roadmap.order().unwrap_err().path, ["01-01", "01-03", "01-02", "01-01"]);
    assert!(roadmap.layers().is_err());
    let two =
        plan(&[("01-01", &["01-02"]), ("01-02", &["01-01"]), ("02-01", &["02-02"]), ("02-02", &["02-01"])]);
    let rules: Vec<String> = lines(&two);
    assert_eq!(rules.len(), 2, "{rules:?}");
}

#[test]
fn e_47_unknown_dependencies_and_steps_that_need_themselves_are_named() {
    let text = plan(&[("01-01", &["01-01"]), ("01-02", &["01-10"]), ("01-03", &["elsewhere"])]);
    let findings = Roadmap::read("roadmap.yaml", &text).1;
    let said: Vec<String> = findings
        .iter()
        .map(|f| format!("{} {} | {}", f.rule, f.message, f.help.as_deref().unwrap()))
        .collect();
    assert_eq!(
        said,
        [
            "SELF_DEPENDENCY step `01-01` depends on itself | remove it",
            "INVALID_DEP_REFERENCE step `01-02` depends on `01-10`, which is no step of this roadmap | did you mean `01-01`?",
            "INVALID_DEP_REFERENCE step `01-03` depends on `elsewhere`, which is no step of this roadmap | the steps are 01-01, 01-02, 01-03",
        ]
    );
}

/// A roadmap of `size` steps in which a step may need any other one.
fn graphs(size: usize) -> impl Strategy<Value = Vec<BTreeSet<usize>>> {
    proptest::collection::vec(proptest::collection::btree_set(0..size, 0..4), size)
}

fn written(graph: &[BTreeSet<usize>]) -> String {
    let id = |at: &usize| format!("{:02}-{:02}", at / 50, at % 50);
    let step = |(at, needs): (usize, &BTreeSet<usize>)| {
        let needs: Vec<String> = needs.iter().filter(|need| **need != at).map(id).collect();
        format!("- {{id: {}, name: A, criteria: [x], deps: [{}]}}\n", id(&at), needs.join(", "))
    };
    format!("project_id: p\nsteps:\n{}", graph.iter().enumerate().map(step).collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Either there is an order in which every step comes after what it needs, or a circle is shown that is one.
    #[test]
    fn dw_96_every_roadmap_has_an_order_or_a_circle(graph in graphs(9)) {
        let roadmap = read(&written(&graph));
        match roadmap.order() {
            Ok(order) => {
                let order = names(&order);
                prop_assert_eq!(order.len(), roadmap.steps.len());
                for (at, id) in order.iter().enumerate() {
                    for need in roadmap.needs(id) {
                        prop_assert!(order[..at].contains(&need), "{} before {}", need, id);
                    }
                }
                let layers = roadmap.layers().unwrap();
                let mut before = BTreeSet::new();
                for layer in &layers {
                    for step in layer {
                        prop_assert!(roadmap.needs(&step.id).iter().all(|need| before.contains(*need)));
                    }
                    before.extend(layer.iter().map(|step| step.id.as_str()));
                }
                prop_assert_eq!(before.len(), roadmap.steps.len());
            }
            Err(cycle) => {
                prop_assert_eq!(cycle.path.first(), cycle.path.last());
                for pair in cycle.path.windows(2) {
                    prop_assert!(roadmap.needs(&pair[0]).contains(&pair[1].as_str()));
                }
            }
        }
    }

    /// Whoever always takes a step that is ready comes to the end.
    #[test]
    fn dw_54_taking_what_is_ready_ends_with_all_steps_done(mut graph in graphs(8)) {
        // Needs go down a ranking that is not the order of the file, so that there is no circle.
        let rank = |at: usize| at * 5 % 8;
        for (at, needs) in graph.iter_mut().enumerate() {
            needs.retain(|need| rank(*need) < rank(at));
        }
        let roadmap = read(&written(&graph));
        let mut finished = BTreeSet::new();
        while let Some(step) = roadmap.ready(&finished).first() {
            prop_assert!(roadmap.open_needs(&step.id, &finished).is_empty());
            finished.insert(step.id.clone());
        }
        prop_assert_eq!(finished.len(), roadmap.steps.len());
    }
}
