//! Every state of one step that can be reached, breadth first: no state without an exit for a person, no loop without a
//! person or a bound, and no way to a committed step around a gate.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::VecDeque;

use seriatim_core::roadmap::state::StepStatus;
use seriatim_core::roadmap::verdict::Shown;

use super::world::Event;
use super::world::World;

/// Holes that are known, each with why it is there. The list only shrinks: one that is gone has to be taken out.
const KNOWN: [(&str, &str); 7] = [
    (
        "a commit passes while the agent is at work",
        "gates are run when an agent stops; a commit before that is held by the record alone",
    ),
    (
        "a commit passes although the gate was not run",
        "a gate that the time of a hook does not suffice for is a warning and no objection",
    ),
    (
        "a commit passes after a person asked for another try",
        "the answer `retry` settles what the gate showed, before it is run again",
    ),
    (
        "a commit passes before the step says DONE",
        "gates are run for a step that says DONE, and a commit may come before its last phase is over",
    ),
    ("loop: the agent crashes, and is called again", "calls for a step are counted and not limited"),
    (
        "loop: the agent is sent back, and reports",
        "each report starts the count of an agent that is sent back anew, and a phase may be tried without end",
    ),
    (
        "a step that a person left cannot be taken up again",
        "no command takes back that a step is not to be tried again; `can_retry` has to be edited in its state file",
    ),
];

struct Graph {
    worlds: Vec<World>,
    /// How each world was first reached.
    from: Vec<Option<(usize, Event)>>,
    edges: Vec<Vec<(Event, usize)>>,
}

impl Graph {
    fn explore() -> Graph {
        let mut graph = Graph { worlds: vec![World::new()], from: vec![None], edges: vec![] };
        let mut known = BTreeMap::from([(graph.worlds[0].key(), 0)]);
        let mut queue = VecDeque::from([0]);
        while let Some(at) = queue.pop_front() {
            assert!(graph.worlds.len() < 100_000, "too much to explore");
            let mut edges = vec![];
            for (event, world) in graph.worlds[at].next() {
                let to = *known.entry(world.key()).or_insert_with(|| {
                    graph.worlds.push(world);
                    graph.from.push(Some((at, event)));
                    queue.push_back(graph.worlds.len() - 1);
                    graph.worlds.len() - 1
                });
                edges.push((event, to));
            }
            graph.edges.push(edges);
        }
        graph
    }

    /// How a world was reached, one line for each event.
    fn trace(&self, mut at: usize) -> String {
        let mut lines = vec![];
        while let Some((before, event)) = self.from[at] {
            lines.push(format!("  {event}\n      -> {}", self.worlds[at].words()));
            at = before;
        }
        lines.reverse();
        lines.join("\n")
    }

    /// The worlds from which an end can be reached by edges of a kind.
    fn ending(&self, may: impl Fn(Event) -> bool) -> Vec<bool> {
        let mut before: Vec<Vec<usize>> = vec![vec![]; self.worlds.len()];
        for (at, edges) in self.edges.iter().enumerate() {
            edges.iter().filter(|(event, _)| may(*event)).for_each(|(_, to)| before[*to].push(at));
        }
        let mut ends: Vec<bool> = self.worlds.iter().map(|world| world.closed).collect();
        let mut queue: VecDeque<usize> = (0..ends.len()).filter(|at| ends[*at]).collect();
        while let Some(at) = queue.pop_front() {
            for earlier in &before[at] {
                if !std::mem::replace(&mut ends[*earlier], true) {
                    queue.push_back(*earlier);
                }
            }
        }
        ends
    }

    /// The number of the strongly connected part in which each world lies, over edges of a kind.
    fn parts(&self, may: impl Fn(Event) -> bool) -> Vec<usize> {
        let count = self.worlds.len();
        let (mut order, mut seen) = (vec![], vec![false; count]);
        let mut back: Vec<Vec<usize>> = vec![vec![]; count];
        for root in 0..count {
            let mut stack = vec![(root, 0)];
            while let Some((at, next)) = stack.pop() {
                if next == 0 && std::mem::replace(&mut seen[at], true) {
                    continue;
                }
                match self.edges[at].get(next) {
                    Some((event, to)) => {
                        stack.push((at, next + 1));
                        if may(*event) {
                            back[*to].push(at);
                            stack.push((*to, 0));
                        }
                    }
                    None => order.push(at),
                }
            }
        }
        let mut parts = vec![usize::MAX; count];
        for root in order.into_iter().rev() {
            let mut stack = vec![root];
            while let Some(at) = stack.pop() {
                if parts[at] == usize::MAX {
                    parts[at] = root;
                    stack.extend(&back[at]);
                }
            }
        }
        parts
    }

    /// A shortest way from one world back to itself, over edges of a kind, that begins with a given edge.
    fn cycle(&self, start: (usize, Event, usize), may: impl Fn(Event) -> bool) -> Option<Vec<Event>> {
        let (home, first, second) = start;
        let mut came: BTreeMap<usize, (usize, Event)> = BTreeMap::new();
        let mut queue = VecDeque::from([second]);
        let mut seen = BTreeSet::from([second]);
        while let Some(at) = queue.pop_front() {
            if at == home {
                let (mut events, mut at) = (vec![], home);
                while at != second {
                    let (before, event) = came[&at];
                    events.push(event);
                    at = before;
                }
                events.push(first);
                events.reverse();
                return Some(events);
            }
            for (event, to) in self.edges[at].iter().filter(|(event, _)| may(*event)) {
                if seen.insert(*to) {
                    came.insert(*to, (at, *event));
                    queue.push_back(*to);
                }
            }
        }
        None
    }
}

