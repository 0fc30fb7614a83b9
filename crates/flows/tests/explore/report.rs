//! What was found of a dialect, compared with what is known.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::known::KNOWN;
use crate::properties::Class;
use crate::properties::Property;
use crate::search::Bounds;
use crate::search::Search;
use crate::search::World;

/// Whether the long set is wanted: one deviation more, and troubles of disk and git together.
#[expect(clippy::disallowed_methods, reason = "the choice of the set, not an input of a flow")]
fn is_long() -> bool {
    std::env::var("SERIATIM_EXPLORE").is_ok_and(|set| set == "long")
}

/// How many paths the short set takes in one world, those with the fewest deviations first.
const PATHS_MAX: usize = 1200;

/// How far a search with so many deviations goes.
pub(crate) fn bounds(deviations: i32) -> Bounds {
    let (long, most) = (is_long(), if is_long() { usize::MAX } else { PATHS_MAX });
    let more = i32::from(long);
    Bounds {
        deviations: deviations + more,
        faults: 1 + more,
        reduced: !long,
        alone: 400,
        paths: most,
        requests: 1200,
    }
}

/// A dialect that is being explored.
pub(crate) struct Dialect {
    name: &'static str,
    pub(crate) paths: usize,
    pub(crate) states: usize,
    pub(crate) prunes: usize,
    long: usize,
    /// What was found, with the world in which it was and the first way to it.
    classes: BTreeMap<Class, (String, Vec<String>)>,
}

impl Dialect {
    pub(crate) fn new(name: &'static str) -> Dialect {
        Dialect { name, paths: 0, states: 0, prunes: 0, long: 0, classes: BTreeMap::new() }
    }

    /// Goes through all paths in a world.
    pub(crate) fn explore(&mut self, scene: &str, bounds: Bounds, make: &dyn Fn() -> Box<dyn World>) {
        let found = Search::run(self.name, make, bounds);
        println!(
            "  {} with {scene}: {} paths, {} states, {} prunes, {} good ends, {} paths left for the long set",
            self.name, found.paths, found.states, found.prunes, found.good, found.left_over
        );
        assert!(found.good > 0, "{} with {scene} never ends well", self.name);
        self.paths += found.paths;
        self.states += found.states;
        self.prunes += found.prunes;
        self.long += found.long;
        for (class, lines) in found.classes {
            self.add(scene, class, lines);
        }
    }

    pub(crate) fn add(&mut self, scene: &str, class: Class, lines: Vec<String>) {
        self.classes.entry(class).or_insert_with(|| (scene.to_owned(), lines));
    }

    /// Prints the line of the dialect. A class that is not known fails with its trace, and one that is known and was not
    /// found fails as well: the list only shrinks.
    pub(crate) fn close(self) {
        let name = self.name;
        let count =
            |property: Property| self.classes.keys().filter(|class| class.property == property).count();
        let ours = || KNOWN.iter().filter(|hole| hole.signature.starts_with(&format!("{name}/")));
        println!(
            "exploration: {name:<8} {} paths  {} states  {} prunes  {} blocked  {} endless  {} ways around a gate ({} known)",
            grouped(self.paths),
            grouped(self.states),
            grouped(self.prunes),
            count(Property::Exit),
            count(Property::Bound),
            count(Property::Gate),
            ours().count(),
        );
        if self.long > 0 {
            println!("  {} paths were longer than what is looked at", self.long);
        }
        let mut complaints = String::new();
        for (class, (scene, lines)) in &self.classes {
            let signature = class.signature(name);
            if !KNOWN.iter().any(|hole| hole.signature == signature) {
                write!(complaints, "\nnew: {signature}\n  in the world with {scene}\n").unwrap();
                lines.iter().for_each(|line| writeln!(complaints, "    {line}").unwrap());
            }
        }
        for hole in ours() {
            if !self.classes.keys().any(|class| class.signature(name) == hole.signature) {
                write!(complaints, "\nclosed: {}\n  remove it from the list\n", hole.signature).unwrap();
            }
        }
        assert!(complaints.is_empty(), "{complaints}");
    }
}

/// A number with its digits in threes.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|part| str::from_utf8(part).unwrap()).collect();
    parts.join(" ")
}
