//! The probe of roles that work at the same time, of which one fails for ever.

use std::io;

use seriatim_core::action::conformance::Judgement;

use crate::conform::judging::Judging;
use crate::conform::layout::Action;
use crate::conform::layout::Layout;
use crate::conform::layout::Role;
use crate::conform::trial::Trial;

/// The third role hands in something invalid, until a person wants it tried again.
pub(super) const LAYOUT: Layout = Layout {
    roles: &[
        Role { name: "writer", writes: &["engine/guide.md"] },
        Role { name: "drawer", writes: &["experience/picture.md"] },
        Role { name: "counter", writes: &["engine/counts.json"] },
    ],
    actions: &[Action {
        name: "build",
        purpose: "Build the product",
        steps: &["parallel: [writer, drawer, counter]"],
    }],
    play: r##"
case $role in
writer) write engine/guide.md "# Guide of call $n" ;;
drawer) write experience/picture.md "# Picture of call $n" ;;
*)
    if [ "$n" -lt 4 ]; then write engine/counts.json '{"counts": ['; else write engine/counts.json '{}'; fi
    ;;
esac
finish
"##,
    ..Layout::PLAIN
};

/// The good work: who does it, and what it must look like for ever after.
const GOOD: [(&str, &str, &str); 2] = [
    ("writer", "engine/guide.md", "# Guide of call 1\n"),
    ("drawer", "experience/picture.md", "# Picture of call 1\n"),
];

pub(super) fn one_of_three(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let asked = trial.run("build");
    let mut meanwhile =
        Judging::of("no-rollback-of-good-work", format!("{}; the other files are there", asked.in_words()))
            .demand(asked.waits(), format!("nobody is asked: {}", asked.in_words()));
    for (role, path, text) in GOOD {
        let there = trial.text(path).as_deref() == Some(text);
        let fault =
            format!("while the question is open, {path} of the {role} is not there as it was written");
        meanwhile = meanwhile.demand(there, fault);
    }
    let end = trial.decide(&asked, "retry", "");
    let calls = trial.calls();
    let mut stays =
        Judging::of("good-work-stays", format!("{}; their files are unchanged", calls.in_words()))
            .demand(end.is_good(), format!("it does not end well after the retry: {}", end.in_words()))
            .demand(calls.count("counter") > 1, "the role that failed was not called again");
    for (role, path, text) in GOOD {
        let times = calls.count(role);
        let there = trial.text(path).as_deref() == Some(text);
        stays = stays
            .demand(times == 1, format!("the {role} was called {times} times, not once"))
            .demand(there, format!("at the end {path} is not there as it was written"));
    }
    Ok(vec![stays.close(), meanwhile.close()])
}