/// The holes that are there, each with one trace.
type Holes = BTreeMap<&'static str, String>;

/// How a commit got past the gate, where it did.
fn around_the_gate(before: &World) -> Option<&'static str> {
    let green = before.gate == Some(Shown::Green) && !before.retried;
    match () {
        () if green || before.accepted => None,
        () if before.working => Some("a commit passes while the agent is at work"),
        () if before.gate.is_none() => Some("a commit passes before the step says DONE"),
        () if before.gate == Some(Shown::NotRun) => Some("a commit passes although the gate was not run"),
        () if before.retried => Some("a commit passes after a person asked for another try"),
        () => Some("a commit passes although the gate is red or broken"),
    }
}

fn commits(graph: &Graph, holes: &mut Holes) {
    for (at, edges) in graph.edges.iter().enumerate() {
        for (_, to) in edges.iter().filter(|(event, _)| *event == Event::Commit) {
            if let Some(hole) = around_the_gate(&graph.worlds[at]) {
                holes.entry(hole).or_insert_with(|| {
                    format!(
                        "{}\n  {}\n      -> {}",
                        graph.trace(at),
                        Event::Commit,
                        graph.worlds[*to].words()
                    )
                });
            }
        }
    }
}

/// From every state an end can be reached, and where it takes a person, a command of one leads on.
fn exits(graph: &Graph, holes: &mut Holes) -> BTreeSet<&'static str> {
    let all = graph.ending(|_| true);
    let alone = graph.ending(|event| event.command().is_none());
    let mut commands = BTreeSet::new();
    for (at, world) in graph.worlds.iter().enumerate() {
        if !all[at] {
            holes.entry("a state has no exit").or_insert_with(|| graph.trace(at));
        }
        if !alone[at] {
            let exit = graph.edges[at].iter().find_map(|(event, to)| event.command().filter(|_| all[*to]));
            match exit {
                Some(command) => {
                    commands.insert(command);
                }
                // Something else still leads to where a person is asked.
                None if graph.edges[at].iter().any(|(_, to)| *to != at && all[*to]) => {}
                None => {
                    holes.entry("a blocked state has no command").or_insert_with(|| graph.trace(at));
                }
            }
        }
        let left = world.closed && !world.committed && world.state.status != StepStatus::Done;
        let taken_up = World { closed: false, ..world.clone() }.after(Event::Call).is_some();
        if left && !taken_up {
            holes
                .entry("a step that a person left cannot be taken up again")
                .or_insert_with(|| graph.trace(at));
        }
    }
    commands
}

/// Loops in which the engine answers again and again and no person is asked.
fn loops(graph: &Graph, holes: &mut Holes) {
    let without_person = |event: Event| event.command().is_none();
    // An agent that is sent back and does nothing but want to stop again has to come to a person.
    let only_stops = |event: Event| matches!(event, Event::Stop(_) | Event::Outside(_));
    look_for_loops(graph, holes, without_person, |event, to| match event {
        Event::Crash(_) => Some("loop: the agent crashes, and is called again"),
        Event::Stop(_) if to.working => Some("loop: the agent is sent back, and reports"),
        _ => None,
    });
    look_for_loops(graph, holes, only_stops, |_, to| {
        to.working.then_some("loop: the agent is sent back without a bound")
    });
}

fn look_for_loops(
    graph: &Graph,
    holes: &mut Holes,
    may: impl Fn(Event) -> bool,
    hole: impl Fn(Event, &World) -> Option<&'static str>,
) {
    let parts = graph.parts(&may);
    for (at, edges) in graph.edges.iter().enumerate() {
        for (event, to) in edges.iter().filter(|(event, to)| may(*event) && parts[at] == parts[*to]) {
            let Some(hole) = hole(*event, &graph.worlds[*to]).filter(|hole| !holes.contains_key(hole)) else {
                continue;
            };
            if !only_toggles(*event)
                && let Some(cycle) = graph.cycle((at, *event, *to), &may)
            {
                let told: Vec<String> = cycle.iter().map(|event| format!("  {event}")).collect();
                let told = format!("{}\n  and then, again and again:\n{}", graph.trace(at), told.join("\n"));
                holes.insert(hole, told);
            }
        }
    }
}

/// A file that is changed and put back is no answer of the engine.
fn only_toggles(event: Event) -> bool {
    matches!(event, Event::Outside(_))
}

#[test]
fn a_step_has_no_dead_end_no_endless_loop_and_no_way_around_a_gate_but_the_known_ones() {
    let graph = Graph::explore();
    let mut holes = Holes::new();
    commits(&graph, &mut holes);
    let commands = exits(&graph, &mut holes);
    loops(&graph, &mut holes);
    println!("{} states, exits for people: {commands:?}", graph.worlds.len());
    for (hole, trace) in &holes {
        println!("\n{hole}:\n{trace}");
    }
    let found: BTreeSet<&str> = holes.keys().copied().collect();
    let known: BTreeSet<&str> = KNOWN.iter().map(|(hole, _)| *hole).collect();
    let new: Vec<_> = found.difference(&known).map(|hole| format!("{hole}:\n{}", holes[hole])).collect();
    assert!(new.is_empty(), "holes that are not known:\n{}", new.join("\n\n"));
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "take these out of the list of known holes, they are closed: {gone:?}");
    assert_eq!(commands, BTreeSet::from(["seriatim answer"]));
}
