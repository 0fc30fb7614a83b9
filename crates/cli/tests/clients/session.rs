//! One run of a client, from its start to its end.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// The limit only keeps a broken test from hanging; no test waits for it.
const LIMIT: Duration = Duration::from_secs(180);

/// What a client said.
#[derive(Debug)]
pub(crate) struct Session {
    /// The lines of its stream. There may be several results: a client that is told of a sub-agent's end in the
    /// background takes another turn.
    lines: Vec<Value>,
    stderr: String,
    exit: Option<i32>,
}

impl Session {
    /// Runs a client and reads its stream to the end.
    #[track_caller]
    pub(crate) fn of(mut command: Command) -> Session {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let lines: Vec<String> = BufReader::new(stdout).lines().map_while(Result::ok).collect();
            let _ = send.send(lines);
        });
        let complaints = thread::spawn(move || {
            let mut text = vec![];
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let lines = receive.recv_timeout(LIMIT);
        if lines.is_err() {
            let _ = child.kill();
        }
        let exit = child.wait().unwrap().code();
        let stderr = complaints.join().unwrap();
        let Ok(lines) = lines else { panic!("the client does not end: {stderr}") };
        let lines = lines.iter().map(|line| serde_json::from_str(line).unwrap_or(Value::Null)).collect();
        Session { lines, stderr, exit }
    }

    /// The client came to a good end; an error of the model's service is no exit code of its own.
    #[track_caller]
    pub(crate) fn ended(self) -> Session {
        let wrong = self.lines.iter().any(|line| line["is_error"] == true || line["type"] == "turn.failed");
        assert!(self.exit == Some(0) && !wrong, "exit {:?}\n{}\n{:#?}", self.exit, self.stderr, self.lines);
        self
    }
}
