//! What the engine and a supervisor say to each other: one order down and one report up, each as JSON with its
//! length in front.

use std::io;
use std::io::Read;
use std::io::Write;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::hands::named;
use crate::hands::process::How;
use crate::hands::process::Leftover;
use crate::hands::process::SpawnError;
use crate::hands::walls::Walls;
use crate::hands::world::WorldPlan;

/// A message that is longer than this is not one of ours.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// The byte by which the engine asks a supervisor to end its process now.
pub(super) const STOP: u8 = b's';

/// What a supervisor has to do. The bytes of the input follow the message.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Order {
    pub argv: Vec<String>,
    #[serde(with = "named::path")]
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    pub stdin: Source,
    pub deadline_ms: Option<u64>,
    pub grace_ms: u64,
    pub world: Option<WorldPlan>,
    pub walls: Option<Walls>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Source {
    Nothing,
    Following {
        bytes: u64,
    },
    File(#[serde(with = "named::path")] PathBuf),
    /// The terminal that the supervisor has as its output.
    Terminal,
}

/// What a supervisor has to say when it is done.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Report {
    NotStarted(SpawnError),
    Ended { how: How, killed: Vec<Leftover>, survived: Vec<Leftover> },
}

/// What the first process of a world says when the agent has started, or could not: its id in the world.
pub(super) type Begun = Result<u32, SpawnError>;

pub(super) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(&text)
}

pub(super) fn receive<M: DeserializeOwned>(from: &mut impl Read) -> io::Result<M> {
    let mut length = [0u8; 4];
    from.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > MESSAGE_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0u8; length];
    from.read_exact(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip_and_torn_ones_are_refused() {
        let report = Report::Ended {
            how: How::Signaled(9),
            killed: vec![Leftover { pid: 7, command: "sleep 1".to_owned() }],
            survived: Vec::new(),
        };
        let mut bytes = Vec::new();
        send(&mut bytes, &report).unwrap();
        assert_eq!(receive::<Report>(&mut bytes.as_slice()).unwrap(), report);
        for end in 0..bytes.len() {
            assert!(receive::<Report>(&mut &bytes[..end]).is_err());
        }
        assert!(receive::<Report>(&mut [255u8; 64].as_slice()).is_err());
    }
}
