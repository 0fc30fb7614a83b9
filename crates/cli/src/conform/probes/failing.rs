//! Probes of failures: transient and permanent ones, invalid output, and files that are owed and not there.

use std::io;
use std::time::Duration;

use seriatim_core::action::conformance::Judgement;

use crate::conform::judging::Judging;
use crate::conform::layout::Action;
use crate::conform::layout::Layout;
use crate::conform::layout::Role;
use crate::conform::reply::Reply;
use crate::conform::trial::Log;
use crate::conform::trial::Trial;

/// Calls of a role between two decisions of a person: the first, and two more.
const CALLS_MAX: usize = 3;
/// The first pause is a second; a little less is allowed, because the agents' notes of time are not exact.
const PAUSE_MIN: Duration = Duration::from_millis(900);
/// What the permanent failure says of itself.
const PERMANENT: &str = "the licence has expired";

const BUILD: Action = Action { name: "build", purpose: "Build the product", steps: &["agent: fetcher"] };
const FETCHER: Role = Role { name: "fetcher", writes: &["engine/parts.md"] };

/// The first role fails for a moment, the second one for good.
pub(super) const BOTH_SORTS: Layout = Layout {
    roles: &[FETCHER, Role { name: "builder", writes: &["engine/product.md"] }],
    actions: &[Action { steps: &["agent: fetcher", "agent: builder"], ..BUILD }],
    play: r##"
case $role in
fetcher)
    if [ "$n" = 1 ]; then
        fail transient "connection reset by peer"
    else
        write engine/parts.md "# Parts"
        finish
    fi
    ;;
*) fail permanent "the licence has expired" ;;
esac
"##,
    ..Layout::PLAIN
};

pub(super) fn both_sorts(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let reply = trial.run("build");
    let (calls, logs) = (trial.calls(), trial.logs());
    let [fetcher, builder] = ["fetcher", "builder"].map(|role| calls.count(role));
    let logged = logs.iter().any(|log| log.text.contains(PERMANENT));
    Ok(vec![
        Judging::of("failure-classes", calls.in_words())
            .demand(
                fetcher == 2,
                format!("the role with the transient error was called {fetcher} times, not twice"),
            )
            .demand(
                builder == 1,
                format!("the role with the permanent error was called {builder} times, not once"),
            )
            .close(),
        Judging::of("nothing-swallowed", format!("{}; logs: {}", reply.in_words(), logs.len()))
            .demand(reply.tells_of_failure(), format!("nobody is told: {}", reply.in_words()))
            .demand(reply.shown.contains(PERMANENT), format!("nothing that is shown says \"{PERMANENT}\""))
            .demand(logged, format!("no log says \"{PERMANENT}\"; logs: {}", logs.len()))
            .close(),
    ])
}

/// The role never gets through.
pub(super) const TRANSIENT: Layout = Layout {
    roles: &[FETCHER],
    actions: &[BUILD],
    play: "fail transient \"connection reset by peer\"\n",
    ..Layout::PLAIN
};

pub(super) fn transient(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let reply = trial.run("build");
    let (calls, logs) = (trial.calls(), trial.logs());
    let (times, pauses) = (calls.count("fetcher"), calls.pauses("fetcher"));
    let seconds: Vec<String> = pauses.iter().map(|pause| format!("{:.1} s", pause.as_secs_f64())).collect();
    let seconds = if seconds.is_empty() { "none".to_owned() } else { seconds.join(" and ") };
    let grow = pauses.first().is_some_and(|pause| *pause >= PAUSE_MIN) && pauses.is_sorted();
    let question = reply.question();
    let offers = |id: &str| question.is_some_and(|question| question.offers(id));
    let unreadable: Vec<&str> =
        logs.iter().filter(|log| log.document.is_none()).map(|log| log.name.as_str()).collect();
    Ok(vec![
        Judging::of("backoff", format!("{}, pauses: {seconds}; then {}", calls.in_words(), reply.in_words()))
            .demand(times == CALLS_MAX, format!("the role was called {times} times, not {CALLS_MAX}"))
            .demand(grow, format!("the pauses do not grow from a second on: {seconds}"))
            .demand(reply.waits(), format!("nobody is asked: {}", reply.in_words()))
            .close(),
        Judging::of("escalation", reply.in_words())
            .demand(reply.waits(), format!("nobody is asked: {}", reply.in_words()))
            .demand(offers("retry"), "no option of a question is `retry`")
            .demand(offers("cancel"), "no option of a question is `cancel`")
            .close(),
        Judging::of("error-log", format!("files under logs/errors/, all of them JSON: {}", logs.len()))
            .demand(!logs.is_empty(), "there is no file under logs/errors/")
            .demand(unreadable.is_empty(), format!("not JSON: {}", unreadable.join(", ")))
            .close(),
    ])
}

