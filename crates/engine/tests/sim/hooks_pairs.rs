//! Two hooks at once, in every order that their transactions can have.

use std::sync::Arc;
use std::sync::Condvar;
use std::sync::Mutex;

use seriatim_journal::Moment;
use seriatim_journal::Observer;

use crate::hooks::Act;
use crate::hooks::Picture;
use crate::hooks::Session;
use crate::hooks::begin;
use crate::hooks::end_phase;
use crate::hooks::spawn_done;
use crate::hooks::start_phase;
use crate::hooks::stop;
use crate::hooks::sub_start;
use crate::hooks::sub_stop;
use crate::hooks::write;

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    AtWork,
    /// Before a transaction, or before it begins at all.
    Waits,
    Over,
}

/// Lets one of two processes work at a time, from the beginning of one transaction to that of its next.
struct Baton {
    stands: Mutex<[Stand; 2]>,
    changed: Condvar,
}

impl Baton {
    fn new() -> Arc<Baton> {
        Arc::new(Baton { stands: Mutex::new([Stand::AtWork; 2]), changed: Condvar::new() })
    }

    fn set(&self, who: usize, stand: Stand) {
        self.stands.lock().unwrap()[who] = stand;
        self.changed.notify_all();
    }

    /// A process waits until it is its turn.
    fn wait(&self, who: usize) {
        self.set(who, Stand::Waits);
        let stands = self.stands.lock().unwrap();
        drop(self.changed.wait_while(stands, |stands| stands[who] == Stand::Waits).unwrap());
    }

    /// Waits until nobody works, and returns who can go on.
    fn waiting(&self) -> Vec<usize> {
        let stands = self.stands.lock().unwrap();
        let stands = self.changed.wait_while(stands, |stands| stands.contains(&Stand::AtWork)).unwrap();
        (0..2).filter(|who| stands[*who] == Stand::Waits).collect()
    }
}

/// Says that a process is over, however it ended.
struct Ending<'b> {
    baton: &'b Baton,
    who: usize,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.baton.set(self.who, Stand::Over);
    }
}

/// Both acts at once. `order` says who goes on wherever both can; it is made longer by what was not said.
fn at_once(session: &Session, number: usize, acts: [&Act; 2], order: &mut Vec<usize>) -> [String; 2] {
    let baton = Baton::new();
    std::thread::scope(|scope| {
        let threads = [0, 1].map(|who| {
            let baton = Arc::clone(&baton);
            scope.spawn(move || {
                let watch = Arc::clone(&baton);
                let observer: Observer = Arc::new(move |moment| {
                    if moment == Moment::Before {
                        watch.wait(who);
                    }
                });
                let _ending = Ending { baton: &baton, who };
                baton.wait(who);
                session.act(acts[who], &session.ports(number, Some(observer)))
            })
        });
        let mut decided = 0;
        loop {
            let next = match baton.waiting().as_slice() {
                [] => break,
                [only] => *only,
                _ => {
                    decided += 1;
                    if decided > order.len() {
                        order.push(0);
                    }
                    order[decided - 1]
                }
            };
            baton.set(next, Stand::AtWork);
        }
        order.truncate(decided);
        threads.map(|thread| thread.join().unwrap())
    })
}

/// The next order to try; nothing when all were tried.
fn next(mut order: Vec<usize>) -> Option<Vec<usize>> {
    while order.pop()? == 1 {}
    order.push(1);
    Some(order)
}

/// The records with the lines of each file and the entries of the book in no order: those of two hooks at once have
/// none.
fn unordered(picture: &Picture) -> Picture {
    let sorted = |text: &String| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    let files = picture.files.iter().map(|(name, text)| (name.clone(), sorted(text))).collect();
    let mut entries = picture.entries.clone();
    entries.sort();
    Picture { files, entries, memos: picture.memos.clone(), ..Picture::default() }
}

/// Each pair, after the acts before it: whatever the order, the end is that of one after the other.
fn assert_like_one_after_the_other(before: &[Act], pair: [&Act; 2]) -> u64 {
    let after = |order: [usize; 2]| {
        let session = Session::new();
        for (number, act) in before.iter().enumerate() {
            session.act(act, &session.ports(number, None));
        }
        let mut answers = [String::new(), String::new()];
        for who in order {
            answers[who] = session.act(pair[who], &session.ports(before.len(), None));
        }
        (answers, unordered(&session.picture()))
    };
    let serial = [after([0, 1]), after([1, 0])];
    let (mut order, mut tried) = (Some(vec![]), 0);
    while let Some(mut now) = order {
        let session = Session::new();
        for (number, act) in before.iter().enumerate() {
            session.act(act, &session.ports(number, None));
        }
        let answers = at_once(&session, before.len(), pair, &mut now);
        let picture = session.picture();
        let what = format!("{pair:?} in the order {now:?}");
        picture.assert_whole(&what);
        assert_eq!(picture.aside, [""; 0], "{what}");
        let found = (answers, unordered(&picture));
        assert!(serial.contains(&found), "{what}: {found:#?}\nis none of {serial:#?}");
        tried += 1;
        order = next(now);
    }
    tried
}

#[test]
fn two_hooks_at_once_end_like_one_after_the_other_in_every_order_of_their_transactions() {
    let opened = [begin(0), sub_start(0)];
    let both = [begin(0), sub_start(0), begin(1), sub_start(1)];
    let done: Vec<Act> = (0..3).flat_map(|phase| [start_phase(0, phase), end_phase(0, phase)]).collect();
    let finished = [&both[..], &done].concat();
    let pairs: [(&[Act], [Act; 2]); 9] = [
        (&[], [begin(0), begin(1)]),
        (&opened, [start_phase(0, 0), begin(1)]),
        (&both, [start_phase(0, 0), start_phase(1, 0)]),
        (&both, [sub_stop(0), sub_stop(1)]),
        (&both, [sub_stop(0), start_phase(1, 0)]),
        (&both, [write(0, "README.md"), sub_stop(0)]),
        (&finished, [sub_stop(0), sub_stop(1)]),
        (&finished, [spawn_done(0), stop()]),
        (&finished, [Act::CommitGate, sub_stop(0)]),
    ];
    let tried: u64 = pairs
        .iter()
        .map(|(before, [one, other])| assert_like_one_after_the_other(before, [one, other]))
        .sum();
    println!("hooks: {} pairs in {tried} orders, no difference", pairs.len());
}
