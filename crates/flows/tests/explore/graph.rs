//! The states that paths went through, and which of them a person can leave.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use seriatim_flows::Request;

use crate::hands::How;

/// Stands for the end of a run.
const END: u64 = 0;

/// A question, and the first way to it.
struct Asked {
    matter: String,
    options: usize,
    lines: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Graph {
    /// Where outcomes lead; a state that stands for several may lead to several.
    edges: BTreeMap<u64, BTreeMap<How, BTreeSet<u64>>>,
    questions: BTreeMap<u64, Asked>,
}

impl Graph {
    /// A path comes to a state.
    pub(crate) fn arrive(
        &mut self,
        from: Option<(u64, How)>,
        state: u64,
        request: &Request,
        lines: &[String],
    ) {
        if let Some((before, how)) = from {
            self.edges.entry(before).or_default().entry(how).or_default().insert(state);
        }
        let (matter, options) = match request {
            Request::Ask(question) => (question.header.clone(), question.options.len()),
            Request::Wait { signal } if signal != "resume" => (format!("signal {signal}"), 0),
            _ => return,
        };
        let asked = || Asked { matter, options, lines: lines.to_vec() };
        self.questions.entry(state).or_insert_with(asked);
    }

    /// A path comes to its end.
    pub(crate) fn end(&mut self, from: (u64, How)) {
        self.edges.entry(from.0).or_default().entry(from.1).or_default().insert(END);
    }

    /// Questions from which no answer leads to an end, where every option was tried.
    pub(crate) fn blocked(&self) -> Vec<(String, Vec<String>)> {
        let leading = self.leading_on();
        let tried = |state: &u64, asked: &Asked| {
            let options = self
                .edges
                .get(state)
                .map_or(0, |edges| edges.keys().filter(|how| matches!(how, How::Option(_))).count());
            options == asked.options
        };
        let blocked =
            self.questions.iter().filter(|(state, asked)| tried(state, asked) && !leading.contains(state));
        blocked
            .map(|(_, asked)| {
                let mut lines = asked.lines.clone();
                lines.push(format!("'{}' is asked, and no answer leads on", asked.matter));
                (
                    format!(
                        "no answer to '{}' leads to an end",
                        crate::hands::without_numbers(&asked.matter)
                    ),
                    lines,
                )
            })
            .collect()
    }

    /// States from which some answer leads to the end, all hands doing well.
    fn leading_on(&self) -> BTreeSet<u64> {
        let mut leading = BTreeSet::from([END]);
        loop {
            let more: Vec<u64> = self
                .edges
                .iter()
                .filter(|(state, _)| !leading.contains(state))
                .filter(|(_, edges)| edges.iter().any(|(how, to)| is_well(*how) && !leading.is_disjoint(to)))
                .map(|(state, _)| *state)
                .collect();
            if more.is_empty() {
                return leading;
            }
            leading.extend(more);
        }
    }
}

fn is_well(how: How) -> bool {
    use crate::hands::Deed;
    matches!(how, How::Option(_) | How::Fine | How::Agent(Deed::Honest))
}
