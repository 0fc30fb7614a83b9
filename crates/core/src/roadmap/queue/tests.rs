//! The order of what waits, and when it probably begins.

use proptest::prelude::*;

use super::*;

const NOW: Utc = Utc(1_705_312_800_000);

fn roadmap(steps: &str) -> Roadmap {
    let text = format!("project_id: p\nsteps:\n{steps}");
    Roadmap::read("roadmap.yaml", &text).0.unwrap()
}

/// A diamond: the first, two beside one another, the last.
fn diamond() -> Roadmap {
    roadmap(
        "- {id: 01-01, name: A, criteria: [x], estimated_hours: 1}\n\
         - {id: 01-02, name: B, criteria: [x], estimated_hours: 2, dependencies: [01-01]}\n\
         - {id: 01-03, name: C, criteria: [x], estimated_hours: 0.5, dependencies: [01-01]}\n\
         - {id: 01-04, name: D, criteria: [x], estimated_hours: 1, dependencies: [01-02, 01-03]}\n",
    )
}

fn done(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

/// The steps, and after how many minutes each begins.
fn minutes(queue: &[Queued]) -> Vec<(&str, Option<u64>)> {
    queue.iter().map(|q| (q.step.as_str(), q.estimated_start.map(|at| at.since_ms(NOW) / 60_000))).collect()
}

/// DW-97: one after the other, in dependency order.
#[test]
fn dw_97_steps_wait_with_position_and_estimated_start() {
    let queue = queue(&diamond(), &done(&[]), &[], NOW, 1);
    assert_eq!(
        minutes(&queue),
        [("01-01", Some(0)), ("01-02", Some(60)), ("01-03", Some(180)), ("01-04", Some(210))]
    );
    assert_eq!(queue.iter().map(|q| q.position).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(
        queue[2].to_json(),
        json!({
            "step_id": "01-03",
            "execution_queue": {
                "queued_at": "2024-01-15T10:00:00Z",
                "position": 3,
                "estimated_start": "2024-01-15T13:00:00Z",
            },
        })
    );
}

/// DW-97, K-39: with several places independent steps begin together.
#[test]
fn dw_97_with_several_places_independent_steps_begin_together() {
    let queue = queue(&diamond(), &done(&[]), &[], NOW, 3);
    assert_eq!(
        minutes(&queue),
        [("01-01", Some(0)), ("01-02", Some(60)), ("01-03", Some(60)), ("01-04", Some(180))]
    );
}

/// DW-97: what is done or running does not wait, and what runs takes a place.
#[test]
fn dw_97_what_runs_takes_a_place_and_what_is_done_none() {
    let running = ["01-02".to_owned()];
    let one = queue(&diamond(), &done(&["01-01"]), &running, NOW, 1);
    assert_eq!(minutes(&one), [("01-03", Some(120)), ("01-04", Some(150))]);
    let two = queue(&diamond(), &done(&["01-01"]), &running, NOW, 2);
    assert_eq!(minutes(&two), [("01-03", Some(0)), ("01-04", Some(120))]);
    assert!(queue(&diamond(), &done(&["01-01", "01-02", "01-03", "01-04"]), &[], NOW, 1).is_empty());
}

/// DW-97: where an estimate is missing, nothing is made up about what comes after it.
#[test]
fn dw_97_without_an_estimate_the_start_is_not_known() {
    let plan = roadmap(
        "- {id: 01-01, name: A, criteria: [x]}\n\
         - {id: 01-02, name: B, criteria: [x], estimated_hours: 1, dependencies: [01-01]}\n\
         - {id: 01-03, name: C, criteria: [x], estimated_hours: 1}\n",
    );
    let one = queue(&plan, &done(&[]), &[], NOW, 1);
    assert_eq!(minutes(&one), [("01-01", Some(0)), ("01-02", None), ("01-03", None)]);
    assert_eq!(one[1].to_json()["execution_queue"]["estimated_start"], Json::Null);
    let two = queue(&plan, &done(&[]), &[], NOW, 2);
    assert_eq!(minutes(&two), [("01-01", Some(0)), ("01-03", Some(0)), ("01-02", None)]);
}

/// DW-96: steps that name a file in common do not run side by side.
#[test]
fn dw_96_steps_with_a_file_in_common_wait_for_one_another() {
    let plan = roadmap(
        "- {id: 01-01, name: A, criteria: [x], estimated_hours: 1, deliverables: [src/a.py]}\n\
         - {id: 01-02, name: B, criteria: [x], estimated_hours: 1, deliverables: [src/a.py]}\n\
         - {id: 01-03, name: C, criteria: [x], estimated_hours: 1, deliverables: [src/c.py]}\n",
    );
    let queue = queue(&plan, &done(&[]), &[], NOW, 2);
    assert_eq!(minutes(&queue), [("01-01", Some(0)), ("01-03", Some(0)), ("01-02", Some(60))]);
}

/// E-47: steps that wait for one another have a place at the end, and no time.
#[test]
fn e_47_steps_that_wait_for_one_another_have_no_start() {
    let plan = roadmap(
        "- {id: 01-01, name: A, criteria: [x], estimated_hours: 1, dependencies: [01-02]}\n\
         - {id: 01-02, name: B, criteria: [x], estimated_hours: 1, dependencies: [01-01]}\n\
         - {id: 01-03, name: C, criteria: [x], estimated_hours: 1}\n",
    );
    let queue = queue(&plan, &done(&[]), &[], NOW, 1);
    assert_eq!(minutes(&queue), [("01-03", Some(0)), ("01-01", None), ("01-02", None)]);
}

proptest! {
    /// DW-97: whatever the plan, each open step waits once, positions have no gap, times never go back, and nothing begins
    /// before what it needs is over.
    #[test]
    fn dw_97_the_queue_is_whole_and_in_order(
        hours in prop::collection::vec(0..5_u32, 1..9),
        needs in prop::collection::vec(any::<u8>(), 9),
        parallel in 0..4_usize,
    ) {
        let step = |(at, hours): (usize, &u32)| {
            let before: Vec<String> =
                (0..at).filter(|b| needs[at] >> b & 1 == 1).map(|b| format!("01-{b:02}")).collect();
            format!("- {{id: 01-{at:02}, name: S, criteria: [x], estimated_hours: {hours}, dependencies: [{}]}}\n",
                before.join(", "))
        };
        let plan = roadmap(&hours.iter().enumerate().map(step).collect::<String>());
        let queue = queue(&plan, &done(&[]), &[], NOW, parallel);
        prop_assert_eq!(queue.len(), hours.len());
        prop_assert!(queue.iter().enumerate().all(|(at, q)| q.position == at + 1));
        prop_assert!(queue.windows(2).all(|pair| pair[0].estimated_start <= pair[1].estimated_start));
        let start = |id: &str| queue.iter().find(|q| q.step == id).unwrap().estimated_start.unwrap();
        for queued in &queue {
            for need in plan.needs(&queued.step) {
                let hours = plan.step(need).unwrap().estimated_hours.unwrap() as u64;
                prop_assert!(start(&queued.step) >= start(need).plus_ms(hours * 3_600_000));
            }
        }
    }
}
