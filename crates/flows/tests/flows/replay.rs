//! Replay: the same journal, the same path; another path is found and named.

use proptest::prelude::*;
use seriatim_core::time::Utc;
use seriatim_flows::Cx;
use seriatim_flows::Halt;
use seriatim_flows::Run;
use seriatim_flows::Turn;

use crate::support::Journal;
use crate::support::answer;
use crate::support::question;

async fn two_questions(cx: Cx, words: [&'static str; 2]) -> String {
    let at = cx.now().await;
    cx.record(&serde_json::json!({"began": at}));
    let first = cx.ask(question(words[0])).await.choice;
    let second = cx.ask(question(words[1])).await.choice;
    format!("{first} {second} {at}")
}

fn journal_at_second_question() -> Journal {
    let mut journal = Journal::default();
    let mut run = Run::new(Default::default(), |cx| two_questions(cx, ["a?", "b?"]));
    assert_eq!(journal.turn(&mut run), None);
    journal.put(&mut run, "/0", &Utc(1000));
    assert_eq!(journal.turn(&mut run), None);
    journal.put(&mut run, "/2", &answer("approve"));
    assert_eq!(journal.turn(&mut run), None);
    journal
}

#[test]
fn a_run_goes_on_from_its_journal_and_repeats_nothing() {
    let mut journal = journal_at_second_question();
    assert_eq!(journal.keys(), ["/0", "/1", "/2", "/3"]);
    let mut again = Run::new(journal.past(), |cx| two_questions(cx, ["a?", "b?"]));
    assert_eq!(again.turn(), Turn::Waits(vec![]), "an open question is not asked again");
    assert_eq!(again.open(), ["/3"]);
    journal.put(&mut again, "/3", &answer("cancel"));
    assert_eq!(again.turn(), Turn::Done(vec![], "approve cancel 1970-01-01T00:00:01.000Z".to_owned()));
}

#[test]
fn an_answer_that_comes_before_the_first_turn_is_not_lost() {
    let journal = journal_at_second_question();
    let mut again = Run::new(journal.past(), |cx| two_questions(cx, ["a?", "b?"]));
    again.put("/3", serde_json::to_vec(&answer("cancel")).unwrap());
    assert_eq!(again.turn(), Turn::Done(vec![], "approve cancel 1970-01-01T00:00:01.000Z".to_owned()));
}

#[test]
fn e_84_changed_flow_code_halts_and_names_key_expected_and_found() {
    let journal = journal_at_second_question();
    let mut changed = Run::new(journal.past(), |cx| two_questions(cx, ["other?", "b?"]));
    let Turn::Halted(halt) = changed.turn() else { panic!("must halt") };
    let Halt::NonDeterminism { key, expected, found } = &halt else { panic!("{halt:?}") };
    assert_eq!(key, "/2");
    assert_eq!(*expected, journal.calls[2].hash);
    assert_ne!(expected, found);
    let text = halt.to_string();
    assert!(text.contains("/2") && text.contains(&expected.to_string()) && text.contains(&found.to_string()));
}

#[test]
fn a_changed_open_question_halts_too() {
    let journal = journal_at_second_question();
    let mut changed = Run::new(journal.past(), |cx| two_questions(cx, ["a?", "other?"]));
    assert!(matches!(changed.turn(), Turn::Halted(Halt::NonDeterminism { key, .. }) if key == "/3"));
}

#[test]
fn a_flow_that_ends_early_leaves_the_past_unused_and_halts() {
    let journal = journal_at_second_question();
    let mut short = Run::new(journal.past(), |cx| async move { cx.now().await.0 });
    assert_eq!(short.turn(), Turn::Halted(Halt::Leftover { key: "/1".into() }));
}

#[test]
fn an_outcome_of_another_shape_halts() {
    let mut run = Run::new(Default::default(), |cx: Cx| async move { cx.now().await.0 });
    run.turn();
    run.put("/0", b"\"soon\"".to_vec());
    assert!(matches!(run.turn(), Turn::Halted(Halt::Shape { key, .. }) if key == "/0"));
}

#[test]
fn two_open_calls_in_one_scope_halt() {
    let mut run = Run::new(Default::default(), |cx: Cx| async move {
        let mut first = Box::pin(cx.now());
        std::future::poll_fn(|c| {
            let _ = first.as_mut().poll(c);
            std::task::Poll::Ready(())
        })
        .await;
        cx.now().await;
        first.await
    });
    assert_eq!(run.turn(), Turn::Halted(Halt::Overlap { key: "/1".into() }));
}

#[test]
fn a_flow_that_ends_with_a_call_open_halts() {
    let mut run = Run::new(Default::default(), |cx: Cx| async move {
        let mut first = Box::pin(cx.now());
        std::future::poll_fn(|c| {
            let _ = first.as_mut().poll(c);
            std::task::Poll::Ready(())
        })
        .await;
    });
    assert_eq!(run.turn(), Turn::Halted(Halt::Abandoned { key: "/0".into() }));
}

async fn walk(cx: Cx, steps: Vec<u8>) -> i64 {
    let mut sum = 0;
    for step in steps {
        match step % 3 {
            0 => sum += cx.now().await.0,
            1 => cx.record(&serde_json::json!({ "sum": sum })),
            _ => sum += i64::try_from(cx.ask(question(&format!("{sum}?"))).await.choice.len()).unwrap(),
        }
    }
    sum
}

fn drive(steps: &[u8], past: &Journal, stop_after: usize) -> (Journal, Option<i64>) {
    let mut journal = past.clone();
    let mut run = Run::new(past.past(), |cx| walk(cx, steps.to_vec()));
    for _ in 0..=stop_after {
        if let Some(value) = journal.turn(&mut run) {
            return (journal, Some(value));
        }
        for key in run.open() {
            let asked = journal.calls.iter().find(|c| c.key == key).unwrap().request.clone();
            match asked.name() {
                "now" => journal.put(&mut run, &key, &Utc(7)),
                _ => journal.put(&mut run, &key, &answer("approve")),
            }
        }
    }
    (journal, None)
}

proptest! {
    /// E-86: wherever a run is cut, going on from its journal gives the same requests and the same end.
    #[test]
    fn e_86_cut_anywhere_and_the_end_is_the_same(
        steps in proptest::collection::vec(any::<u8>(), 0..12),
        cut in 0usize..12,
    ) {
        let (whole, end) = drive(&steps, &Journal::default(), 100);
        let (part, _) = drive(&steps, &Journal::default(), cut);
        let (rest, end_again) = drive(&steps, &part, 100);
        prop_assert_eq!(end, end_again);
        prop_assert_eq!(whole.calls, rest.calls);
    }
}
