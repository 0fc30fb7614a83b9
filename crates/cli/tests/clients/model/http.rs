//! As much of HTTP/1.1 as agent clients use when they ask a model: a head, a body of known length, one answer.

use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;

/// No client sends more; what claims to is refused before it is read.
const BODY_BYTES_MAX: usize = 64 << 20;

/// One request as it came in.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// Reads the next request of a connection; none when the other side has closed it.
    pub(crate) fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(broken("the first line is not a request"));
        };
        let path = target.split('?').next().unwrap_or_default();
        let mut request =
            Request { method: method.to_owned(), path: path.to_owned(), headers: vec![], body: vec![] };
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length: usize = request.header("content-length").map_or(Ok(0), str::parse).map_err(broken)?;
        if length > BODY_BYTES_MAX || request.header("transfer-encoding").is_some() {
            return Err(broken("the body has no length that could be accepted"));
        }
        request.body = vec![0; length];
        stream.read_exact(&mut request.body)?;
        Ok(Some(request))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

fn broken(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// One answer, whole: a script knows all its words before it says the first.
#[derive(Debug, PartialEq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Response {
        Response { status, kind: "application/json", body: body.to_string() }
    }

    /// Server-sent events, each with its name.
    pub(crate) fn events(events: &[serde_json::Value]) -> Response {
        let line = |event: &serde_json::Value| {
            let name = event["type"].as_str().unwrap_or_default();
            format!("event: {name}\ndata: {event}\n\n")
        };
        Response { status: 200, kind: "text/event-stream", body: events.iter().map(line).collect() }
    }

    pub(crate) fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let Response { status, kind, body } = self;
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        )?;
        stream.flush()
    }
}
