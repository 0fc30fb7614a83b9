//! The engine's side of the socket: one thread that reads, a few that answer, all gone with the attempt.
//!
//! Nobody waits for a client. A connection that says nothing costs a descriptor, until a newer one needs its place.

use std::collections::VecDeque;
use std::fs::DirBuilder;
use std::fs::File;
use std::fs::Permissions;
use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::Sender;
use std::thread;
use std::thread::JoinHandle;
use std::time::Instant;

use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::poll;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::AnswerInside;
use super::InsideReply;
use super::InsideRequest;
use super::WORDS_BYTES_MAX;
use super::framed;
use crate::hands::process::Stop;
use crate::hands::wait;

/// The name of the socket in the private `/tmp` of a world.
const NAME: &str = ".seriatim.sock";
/// Connections whose request has not arrived. With one more the oldest of them is closed.
const READING_MAX: usize = 32;
/// What all of them together have sent.
const READING_BYTES_MAX: usize = 64 << 20;
/// Requests that are answered at the same time.
const WORKERS_MAX: usize = 4;
/// Requests that are answered or wait for it. One more is refused.
const WAITING_MAX: usize = 64;
/// The input of all of them together.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// How long a client may take to read its reply.
const REPLY_MS: u64 = 10_000;
/// How long nothing is accepted when this machine has no descriptor left.
const EXHAUSTED_MS: u64 = 200;
const READ_BYTES: usize = 64 << 10;

/// The socket of an attempt, served until this is dropped.
#[derive(Debug)]
pub struct Listening {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
    /// Named through a descriptor: a path as deep as those of layers does not fit into an address.
    folder: File,
}

impl Listening {
    /// Makes the socket in the private `/tmp` of a world that is about to start, and serves it.
    pub fn start(own: &Path, answer: AnswerInside) -> io::Result<Listening> {
        let folder = own.join("tmp");
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let flags = i32::from_ne_bytes((OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().to_ne_bytes());
        let folder = File::options().read(true).custom_flags(flags).open(&folder)?;
        let at = within(&folder);
        let listener = UnixListener::bind(&at)?;
        std::fs::set_permissions(&at, Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        let stop = Stop::new()?;
        let reader = Reader::new(listener, stop.clone(), answer);
        let thread = thread::Builder::new().name("inside".to_owned()).spawn(move || reader.serve())?;
        Ok(Listening { stop, thread: Some(thread), folder })
    }

    /// Returns where processes of the world find the socket.
    pub fn inside() -> String {
        format!("/tmp/{NAME}")
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // The world is over, so that nobody misses it.
        let _ = std::fs::remove_file(within(&self.folder));
    }
}

fn within(folder: &File) -> PathBuf {
    format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd()).into()
}

/// A request that arrived whole.
struct Arrived {
    stream: UnixStream,
    request: InsideRequest,
    input: Vec<u8>,
}

/// A connection whose request has not arrived whole.
struct Incoming {
    stream: UnixStream,
    bytes: Vec<u8>,
    /// The words, once they are there; the bytes are input then.
    request: Option<InsideRequest>,
}

/// How far a request has arrived.
enum Progress {
    More,
    Whole,
    /// What was sent is no request.
    Garbage,
    /// The client is gone.
    Gone,
}

impl Incoming {
    fn new(stream: UnixStream) -> Incoming {
        Incoming { stream, bytes: Vec::new(), request: None }
    }

    fn read(&mut self) -> Progress {
        let mut buffer = [0u8; READ_BYTES];
        match self.stream.read(&mut buffer) {
            Ok(0) => Progress::Gone,
            Ok(count) => {
                self.bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
                self.progress()
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Progress::More
            }
            Err(_) => Progress::Gone,
        }
    }

    fn progress(&mut self) -> Progress {
        if self.request.is_none() {
            let Some((length, rest)) = self.bytes.split_first_chunk::<4>() else { return Progress::More };
            let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
            if length > WORDS_BYTES_MAX {
                return Progress::Garbage;
            }
            let Some(text) = rest.get(..length) else { return Progress::More };
            let Some(request) = InsideRequest::read(text) else { return Progress::Garbage };
            self.request = Some(request);
            self.bytes.drain(..4 + length);
        }
        let wanted = self.request.as_ref().map_or(0, |request| request.input_bytes);
        match self.bytes.len() {
            length if length < wanted => Progress::More,
            length if length == wanted => Progress::Whole,
            _ => Progress::Garbage,
        }
    }
}

struct Reader {
    listener: UnixListener,
    stop: Stop,
    answer: AnswerInside,
    reading: VecDeque<Incoming>,
    sender: Sender<Arrived>,
    receiver: Arc<Mutex<Receiver<Arrived>>>,
    waiting: Arc<Waiting>,
    workers: Vec<JoinHandle<()>>,
}

impl Reader {
    fn new(listener: UnixListener, stop: Stop, answer: AnswerInside) -> Reader {
        let (sender, receiver) = mpsc::channel();
        Reader {
            listener,
            stop,
            answer,
            reading: VecDeque::new(),
            sender,
            receiver: Arc::new(Mutex::new(receiver)),
            waiting: Arc::new(Waiting::default()),
            workers: Vec::new(),
        }
    }

    fn serve(mut self) {
        while let Some((knocks, ready)) = self.wait() {
            // From the back, so that the places of the others stay what they are.
            for at in ready.into_iter().rev() {
                self.read(at);
            }
            if knocks {
                self.accept();
            }
        }
        // Workers end when the last request is taken; those under way are ended by the same switch.
        drop(self.sender);
        for worker in self.workers {
            let _ = worker.join();
        }
    }

