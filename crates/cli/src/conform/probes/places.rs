//! Probes of where files lie: what roles may write, and going back to how everything was.

use std::io;

use seriatim_core::action::conformance::Judgement;
use seriatim_core::hash::Hash;

use crate::conform::judging::Judging;
use crate::conform::layout::Action;
use crate::conform::layout::Layout;
use crate::conform::layout::Role;
use crate::conform::trial::Files;
use crate::conform::trial::Trial;

const BUILD: Action = Action {
    name: "build",
    purpose: "Build the product",
    steps: &["agent: writer", "agent: drawer", "{gate: approval, name: release}"],
};

/// A program of the workspace, and its mode before the action.
const PROGRAM: (&str, u32) = ("engine/tool.sh", 0o755);
const CHANGED: (&str, &str) = ("engine/guide.md", "# Guide of before\n");
const REMOVED: (&str, &str) = ("engine/old.md", "# Old\n");

/// Two stages that change, add and remove files, and a mode; then a gate.
pub(super) const ROLLBACK: Layout = Layout {
    roles: &[
        Role { name: "writer", writes: &["engine/"] },
        Role { name: "drawer", writes: &["engine/", "experience/"] },
    ],
    actions: &[BUILD],
    files: &[CHANGED, REMOVED, (PROGRAM.0, "exit 0\n")],
    play: r##"
case $role in
writer)
    write engine/guide.md "# Guide of the action"
    write engine/new/chapter.md "# Chapter"
    rm engine/old.md
    ;;
*)
    write experience/picture.md "# Picture"
    chmod 600 engine/tool.sh
    ;;
esac
finish
"##,
    ..Layout::PLAIN
};

pub(super) fn roll_back(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    trial.set_mode(PROGRAM.0, PROGRAM.1)?;
    let before = trial.files();
    let gate = trial.run("build");
    let between = differences(&before, &trial.files());
    let confirm = trial.decide(&gate, "rollback", "");
    let end = trial.decide(&confirm, "confirm", "");
    let left = differences(&before, &trial.files());
    let snapshots = trial.calls().first().map(|call| call.snapshots.clone()).unwrap_or_default();
    let held = snapshots.iter().filter_map(|path| std::fs::read_to_string(path).ok()).any(|manifest| {
        [CHANGED, REMOVED].iter().all(|(path, text)| {
            let checksum = Hash::of(text.as_bytes()).to_string();
            manifest.contains(path) && manifest.contains(&checksum)
        })
    });
    let restored = format!(
        "files that differ at the gate: {}, after the rollback: 0; {}",
        between.len(),
        end.in_words()
    );
    Ok(vec![
        Judging::of("rollback", restored)
            .demand(!between.is_empty(), "the roles changed nothing that could be rolled back")
            .demand(gate.waits(), format!("the gate is not shown: {}", gate.in_words()))
            .demand(confirm.waits(), format!("no confirmation is asked for: {}", confirm.in_words()))
            .demand(left.is_empty(), format!("after the rollback: {}", left.join(", ")))
            .close(),
        Judging::of("rollback-everywhere", format!("snapshots before the first call: {}", snapshots.len()))
            .demand(!snapshots.is_empty(), "no .snapshots/*/manifest.json lay there before the first call")
            .demand(
                snapshots.is_empty() || held,
                "no manifest names the files of before with their SHA-256 checksums",
            )
            .close(),
    ])
}

/// What is not as it was.
fn differences(before: &Files, after: &Files) -> Vec<String> {
    let mut found = vec![];
    for (path, (bytes, mode)) in before {
        match after.get(path) {
            None => found.push(format!("{path} is gone")),
            Some((now, _)) if now != bytes => found.push(format!("{path} has other bytes")),
            Some((_, now)) if now != mode => found.push(format!("{path} has the mode {now:o}, not {mode:o}")),
            Some(_) => {}
        }
    }
    found
        .extend(after.keys().filter(|path| !before.contains_key(*path)).map(|path| format!("{path} is new")));
    found
}

/// The second role first writes where it must not.
pub(super) const LOCATIONS: Layout = Layout {
    roles: &[
        Role { name: "writer", writes: &["engine/guide.md"] },
        Role { name: "drawer", writes: &["experience/picture.md"] },
    ],
    actions: &[Action { steps: &["agent: writer", "agent: drawer"], ..BUILD }],
    play: r##"
case $role in
writer) write engine/guide.md "# Guide" ;;
*)
    write experience/picture.md "# Picture"
    if [ "$n" = 1 ]; then write agents/notes/customer.md "# Customer"; fi
    ;;
esac
finish
"##,
    ..Layout::PLAIN
};
const ELSEWHERE: &str = "agents/notes/customer.md";

pub(super) fn locations(trial: &mut Trial<'_>) -> io::Result<Vec<Judgement>> {
    let reply = trial.run("build");
    let calls = trial.calls();
    let told = calls.of("drawer").iter().any(|call| call.feedback().contains(ELSEWHERE));
    let logged = trial.logs().iter().any(|log| log.text.contains(ELSEWHERE));
    let named = told || logged || reply.shown.contains(ELSEWHERE);
    let mut judging =
        Judging::of("locations", format!("{}; {ELSEWHERE} is refused and named", reply.in_words()))
            .demand(trial.text(ELSEWHERE).is_none(), format!("{ELSEWHERE} is still there"))
            .demand(named, format!("neither a brief, nor a log, nor what is shown names {ELSEWHERE}"));
    for path in ["engine/guide.md", "experience/picture.md"] {
        judging = judging.demand(trial.text(path).is_some(), format!("{path} is not there"));
    }
    Ok(vec![judging.close()])
}
