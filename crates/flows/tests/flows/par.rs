//! Forks: stable keys, finished branches are left alone, parked ones give their place away.

use seriatim_core::time::Utc;
use seriatim_flows::Cx;
use seriatim_flows::Halt;
use seriatim_flows::Run;
use seriatim_flows::Turn;

use crate::support::Journal;
use crate::support::answer;
use crate::support::question;

fn branches(names: &[&str]) -> Vec<(String, usize)> {
    names.iter().enumerate().map(|(i, n)| ((*n).to_owned(), i)).collect()
}

async fn sums(cx: Cx, names: Vec<(String, usize)>, limit: usize) -> Vec<i64> {
    cx.par(limit, names, |cx, i| async move {
        let a = cx.now().await.0;
        let b = cx.now().await.0;
        a + b + i64::try_from(i).unwrap()
    })
    .await
}

#[test]
fn branches_have_keys_of_their_own_and_finished_ones_are_not_run_again() {
    let mut journal = Journal::default();
    let mut run = Run::new(Default::default(), |cx| sums(cx, branches(&["a", "b"]), 2));
    assert_eq!(journal.turn(&mut run), None);
    assert_eq!(journal.keys(), ["/0", "/0:a/0", "/0:b/0"]);
    journal.put(&mut run, "/0:a/0", &Utc(1));
    assert_eq!(journal.turn(&mut run), None);
    journal.put(&mut run, "/0:a/1", &Utc(2));
    assert_eq!(journal.turn(&mut run), None);

    let mut again = Run::new(journal.past(), |cx| sums(cx, branches(&["a", "b"]), 2));
    assert_eq!(again.turn(), Turn::Waits(vec![]));
    assert_eq!(again.open(), ["/0:b/0"], "branch a is over");
    journal.put(&mut again, "/0:b/0", &Utc(10));
    assert_eq!(journal.turn(&mut again), None);
    journal.put(&mut again, "/0:b/1", &Utc(20));
    assert_eq!(journal.turn(&mut again), Some(vec![3, 31]));
}

#[test]
fn the_limit_holds_and_a_parked_branch_gives_its_place_away() {
    let flow = |cx: Cx| async move {
        let items = branches(&["a", "b", "c"]);
        cx.par(1, items, |cx, i| async move {
            if i == 0 { cx.ask(question("may I?")).await.choice.len() } else { cx.now().await.0 as usize }
        })
        .await
    };
    let mut journal = Journal::default();
    let mut run = Run::new(Default::default(), flow);
    assert_eq!(journal.turn(&mut run), None);
    assert_eq!(journal.keys(), ["/0", "/0:a/0", "/0:b/0"], "a is parked, b works, c waits");
    journal.put(&mut run, "/0:b/0", &Utc(2));
    assert_eq!(journal.turn(&mut run), None);
    assert_eq!(run.open(), ["/0:a/0", "/0:c/0"]);
    journal.put(&mut run, "/0:c/0", &Utc(3));
    journal.put(&mut run, "/0:a/0", &answer("approve"));
    assert_eq!(journal.turn(&mut run), Some(vec![7, 2, 3]));
}

#[test]
fn a_call_that_the_driver_parks_gives_its_place_away_too() {
    let mut journal = Journal::default();
    let mut run = Run::new(Default::default(), |cx| sums(cx, branches(&["a", "b"]), 1));
    assert_eq!(journal.turn(&mut run), None);
    assert_eq!(run.open(), ["/0:a/0"]);
    run.park("/0:a/0");
    assert_eq!(journal.turn(&mut run), None);
    assert_eq!(run.open(), ["/0:a/0", "/0:b/0"]);
}

#[test]
fn the_parents_mailbox_is_closed_while_its_branches_run() {
    let flow = |cx: Cx| async move {
        let cx = std::sync::Arc::new(cx);
        let parent = cx.clone();
        cx.par(2, branches(&["a"]), move |_, _| {
            let parent = parent.clone();
            async move { parent.now().await.0 }
        })
        .await
    };
    let mut run = Run::new(Default::default(), flow);
    assert_eq!(run.turn(), Turn::Halted(Halt::Overlap { key: "/1".into() }));
}

#[test]
fn facts_through_the_parent_halt_as_well() {
    let flow = |cx: Cx| async move {
        let cx = std::sync::Arc::new(cx);
        let parent = cx.clone();
        cx.par(2, branches(&["a"]), move |_, _| {
            let parent = parent.clone();
            async move { parent.record(&1) }
        })
        .await
    };
    let mut run = Run::new(Default::default(), flow);
    assert!(matches!(run.turn(), Turn::Halted(Halt::Overlap { .. })));
}

#[test]
fn names_that_would_blur_keys_are_refused() {
    for names in [vec!["a/b"], vec!["a:b"], vec![""], vec!["a", "a"]] {
        let mut run = Run::new(Default::default(), |cx| sums(cx, branches(&names), 2));
        assert!(matches!(run.turn(), Turn::Halted(Halt::BranchName { .. })), "{names:?}");
    }
}

#[test]
fn another_set_of_branches_is_not_the_same_fork() {
    let mut journal = Journal::default();
    let mut run = Run::new(Default::default(), |cx| sums(cx, branches(&["a", "b"]), 2));
    journal.turn(&mut run);
    let mut other = Run::new(journal.past(), |cx| sums(cx, branches(&["a", "b", "c"]), 2));
    assert!(matches!(other.turn(), Turn::Halted(Halt::NonDeterminism { key, .. }) if key == "/0"));
}

#[test]
fn nested_forks_and_many_branches_come_home() {
    let flow = |cx: Cx| async move {
        let outer: Vec<(String, usize)> = (0..100).map(|i| (format!("o{i}"), i)).collect();
        cx.par(10, outer, |cx, i| async move {
            let inner: Vec<(String, usize)> = (0..5).map(|j| (format!("i{j}"), j)).collect();
            let got = cx.par(2, inner, |cx, j| async move { cx.now().await.0 + (i * j) as i64 }).await;
            got.into_iter().sum::<i64>()
        })
        .await
    };
    let mut journal = Journal::default();
    let mut run = Run::new(Default::default(), flow);
    let end = loop {
        if let Some(end) = journal.turn(&mut run) {
            break end;
        }
        for key in run.open() {
            journal.put(&mut run, &key, &Utc(1));
        }
    };
    assert_eq!(end, (0..100).map(|i| 5 + 10 * i).collect::<Vec<i64>>());
    assert_eq!(journal.calls.len(), 1 + 100 + 500);
}
