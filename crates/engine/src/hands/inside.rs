//! The socket between the processes of an attempt and the engine: one request, one reply, then the connection is over.
//!
//! A process in a world finds neither the store nor the repository of this machine, so its `seriatim` sends what was
//! typed to the engine, which decides. Everything that arrives is a stranger's: lengths are checked before memory is
//! used for them.

mod listen;

use std::fmt;
use std::io;
use std::io::Read;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde::Serialize;

use crate::hands::named;
use crate::hands::process::Stop;
pub use listen::Listening;

/// The variable that names the socket to processes of an attempt.
pub const SOCKET: &str = "SERIATIM_SOCKET";
/// The form of the messages. Another number is another language.
const PROTOCOL: u32 = 1;
/// The words of a request are not longer than this.
const WORDS_BYTES_MAX: usize = 256 << 10;
/// The input that comes with a request is not longer than this.
pub const INPUT_BYTES_MAX: usize = 16 << 20;
/// A reply is not longer than this.
const REPLY_BYTES_MAX: usize = 16 << 20;

/// What a process of an attempt wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsideRequest {
    protocol: u32,
    /// The version of the program that asks.
    pub version: String,
    /// What was typed, without the name of the program.
    pub argv: Vec<String>,
    /// Where it was typed.
    #[serde(with = "named::path")]
    pub cwd: PathBuf,
    /// How many bytes of input follow.
    input_bytes: usize,
}

impl InsideRequest {
    /// Makes a request of a program of this version.
    pub fn new(version: &str, argv: Vec<String>, cwd: PathBuf) -> InsideRequest {
        InsideRequest { protocol: PROTOCOL, version: version.to_owned(), argv, cwd, input_bytes: 0 }
    }

    /// Reads the words of a request; nothing where they are none, or promise more input than is taken.
    fn read(text: &[u8]) -> Option<InsideRequest> {
        let request: InsideRequest = serde_json::from_slice(text).ok()?;
        (request.protocol == PROTOCOL && request.input_bytes <= INPUT_BYTES_MAX).then_some(request)
    }
}

/// What came of a request: how a program that does what was typed would have ended, and what it would have printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsideReply {
    pub exit: u8,
    pub stdout: String,
    pub stderr: String,
}

/// Answers the requests of an attempt. The switch is thrown when the attempt is over.
pub type AnswerInside = Arc<dyn Fn(&InsideRequest, Vec<u8>, &Stop) -> InsideReply + Send + Sync>;

/// Why no reply came.
#[derive(Debug)]
pub enum AskError {
    /// The words or the input are longer than what is taken.
    TooLong,
    /// The engine closed the connection, or it broke.
    Closed(io::Error),
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::TooLong => f.write_str("the request is too long"),
            AskError::Closed(error) => write!(f, "the engine did not reply: {error}"),
        }
    }
}

impl std::error::Error for AskError {}

/// A connection to the engine of this attempt.
#[derive(Debug)]
pub struct Line(UnixStream);

impl Line {
    pub fn open(socket: &Path) -> io::Result<Line> {
        UnixStream::connect(socket).map(Line)
    }

    /// Sends the request and waits for the reply.
    pub fn ask(mut self, request: InsideRequest, input: &[u8]) -> Result<InsideReply, AskError> {
        let request = InsideRequest { input_bytes: input.len(), ..request };
        let text = serde_json::to_vec(&request).map_err(|error| AskError::Closed(error.into()))?;
        if text.len() > WORDS_BYTES_MAX || input.len() > INPUT_BYTES_MAX {
            return Err(AskError::TooLong);
        }
        let sent = self.0.write_all(&framed(&text)).and_then(|()| self.0.write_all(input));
        // An engine that refuses early closes its side; the reason can still be read.
        let reply = self.receive();
        match (reply, sent) {
            (Ok(reply), _) => Ok(reply),
            (Err(_), Err(error)) | (Err(error), Ok(())) => Err(AskError::Closed(error)),
        }
    }

    fn receive(&mut self) -> io::Result<InsideReply> {
        let mut length = [0u8; 4];
        self.0.read_exact(&mut length)?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length > REPLY_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut text = vec![0u8; length];
        self.0.read_exact(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }
}

/// A message with its length in front.
fn framed(text: &[u8]) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    [length.to_be_bytes().as_slice(), text].concat()
}