/// The role writes two files that cannot be read, each time.
pub(super) const INVALID: Layout = Layout {
    roles: &[Role { name: "writer", writes: &["engine/parts.json", "engine/settings.yaml"] }],
    actions: &[Action { steps: &["agent: writer"], ..BUILD }],
    play: r#"
write engine/parts.json '{"parts": ['
write engine/settings.yaml 'colour: [red'
finish
"#,
    ..Layout::PLAIN
};

pub(super) fn invalid(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let reply = trial.run("build");
    let calls = trial.calls();
    let briefs: Vec<String> = calls.of("writer").iter().map(|call| call.feedback()).collect();
    let mut correcting =
        Judging::of("correction", format!("{}; then {}", calls.in_words(), reply.in_words()))
            .demand(
                briefs.len() == CALLS_MAX,
                format!("the role was called {} times, not {CALLS_MAX}", briefs.len()),
            )
            .demand(reply.waits(), format!("nobody is asked: {}", reply.in_words()));
    for (number, feedback) in (1..).zip(&briefs).skip(1) {
        for file in ["engine/parts.json", "engine/settings.yaml"] {
            let fault = format!("`feedback` in brief {number} does not name {file}");
            correcting = correcting.demand(feedback.contains(file), fault);
        }
    }
    let times = briefs.len();
    let endless = Judging::of("no-endless-retry", format!("{}; {}", calls.in_words(), reply.in_words()))
        .demand(reply.ended_by_itself(), reply.in_words())
        .demand(times > 0, "the role was never called")
        .demand(times <= CALLS_MAX, format!("the role was called {times} times before anybody was asked"));
    Ok(vec![correcting.close(), endless.close()])
}

/// The role says that it is done, and owes two files.
pub(super) const MISSING: Layout = Layout {
    roles: &[Role { name: "writer", writes: OWED }],
    actions: &[Action { steps: &["agent: writer"], ..BUILD }],
    play: "finish\n",
    ..Layout::PLAIN
};
const OWED: &[&str] = &["engine/first.md", "engine/second.md"];

pub(super) fn missing(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let reply = trial.run("build");
    let logs = trial.logs();
    let empty = Log { name: String::new(), document: None, text: String::new() };
    let log = logs.last().unwrap_or(&empty);
    let remedies = log.remedies();
    let shown_remedy = remedies.iter().any(|remedy| reply.shown.contains(remedy));
    let named = |names: &dyn Fn(&str) -> bool| {
        let left_out: Vec<&str> = OWED.iter().copied().filter(|path| !names(path)).collect();
        left_out.join(" and ")
    };
    let artifacts = log.artifacts();
    let unlisted = named(&|path| artifacts.iter().any(|known| known == path));
    let unlogged = named(&|path| log.text.contains(path));
    let unshown = named(&|path| reply.shown.contains(path));
    Ok(vec![
        Judging::of(
            "report",
            format!("{} names {}; remedies: {}", log.name, OWED.join(" and "), remedies.len()),
        )
        .demand(!logs.is_empty(), "there is no report under logs/errors/")
        .demand(unlisted.is_empty(), format!("`impacted_artifacts` does not name {unlisted}"))
        .demand(!remedies.is_empty(), "`suggested_remediation` names nothing to do")
        .close(),
        actionable(&reply, &remedies),
        Judging::of("next-steps", "what is shown and what is logged name the files and what to do")
            .demand(unshown.is_empty(), format!("nothing that is shown names {unshown}"))
            .demand(unlogged.is_empty(), format!("no log names {unlogged}"))
            .demand(!remedies.is_empty(), "the log names nothing to do")
            .demand(remedies.is_empty() || shown_remedy, "nothing to do of the log is shown")
            .close(),
    ])
}

fn actionable(reply: &Reply, remedies: &[String]) -> Judgement {
    let options = reply.question().map(|question| question.options.as_slice()).unwrap_or_default();
    let bare: Vec<&str> =
        options.iter().filter(|it| it.description.trim().is_empty()).map(|it| it.id.as_str()).collect();
    Judging::of("actionable", format!("options, each with what it leads to: {}", options.len()))
        .demand(reply.waits(), format!("nobody is asked: {}", reply.in_words()))
        .demand(options.len() > 1, format!("options to choose from: {}", options.len()))
        .demand(bare.is_empty(), format!("options that do not say what they lead to: {}", bare.join(", ")))
        .demand(!remedies.is_empty(), "the report lists no remedies")
        .close()
}
