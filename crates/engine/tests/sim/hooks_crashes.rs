//! A hook is killed between any two writes; the next one goes on, and the session ends as it would have without.

use seriatim_engine::sim::survive;

use crate::hooks::Act;
use crate::hooks::Picture;
use crate::hooks::Session;
use crate::hooks::script;
use crate::seeds;

/// A session in which nobody is killed.
struct Undisturbed {
    answers: Vec<String>,
    /// How many points each act passes, and how many transactions it makes.
    acts: Vec<(u64, u64)>,
    picture: Picture,
}

fn undisturbed(acts: &[Act]) -> Undisturbed {
    let session = Session::new();
    let (mut answers, mut passed) = (vec![], vec![]);
    for (number, act) in acts.iter().enumerate() {
        let before = (session.fate.passed(), session.committed());
        answers.push(session.act(act, &session.ports(number, None)));
        passed.push((session.fate.passed() - before.0, session.committed() - before.1));
    }
    let picture = session.picture();
    picture.assert_whole("undisturbed");
    assert_eq!(picture.aside, [""; 0]);
    Undisturbed { answers, acts: passed, picture }
}

/// The same session, in which one act dies at one point. An act of which every transaction is durable is not made again;
/// any other is.
fn disturbed(acts: &[Act], expected: &Undisturbed, victim: usize, point: u64) {
    let what = format!("act {victim} ({:?}) killed at point {point}", acts[victim]);
    let session = Session::new();
    for (number, act) in acts.iter().enumerate() {
        let ports = session.ports(number, None);
        if number == victim {
            let before = session.committed();
            session.fate.crash_after(Some(point));
            let lived = survive(|| session.act(act, &ports));
            let crash = lived.expect_err("it dies");
            session.files.outlive();
            let (_, transactions) = expected.acts[victim];
            let is_complete = transactions > 0 && session.committed() - before == transactions;
            if is_complete || matches!(act, Act::Edit { .. }) {
                continue;
            }
            let answer = session.act(act, &session.ports(number, None));
            assert_eq!(answer, expected.answers[number], "{what}, {crash}: the act itself, made again");
        } else {
            let answer = session.act(act, &ports);
            assert_eq!(answer, expected.answers[number], "{what}: act {number} is answered otherwise");
        }
    }
    let picture = session.picture();
    picture.assert_whole(&what);
    picture.assert_same(&expected.picture, &what);
}

#[test]
fn e_86_a_hook_that_is_killed_between_any_two_writes_changes_nothing_in_the_end() {
    let name = "e_86_a_hook_that_is_killed_between_any_two_writes_changes_nothing_in_the_end";
    let points = std::cell::Cell::new(0_u64);
    seeds::each(name, 1, |seed| {
        let acts = script(seed);
        let expected = undisturbed(&acts);
        // Somebody has to come after whoever dies, so that the last act is spared.
        for (victim, (passed, _)) in expected.acts.iter().enumerate().take(acts.len() - 1) {
            for point in 0..*passed {
                disturbed(&acts, &expected, victim, point);
                points.set(points.get() + 1);
            }
        }
    });
    println!("hooks: killed at {} points, no difference", points.get());
}
