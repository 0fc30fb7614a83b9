//! What a scripted model says: for every agent the replies in order, whatever it is asked.

use serde_json::Value;

use super::Ask;

/// One reply of the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    /// Words, with which the turn is over.
    Say(String),
    /// A tool that is to be used.
    Call { tool: Tool, input: Value },
    /// The service answers with an error.
    Refuse { status: u16, message: String },
}

/// The name of a tool, and of the group that it belongs to where a client has groups.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tool {
    pub(crate) group: Option<String>,
    pub(crate) name: String,
}

/// One line of a script: a reply, or how to find one when it depends on what is asked or when something has to happen
/// before it.
pub(crate) enum Line {
    Fixed(Reply),
    Found(Box<dyn Fn(&Ask) -> Reply + Send + Sync>),
}

impl Reply {
    pub(crate) fn say(words: &str) -> Reply {
        Reply::Say(words.to_owned())
    }

    /// A tool of a group is named `group.tool`.
    pub(crate) fn call(tool: &str, input: Value) -> Reply {
        let (group, name) = tool.split_once('.').map_or((None, tool), |(group, name)| (Some(group), name));
        Reply::Call { tool: Tool { group: group.map(str::to_owned), name: name.to_owned() }, input }
    }
}

pub(crate) fn say(words: &str) -> Line {
    Line::Fixed(Reply::say(words))
}

pub(crate) fn call(tool: &str, input: Value) -> Line {
    Line::Fixed(Reply::call(tool, input))
}

pub(crate) fn refuse(status: u16, message: &str) -> Line {
    Line::Fixed(Reply::Refuse { status, message: message.to_owned() })
}

pub(crate) fn find(reply: impl Fn(&Ask) -> Reply + Send + Sync + 'static) -> Line {
    Line::Found(Box::new(reply))
}

/// The replies to every agent. The first list is the main agent's; the sub-agents' follow in the order in which
/// they first ask.
#[derive(Default)]
pub(crate) struct Script {
    agents: Vec<Vec<Line>>,
}

impl Script {
    pub(crate) fn main<const N: usize>(lines: [Line; N]) -> Script {
        Script { agents: vec![lines.into()] }
    }

    /// The next sub-agent's lines.
    pub(crate) fn sub<const N: usize>(mut self, lines: [Line; N]) -> Script {
        self.agents.push(lines.into());
        self
    }

    /// What is said to this question. Past the end of its list an agent hears that nothing is left to do; only a list
    /// that ends with an error goes on refusing, since clients try again.
    pub(crate) fn reply(&self, ask: &Ask) -> Reply {
        let lines = self.agents.get(ask.agent).map_or(&[][..], Vec::as_slice);
        match (lines.get(ask.nth - 1), lines.last()) {
            (Some(Line::Fixed(reply)), _) | (None, Some(Line::Fixed(reply @ Reply::Refuse { .. }))) => {
                reply.clone()
            }
            (Some(Line::Found(find)), _) => find(ask),
            (None, _) => Reply::say("Nothing is left to do."),
        }
    }
}
