//! Probes of how an action begins: what is meant, what it needs, and which guides its roles get.

use std::io;

use seriatim_core::action::conformance::Judgement;

use crate::conform::judging::Judging;
use crate::conform::layout;
use crate::conform::layout::Action;
use crate::conform::layout::BLUEPRINT;
use crate::conform::layout::Layout;
use crate::conform::layout::Role;
use crate::conform::trial::Trial;

const BUILDER: Role = Role { name: "builder", writes: &["engine/product.md"] };
const WRITER: Role = Role { name: "writer", writes: &["experience/manual.md"] };
const BUILD: Action =
    Action { name: "build", purpose: "Compile the parts into a product", steps: &["agent: builder"] };
const DOCUMENT: Action =
    Action { name: "document", purpose: "Write manuals for the customers", steps: &["agent: writer"] };
const PLAY: &str = r##"
case $role in
builder) write engine/product.md "# Product of call $n" ;;
*) write experience/manual.md "# Manual of call $n" ;;
esac
finish
"##;

/// Two actions that cannot be mistaken for each other, unless both are named.
pub(super) const INTENT: Layout =
    Layout { roles: &[BUILDER, WRITER], actions: &[BUILD, DOCUMENT], play: PLAY, ..Layout::PLAIN };

pub(super) fn intent(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let clear = trial.run("please document the manuals for our customers");
    let calls = trial.calls();
    let unclear = trial.run("build it or document it");
    let after = trial.calls();
    let offered = |id: &str| unclear.question().is_some_and(|question| question.offers(id));
    let more = after.len().saturating_sub(calls.len());
    Ok(vec![
        Judging::of("intent", format!("{}; then {}", clear.in_words(), unclear.in_words()))
            .demand(clear.is_good(), format!("clear words start nothing: {}", clear.in_words()))
            .demand(
                calls.count("writer") == 1 && calls.len() == 1,
                format!("clear words start another action: {}", calls.in_words()),
            )
            .demand(unclear.waits(), format!("ambiguous words raise no question: {}", unclear.in_words()))
            .demand(offered("build") && offered("document"), "the question does not offer both actions")
            .demand(more == 0, format!("after ambiguous words {more} roles were called"))
            .close(),
    ])
}

/// Two actions; the guide of the second one's role is taken away.
pub(super) const GUIDES: Layout = INTENT;

const WORDS: [&str; 2] = ["Count every screw by hand.", "Weigh every screw on scales."];

pub(super) fn guides(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    trial.remove(&layout::guide_path("writer"))?;
    let mut judging =
        Judging::of("role-guides", "each call has the guide as it is; without one nobody is called");
    for (number, words) in (1..).zip(WORDS) {
        trial.put(&layout::guide_path("builder"), &layout::guide("builder", words))?;
        let reply = trial.run("build");
        let calls = trial.calls();
        let called = calls.of("builder");
        let told = called.last().is_some_and(|call| call.was_told(words));
        let others = WORDS.iter().filter(|other| **other != words);
        let stale = others.filter(|other| called.last().is_some_and(|call| call.was_told(other))).count();
        judging = judging
            .demand(reply.is_good(), format!("action {number} does not end well: {}", reply.in_words()))
            .demand(called.len() == number, format!("action {number}: {}", calls.in_words()))
            .demand(told, format!("brief {number} does not say \"{words}\", as the guide does"))
            .demand(stale == 0, format!("brief {number} holds the guide as it was at another time"));
    }
    let reply = trial.run("document");
    let times = trial.calls().count("writer");
    let path = layout::guide_path("writer");
    let named = reply.shown.contains(&path) || trial.logs().iter().any(|log| log.text.contains(&path));
    Ok(vec![
        judging
            .demand(reply.tells_of_failure(), format!("a missing guide is passed by: {}", reply.in_words()))
            .demand(times == 0, format!("the role without a guide was called {times} times"))
            .demand(named, format!("nothing that is shown or logged names {path}"))
            .close(),
    ])
}

/// One action whose input is taken away.
pub(super) const INPUTS: Layout =
    Layout { roles: &[BUILDER], actions: &[BUILD], play: PLAY, ..Layout::PLAIN };

pub(super) fn missing_inputs(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let text = trial.text(BLUEPRINT).unwrap_or_default();
    trial.remove(BLUEPRINT)?;
    let asked = trial.run("build");
    let before = trial.calls().len();
    trial.put(BLUEPRINT, &text)?;
    let end = trial.decide(&asked, "retry", "");
    let calls = trial.calls();
    Ok(vec![
        Judging::of("inputs", format!("{}; afterwards {}", asked.in_words(), calls.in_words()))
            .demand(asked.waits(), format!("nobody is asked: {}", asked.in_words()))
            .demand(asked.shown.contains(BLUEPRINT), format!("nothing that is shown names {BLUEPRINT}"))
            .demand(before == 0, format!("{before} roles were called although an input is missing"))
            .demand(end.is_good(), format!("it does not go on once the input is there: {}", end.in_words()))
            .demand(calls.count("builder") == 1, format!("once the input is there: {}", calls.in_words()))
            .close(),
    ])
}
