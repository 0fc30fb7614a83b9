//! A model on this machine that says what a script tells it to, and remembers everything it was asked. Clients
//! take it for the service of their vendor.

mod anthropic;
mod http;
mod openai;
pub(crate) mod script;
mod tests;

use std::io;
use std::io::BufReader;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::thread;

use serde_json::Value;
use serde_json::json;

use self::http::Request;
use self::http::Response;
use self::script::Script;

/// The number of the main agent; sub-agents are 1, 2 and so on, in the order in which they first ask.
pub(crate) const MAIN: usize = 0;

/// One question to the model.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) agent: usize,
    /// The how manieth question of this agent, from 1.
    pub(crate) nth: usize,
    /// All that the model reads, in order.
    pub(crate) texts: Vec<String>,
    /// What the tools that were used so far answered.
    pub(crate) results: Vec<String>,
    pub(crate) body: Value,
    /// The log-in that the client showed.
    pub(crate) login: String,
}

impl Ask {
    /// Whether some words stand anywhere in what the model reads.
    pub(crate) fn reads(&self, words: &str) -> bool {
        self.texts.iter().any(|text| text.contains(words))
    }

    /// The model reads some words; where it does not, the end of what it reads is shown.
    #[track_caller]
    pub(crate) fn assert_reads(&self, words: &str) {
        let end: Vec<&String> = self.texts.iter().rev().take(2).collect();
        assert!(
            self.reads(words),
            "`{words}` is not read by agent {} at question {}: {end:#?}",
            self.agent,
            self.nth
        );
    }

    /// What the tool answered that was used last.
    pub(crate) fn result(&self) -> &str {
        self.results.last().map_or("", String::as_str)
    }
}

#[derive(Clone, Copy)]
enum Api {
    Messages,
    Responses,
}

/// The running server.
pub(crate) struct Model {
    address: SocketAddr,
    desk: Arc<Desk>,
}

/// What all connections share.
struct Desk {
    script: Script,
    closed: AtomicBool,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    conversations: Vec<String>,
    asks: Vec<Ask>,
    /// Requests that no model answers.
    astray: Vec<String>,
}

impl Model {
    pub(crate) fn start(script: Script) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let desk = Arc::new(Desk { script, closed: AtomicBool::new(false), book: Mutex::default() });
        let shared = Arc::clone(&desk);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.closed.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), desk) = (stream, Arc::clone(&shared)) else { continue };
                // A client that goes away in the middle of a request needs no answer.
                thread::spawn(move || desk.serve(stream));
            }
        });
        Model { address, desk }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All questions so far.
    pub(crate) fn asks(&self) -> Vec<Ask> {
        self.desk.book().asks.clone()
    }

    /// The questions of one agent.
    pub(crate) fn asks_of(&self, agent: usize) -> Vec<Ask> {
        self.asks().into_iter().filter(|ask| ask.agent == agent).collect()
    }

    /// How many sub-agents asked anything.
    pub(crate) fn subs(&self) -> usize {
        self.desk.book().conversations.len().saturating_sub(1)
    }

    /// Requests that were no questions to a model.
    pub(crate) fn astray(&self) -> Vec<String> {
        self.desk.book().astray.clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.desk.closed.store(true, Ordering::SeqCst);
        // One more connection, so that the listener looks up and sees that it is closed.
        let _ = TcpStream::connect(self.address);
    }
}

impl Desk {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        while let Some(request) = Request::read(&mut reader)? {
            self.answer(&request).write(&mut stream)?;
        }
        Ok(())
    }

    fn answer(&self, request: &Request) -> Response {
        let api = match request.path.as_str() {
            anthropic::PATH => Api::Messages,
            openai::PATH => Api::Responses,
            openai::REFRESH => return openai::refreshed(),
            _ => return self.miss(request),
        };
        let Ok(body) = serde_json::from_slice::<Value>(&request.body) else { return self.miss(request) };
        let conversation = match api {
            Api::Messages => anthropic::conversation(request),
            Api::Responses => openai::conversation(request),
        };
        let login =
            request.header("authorization").or_else(|| request.header("x-api-key")).unwrap_or_default();
        let (ask, id) = self.book().enter(api, conversation, body, login.to_owned());
        let reply = self.script.reply(&ask);
        match api {
            Api::Messages => anthropic::response(&reply, &id, &ask.body),
            Api::Responses => openai::response(&reply, &id),
        }
    }

    fn miss(&self, request: &Request) -> Response {
        self.book().astray.push(format!("{} {}", request.method, request.path));
        Response::json(
            404,
            &json!({"error": {"type": "not_found_error", "message": "there is no such page"}}),
        )
    }
}

impl Book {
    /// Writes a question down, and gives it with an id that no other reply has.
    fn enter(&mut self, api: Api, conversation: String, body: Value, login: String) -> (Ask, String) {
        let known = self.conversations.iter().position(|known| *known == conversation);
        let agent = known.unwrap_or_else(|| {
            self.conversations.push(conversation);
            self.conversations.len() - 1
        });
        let nth = self.asks.iter().filter(|ask| ask.agent == agent).count() + 1;
        let (texts, results) = match api {
            Api::Messages => (anthropic::texts(&body), anthropic::results(&body)),
            Api::Responses => (openai::texts(&body), openai::results(&body)),
        };
        let ask = Ask { agent, nth, texts, results, body, login };
        self.asks.push(ask.clone());
        (ask, format!("scripted_{:04}", self.asks.len()))
    }
}
