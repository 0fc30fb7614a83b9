//! What comes before what: dependencies, their order, and the circles in which nothing could ever begin.

use std::collections::BTreeSet;

use super::Group;
use super::Roadmap;
use super::Step;
use super::rules;
use crate::closest::closest;
use crate::doc::At;
use crate::finding::Finding;
use crate::finding::Place;

/// Steps that wait for one another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these steps wait for one another: {}", .path.join(" → "))]
pub struct Cycle {
    /// From a step along its dependencies back to itself.
    pub path: Vec<String>,
}

impl Roadmap {
    /// The steps that come before a step: those it names, and those that its group says.
    pub fn needs(&self, id: &str) -> Vec<&str> {
        let Some(at) = self.steps.iter().position(|step| step.id == id) else { return vec![] };
        self.needs_of(at).filter_map(|index| self.steps.get(index)).map(|step| step.id.as_str()).collect()
    }

    /// Of these, the ones that are not done yet (DW-54).
    pub fn open_needs(&self, id: &str, done: &BTreeSet<String>) -> Vec<&str> {
        self.needs(id).into_iter().filter(|need| !done.contains(*need)).collect()
    }

    /// All steps, each after everything that it needs; where that leaves a choice, as the file has them (DW-96).
    pub fn order(&self) -> Result<Vec<&Step>, Cycle> {
        let (order, left) = self.unfold();
        match self.circle(&left) {
            Some(cycle) => Err(cycle),
            None => Ok(order.into_iter().filter_map(|index| self.steps.get(index)).collect()),
        }
    }

    /// The steps that can begin now: not done, and everything that they need is.
    pub fn ready(&self, done: &BTreeSet<String>) -> Vec<&Step> {
        let met = |at: usize| {
            let mut needs = self.needs_of(at).filter_map(|index| self.steps.get(index));
            needs.all(|step| done.contains(&step.id))
        };
        let open = self.steps.iter().enumerate().filter(|(_, step)| !done.contains(&step.id));
        open.filter(|(at, _)| met(*at)).map(|(_, step)| step).collect()
    }

    /// The steps in layers: those of one layer need nothing of one another and name no file in common, so that they
    /// may be carried out side by side (DW-96, K-39).
    pub fn layers(&self) -> Result<Vec<Vec<&Step>>, Cycle> {
        let (order, left) = self.unfold();
        if let Some(cycle) = self.circle(&left) {
            return Err(cycle);
        }
        let mut layer_of: Vec<usize> = vec![0; self.steps.len()];
        let mut layers: Vec<Vec<usize>> = vec![];
        for at in order {
            let after =
                self.needs_of(at).filter_map(|need| layer_of.get(need)).max().map_or(0, |last| last + 1);
            let free = |layer: &Vec<usize>| layer.iter().all(|other| self.is_apart(at, *other));
            let found = (after..layers.len()).find(|index| layers.get(*index).is_some_and(free));
            let index = found.unwrap_or_else(|| after.max(layers.len()));
            if layers.len() <= index {
                layers.resize(index + 1, vec![]);
            }
            if let (Some(layer), Some(of)) = (layers.get_mut(index), layer_of.get_mut(at)) {
                layer.push(at);
                *of = index;
            }
        }
        let steps = |mut layer: Vec<usize>| {
            layer.sort_unstable();
            layer.into_iter().filter_map(|index| self.steps.get(index)).collect()
        };
        Ok(layers.into_iter().map(steps).collect())
    }

    /// The files that two steps both name; steps that say nothing about their files share none.
    pub fn shared_files(a: &Step, b: &Step) -> Vec<String> {
        let theirs = b.allowed_files().unwrap_or_default();
        let mine = a.allowed_files().unwrap_or_default();
        mine.into_iter().filter(|file| theirs.iter().any(|other| overlap(file, other))).collect()
    }

    fn is_apart(&self, a: usize, b: usize) -> bool {
        match (self.steps.get(a), self.steps.get(b)) {
            (Some(a), Some(b)) => Roadmap::shared_files(a, b).is_empty(),
            _ => true,
        }
    }

    fn needs_of(&self, at: usize) -> impl Iterator<Item = usize> {
        self.needs.get(at).into_iter().flatten().copied()
    }

    /// The order as far as it goes, and the steps that are left because they wait for one another.
    fn unfold(&self) -> (Vec<usize>, BTreeSet<usize>) {
        let mut left: BTreeSet<usize> = (0..self.steps.len()).collect();
        let mut order = vec![];
        let mut waiting: Vec<usize> = (0..self.steps.len()).map(|at| self.needs_of(at).count()).collect();
        let mut followers: Vec<Vec<usize>> = vec![vec![]; self.steps.len()];
        for at in 0..self.steps.len() {
            for need in self.needs_of(at) {
                if let Some(list) = followers.get_mut(need) {
                    list.push(at);
                }
            }
        }
        let free = |waiting: &[usize], at: usize| waiting.get(at) == Some(&0);
        let mut ready: BTreeSet<usize> = left.iter().copied().filter(|at| free(&waiting, *at)).collect();
        while let Some(at) = ready.pop_first() {
            left.remove(&at);
            order.push(at);
            for follower in followers.get(at).into_iter().flatten().copied() {
                if let Some(count) = waiting.get_mut(follower) {
                    *count = count.saturating_sub(1);
                }
                if free(&waiting, follower) {
                    ready.insert(follower);
                }
            }
        }
        (order, left)
    }