    /// Waits until somebody knocks or sends. Nothing when the attempt is over.
    fn wait(&self) -> Option<(bool, Vec<usize>)> {
        let sources = [self.stop.as_fd(), self.listener.as_fd()];
        let sources = sources.into_iter().chain(self.reading.iter().map(|one| one.stream.as_fd()));
        let mut polled: Vec<PollFd<'_>> =
            sources.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        loop {
            match poll(&mut polled, None) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
        let mut events = polled.iter().map(|fd| !fd.revents().is_empty());
        if events.next().unwrap_or(true) {
            return None;
        }
        let knocks = events.next().unwrap_or(false);
        Some((knocks, events.enumerate().filter(|(_, ready)| *ready).map(|(at, _)| at).collect()))
    }

    fn read(&mut self, at: usize) {
        let Some(incoming) = self.reading.get_mut(at) else { return };
        let progress = incoming.read();
        let all: usize = self.reading.iter().map(|one| one.bytes.len()).sum();
        match progress {
            Progress::More if all <= READING_BYTES_MAX => {}
            Progress::More | Progress::Gone => {
                self.reading.remove(at);
            }
            Progress::Garbage => {
                if let Some(mut incoming) = self.reading.remove(at) {
                    refuse(&mut incoming.stream, "the message is not one of seriatim");
                }
            }
            Progress::Whole => {
                if let Some(Incoming { stream, bytes, request: Some(request) }) = self.reading.remove(at) {
                    self.pass_on(Arrived { stream, request, input: bytes });
                }
            }
        }
    }

    fn accept(&mut self) {
        match self.listener.accept() {
            Ok((stream, _)) if stream.set_nonblocking(true).is_ok() => {
                self.reading.push_back(Incoming::new(stream));
                if self.reading.len() > READING_MAX {
                    self.reading.pop_front();
                }
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => {
                self.reading.clear();
                // The one that knocks stays at the door, so that asking again at once would never end.
                let _ = wait::ready([Some(self.stop.as_fd())], wait::in_ms(EXHAUSTED_MS));
            }
        }
    }

    fn pass_on(&mut self, mut arrived: Arrived) {
        let Some(busy) = self.waiting.add(arrived.input.len()) else {
            return refuse(&mut arrived.stream, "too many requests at once; try again in a moment");
        };
        if busy >= self.workers.len() && self.workers.len() < WORKERS_MAX {
            let (receiver, waiting) = (Arc::clone(&self.receiver), Arc::clone(&self.waiting));
            let (answer, stop) = (Arc::clone(&self.answer), self.stop.clone());
            let worker = thread::Builder::new().name("inside-answer".to_owned());
            self.workers.extend(worker.spawn(move || work(&receiver, &waiting, &answer, &stop)).ok());
        }
        // It fails only where no worker could be started; the client then sees the end of its connection.
        let _ = self.sender.send(arrived);
    }
}

/// The requests that are answered or wait for it.
#[derive(Default)]
struct Waiting {
    count: AtomicUsize,
    bytes: AtomicUsize,
}

impl Waiting {
    /// Counts one more and returns how many there were before; nothing where there is no room for it.
    fn add(&self, bytes: usize) -> Option<usize> {
        let count = self.count.load(Ordering::SeqCst);
        let all = self.bytes.load(Ordering::SeqCst).saturating_add(bytes);
        if count >= WAITING_MAX || all > WAITING_BYTES_MAX {
            return None;
        }
        self.bytes.fetch_add(bytes, Ordering::SeqCst);
        Some(self.count.fetch_add(1, Ordering::SeqCst))
    }

    fn remove(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::SeqCst);
        self.count.fetch_sub(1, Ordering::SeqCst);
    }
}

fn work(receiver: &Mutex<Receiver<Arrived>>, waiting: &Waiting, answer: &AnswerInside, stop: &Stop) {
    loop {
        let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Arrived { mut stream, request, input }) = next else { return };
        if stop.is_stopped() {
            return;
        }
        let bytes = input.len();
        let reply = answer(&request, input, stop);
        send(&mut stream, &reply, stop);
        waiting.remove(bytes);
    }
}

/// Sends a reply to a client that may read slowly, or never.
fn send(stream: &mut UnixStream, reply: &InsideReply, stop: &Stop) {
    let bytes = framed(&serde_json::to_vec(reply).unwrap_or_default());
    let until = wait::in_ms(REPLY_MS);
    let mut left = bytes.as_slice();
    while !left.is_empty() {
        match stream.write(left) {
            Ok(0) => return,
            Ok(count) => left = left.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if stop.is_stopped() || until.is_none_or(|moment| moment <= Instant::now()) {
                    return;
                }
                let mut polled = [
                    PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::OUT),
                    PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN),
                ];
                let left = until.map(wait::until);
                if poll(&mut polled, left.as_ref()).is_err_and(|error| error != Errno::INTR) {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}

/// Says no without waiting: what does not fit into the buffer of a fresh connection is lost.
fn refuse(stream: &mut UnixStream, why: &str) {
    let reply = InsideReply { exit: 2, stdout: String::new(), stderr: format!("error: {why}\n") };
    let _ = stream.write(&framed(&serde_json::to_vec(&reply).unwrap_or_default()));
}
