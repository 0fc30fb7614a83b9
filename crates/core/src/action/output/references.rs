//! Whether what an artifact refers to is there: files, headings and stories.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Artifact;
use super::Problem;
use super::format;
use super::problem;
use crate::action::markdown;
use crate::guard::path;
use crate::prompt::outline::lines;

static STORY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bF[0-9]{4}-S[0-9]{4}\b").ok());

pub(super) fn check(artifacts: &[Artifact<'_>], existing: &BTreeSet<String>) -> Vec<Problem> {
    let stories = known_stories(artifacts, existing);
    let mut problems = vec![];
    for artifact in artifacts.iter().filter(|artifact| format::is_markdown(artifact.path)) {
        let Some(text) = artifact.text else { continue };
        problems.extend(links(artifact.path, text, artifacts, existing));
        problems.extend(missing_stories(artifact.path, text, &stories));
    }
    problems
}

/// Links to files and headings. Addresses of the web are nobody's business here.
fn links(path: &str, text: &str, artifacts: &[Artifact<'_>], existing: &BTreeSet<String>) -> Vec<Problem> {
    let mut problems = vec![];
    for link in markdown::links(text) {
        let target = link.target.replace("%20", " ");
        if target.is_empty() || target.starts_with('/') || target.contains([':', '{', '<', '$']) {
            continue;
        }
        let line = Some(u64::from(link.line));
        let broken = |what: String| problem(path, line, format!("Broken reference: Link to {what}"));
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let resolved = if file.is_empty() { Some(path.to_owned()) } else { path::link_target(path, file) };
        let Some(resolved) = resolved else {
            problems.push(broken(format!("{target}, which is outside of the workspace")));
            continue;
        };
        let folder = format!("{}/", resolved.trim_end_matches('/'));
        let there = resolved == path
            || existing.contains(&resolved)
            || resolved.is_empty()
            || existing.range(folder.clone()..).next().is_some_and(|path| path.starts_with(&folder));
        if !there {
            problems.push(broken(format!("non-existent file {resolved}")));
            continue;
        }
        let of_target =
            artifacts.iter().find(|artifact| artifact.path == resolved).and_then(|artifact| artifact.text);
        if let Some(of_target) = of_target.filter(|_| !anchor.is_empty() && format::is_markdown(&resolved))
            && !has_anchor(of_target, anchor)
        {
            problems.push(broken(format!("non-existent heading #{anchor} of {resolved}")));
        }
    }
    problems
}

fn has_anchor(text: &str, anchor: &str) -> bool {
    let wanted = anchor.to_lowercase();
    // A heading that occurs again gets a number; an anchor can also be written by hand.
    let plain = wanted.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
    let of_heading = |title: &str| {
        let own = markdown::anchor(title);
        own == wanted || own == plain
    };
    markdown::headings(text).iter().any(|heading| of_heading(heading.title))
        || [format!("id=\"{anchor}\""), format!("name=\"{anchor}\"")]
            .iter()
            .any(|mark| text.contains(mark.as_str()))
}

/// Stories that a file is named after, or a heading.
fn known_stories(artifacts: &[Artifact<'_>], existing: &BTreeSet<String>) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    let mut learn = |text: &str| {
        known.extend(
            STORY.iter().flat_map(|story| story.find_iter(text)).map(|found| found.as_str().to_owned()),
        );
    };
    existing.iter().for_each(|path| learn(path));
    for text in artifacts.iter().filter_map(|artifact| artifact.text) {
        markdown::headings(text).iter().for_each(|heading| learn(heading.title));
    }
    known
}

fn missing_stories(path: &str, text: &str, known: &BTreeSet<String>) -> Vec<Problem> {
    let mut problems = vec![];
    // Where no story has a place of its own, stories are kept elsewhere and cannot be looked up.
    if known.is_empty() {
        return problems;
    }
    for line in lines(text) {
        for story in STORY.iter().flat_map(|story| story.find_iter(line.text)) {
            if !known.contains(story.as_str()) {
                let message = format!("Broken reference: Link to non-existent story {}", story.as_str());
                problems.push(problem(path, Some(u64::from(line.number)), message));
            }
        }
    }
    problems
}