    /// A circle among steps that are left over: each of them needs another one of them, so walking on always comes
    /// back.
    fn circle(&self, left: &BTreeSet<usize>) -> Option<Cycle> {
        let mut walk: Vec<usize> = vec![*left.first()?];
        loop {
            let next = self.needs_of(*walk.last()?).find(|need| left.contains(need))?;
            if let Some(from) = walk.iter().position(|at| *at == next) {
                let circle: Vec<usize> = walk.split_off(from);
                // The path begins with the step that stands first in the file.
                let first =
                    circle.iter().enumerate().min_by_key(|(_, at)| **at).map_or(0, |(index, _)| index);
                let turned = circle.iter().cycle().skip(first).take(circle.len() + 1);
                let path = turned.filter_map(|at| self.steps.get(*at)).map(|step| step.id.clone());
                return Some(Cycle { path: path.collect() });
            }
            walk.push(next);
        }
    }
}

/// Whether two names of files can mean the same file: equal, or one is a folder or pattern around the other.
fn overlap(a: &str, b: &str) -> bool {
    let root = |name: &str| {
        let end = name.find(['*', '?', '[', '{']).unwrap_or(name.len());
        let (plain, open) = (name.get(..end).unwrap_or_default(), end < name.len());
        (plain.to_owned(), open || name.ends_with('/'))
    };
    let ((a, a_open), (b, b_open)) = (root(a), root(b));
    a == b || (a_open && b.starts_with(&a)) || (b_open && a.starts_with(&b))
}

/// For each step the positions of the steps that come before it, and what is wrong with the names.
pub(super) fn resolve(roadmap: &Roadmap) -> (Vec<Vec<usize>>, Vec<Finding>) {
    let mut findings = vec![];
    let mut all = vec![];
    let of_groups: Vec<BTreeSet<usize>> =
        roadmap.groups.iter().map(|group| of_group(roadmap, group, &mut findings)).collect();
    let mut before: Option<(usize, Option<usize>)> = None;
    for (at, step) in roadmap.steps.iter().enumerate() {
        let mut needs: BTreeSet<usize> =
            step.group.and_then(|group| of_groups.get(group)).cloned().unwrap_or_default();
        for need in &step.dependencies {
            if need.value == step.id {
                let message = format!("step `{}` depends on itself", step.id);
                findings.push(Finding::error("SELF_DEPENDENCY", need.place, message).help("remove it"));
            } else if let Some(found) = named(roadmap, need) {
                needs.extend(found);
            } else {
                findings.push(unknown(roadmap, &format!("step `{}`", step.id), need));
            }
        }
        let sequential = roadmap.group(step).is_some_and(|group| group.sequential);
        if let Some((last, group)) = before
            && sequential
            && !step.says_needs
            && group == step.group
        {
            needs.insert(last);
        }
        needs.remove(&at);
        before = Some((at, step.group));
        all.push(needs.into_iter().collect());
    }
    (all, findings)
}

/// What all steps of a group need.
fn of_group(roadmap: &Roadmap, group: &Group, findings: &mut Vec<Finding>) -> BTreeSet<usize> {
    let mut needs = BTreeSet::new();
    for need in &group.depends_on {
        match named(roadmap, need) {
            Some(_) if need.value == group.id => {
                let message = format!("phase `{}` depends on itself", group.id);
                findings.push(Finding::error("SELF_DEPENDENCY", need.place, message).help("remove it"));
            }
            Some(found) => needs.extend(found),
            None => {
                let finding = unknown(roadmap, &format!("phase `{}`", group.id), need);
                findings.push(rules::of_form(finding, roadmap.form));
            }
        }
    }
    needs
}

/// The steps that an id means: the step of that id, or all of the group of that id.
fn named(roadmap: &Roadmap, need: &At<String>) -> Option<Vec<usize>> {
    if let Some(at) = roadmap.steps.iter().position(|step| step.id == need.value) {
        return Some(vec![at]);
    }
    let group = roadmap.groups.iter().position(|group| group.id == need.value && !group.id.is_empty())?;
    let of_group = roadmap.steps.iter().enumerate().filter(|(_, step)| step.group == Some(group));
    Some(of_group.map(|(at, _)| at).collect())
}

fn unknown(roadmap: &Roadmap, who: &str, need: &At<String>) -> Finding {
    let known = roadmap.ids();
    let help = match closest(need, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the steps are {}", known.join(", ")),
    };
    let message = format!("{who} depends on `{need}`, which is no step of this roadmap");
    Finding::error("INVALID_DEP_REFERENCE", need.place, message).help(help)
}

/// Every circle, each once; the rest of the roadmap is looked at as if its steps did not wait for one another.
pub(super) fn cycles(roadmap: &Roadmap) -> Vec<Finding> {
    let mut open = roadmap.clone();
    let mut findings = vec![];
    loop {
        let (_, left) = open.unfold();
        let Some(cycle) = open.circle(&left) else { return findings };
        let first = cycle.path.first().and_then(|id| roadmap.step(id));
        let place = first.map_or(Place::TOP, |step| step.place);
        findings.push(
            Finding::error("DEPENDENCY_CYCLE", place, cycle.to_string())
                .help("take one of these dependencies out"),
        );
        for (step, needs) in roadmap.steps.iter().zip(&mut open.needs) {
            if cycle.path.contains(&step.id) {
                needs.clear();
            }
        }
    }
}
