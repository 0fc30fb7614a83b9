//! Payloads that cannot be read or believed, and whether a door has to stay shut for it.

/// A payload that is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Broken {
    pub why: Why,
    /// Where it was said, as far as the bytes tell.
    pub door: Door,
}

impl Broken {
    /// Whether the client has to be held. A payload that does not even say where it comes from might come from a
    /// door.
    pub fn blocks(&self) -> bool {
        self.door != Door::Elsewhere
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("the client sent nothing")]
    Empty,
    #[error("the client sent {bytes} bytes or more, and at most {bytes_max} are read")]
    TooLarge { bytes: usize, bytes_max: usize },
    #[error("what the client sent is no JSON object")]
    NotAnObject,
    #[error("what the client sent ends too early")]
    Truncated,
    #[error("what the client sent is no JSON from line {line}, column {column} on")]
    Syntax { line: usize, column: usize },
    #[error("a field stands there twice or has a type that it cannot have")]
    Shape,
    #[error("the client does not say which event this is (`hook_event_name`)")]
    Nameless,
    #[error("the client does not say which tool it is about to use (`tool_name`)")]
    ToolNameless,
    #[error("the client does not say what it gives to the tool `{tool}` in a form that can be read")]
    Input { tool: String },
}

/// Why an event is not believed (DS-122).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    #[error("the event is `{said}`, not `{expected}`")]
    Name { said: String, expected: String },
    #[error("the event does not say in which folder it happened (`cwd`)")]
    NoFolder,
    #[error("the event happened in `{cwd}`, which is not in `{root}`")]
    Elsewhere { cwd: String, root: String },
}

/// What the client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// Leave to use a tool.
    Tool,
    /// Leave to stop.
    Stop,
    /// Nothing that can be refused.
    Elsewhere,
    /// It cannot be told.
    Unknown,
}

/// The events at which a client waits for leave to use a tool, and to stop.
const TOOL_DOORS: [&str; 2] = ["PreToolUse", "BeforeTool"];
const STOP_DOORS: [&str; 3] = ["SubagentStop", "Stop", "AfterAgent"];

impl Door {
    pub fn of(event_name: &str) -> Door {
        if TOOL_DOORS.contains(&event_name) {
            Door::Tool
        } else if STOP_DOORS.contains(&event_name) {
            Door::Stop
        } else {
            Door::Elsewhere
        }
    }

    /// Looks for the event's name in bytes that are perhaps no JSON. Within a string the quotes would be escaped,
    /// so nothing that an agent wrote is taken for the key; where the key stands several times, a door counts more
    /// than any other place.
    pub(super) fn scan(bytes: &[u8]) -> Door {
        let mut door = Door::Unknown;
        let mut rest = bytes;
        while let Some(behind) = find(rest, b"\"hook_event_name\"") {
            rest = behind;
            let Some(name) = value(behind) else { continue };
            match Door::of(name) {
                Door::Elsewhere if door == Door::Unknown => door = Door::Elsewhere,
                Door::Elsewhere | Door::Unknown => {}
                found => return found,
            }
        }
        door
    }
}

/// What stands behind the first `wanted`.
fn find<'a>(bytes: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    let at = bytes.windows(wanted.len()).position(|window| window == wanted)?;
    bytes.get(at + wanted.len()..)
}

/// The string behind a colon, where it is a plain one.
fn value(bytes: &[u8]) -> Option<&str> {
    let value = bytes.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = value.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(value.get(..end)?).ok()
}
