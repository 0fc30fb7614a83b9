//! Living processes as `/proc` shows them, and signals that cannot hit the wrong one.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::process::PidfdFlags;
use rustix::process::Signal;
use rustix::process::pidfd_open;
use rustix::process::pidfd_send_signal;

use crate::hands::process::Leftover;
use crate::hands::process::MARKER;

const COMMAND_CHARS_MAX: usize = 200;

/// One process. Its id alone may be given to another one later; id and start time together may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub pid: u32,
    pub parent: u32,
    pub session: u32,
    pub started: u64,
    /// False for a zombie: it holds nothing, does nothing, and waits to be reaped.
    pub alive: bool,
    pub name: String,
}

/// What became of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signalled {
    Sent,
    Gone,
    /// The process belongs to somebody else.
    Refused,
}

impl Process {
    pub(super) fn find(pid: u32) -> Option<Process> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        parse_stat(&String::from_utf8_lossy(&stat))
    }

    /// A handle on this very process, even if its id has passed on meanwhile: the handle is opened first and the
    /// start time compared afterwards. It becomes readable when the process has ended.
    pub(super) fn handle(&self) -> Option<OwnedFd> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw)?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let same = Process::find(self.pid).is_some_and(|now| now.started == self.started);
        same.then_some(handle)
    }

    pub(super) fn signal(&self, signal: Signal) -> Signalled {
        let Some(handle) = self.handle() else { return Signalled::Gone };
        match pidfd_send_signal(handle, signal) {
            Ok(()) => Signalled::Sent,
            Err(Errno::PERM | Errno::ACCESS) => Signalled::Refused,
            Err(_) => Signalled::Gone,
        }
    }

    /// Kills it and returns the handle by which its end can be awaited; `None` when it is gone or not ours.
    pub(super) fn kill(&self) -> Option<OwnedFd> {
        let handle = self.handle()?;
        pidfd_send_signal(&handle, Signal::KILL).ok()?;
        Some(handle)
    }

    /// The command line for people; a process that is about to end may only have its name left.
    pub(super) fn leftover(&self) -> Leftover {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        let words = String::from_utf8_lossy(&line).replace('\0', " ");
        let command = match words.trim() {
            "" => format!("[{}]", self.name),
            line => line.chars().take(COMMAND_CHARS_MAX).collect(),
        };
        Leftover { pid: self.pid, command }
    }

    pub(super) fn carries(&self, marker: &str) -> bool {
        let wanted = format!("{MARKER}={marker}");
        fs::read(format!("/proc/{}/environ", self.pid))
            .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
    }

    /// The arguments that it was started with.
    pub(super) fn arguments(&self) -> Vec<String> {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }
}

/// All processes that can be seen at the moment.
pub(super) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir(Path::new("/proc")) else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(Process::find)
        .collect()
}

/// The living descendants of `root`, without itself.
pub(super) fn descendants(root: u32) -> Vec<Process> {
    descendants_in(all(), root)
}

fn descendants_in(processes: Vec<Process>, root: u32) -> Vec<Process> {
    let mut children: BTreeMap<u32, Vec<Process>> = BTreeMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        // Taking the children out of the map also ends a cycle, which a torn view of a changing tree can show.
        for child in children.remove(&parent).unwrap_or_default() {
            parents.push(child.pid);
            found.push(child);
        }
    }
    found.retain(|process| process.alive && process.pid != root);
    found
}

/// The process itself and everything above it.
pub(super) fn ancestors(pid: u32) -> Vec<u32> {
    let mut line = vec![pid];
    let mut current = pid;
    while let Some(process) = Process::find(current) {
        if process.parent == 0 || line.contains(&process.parent) {
            break;
        }
        line.push(process.parent);
        current = process.parent;
    }
    line
}

/// Reads `/proc/PID/stat`. The name is in parentheses and may itself hold spaces and parentheses, so the fields
/// are counted from the last one.
fn parse_stat(text: &str) -> Option<Process> {
    let open = text.find('(')?;
    let close = text.rfind(')')?;
    let pid = text.get(..open)?.trim().parse().ok()?;
    let name = text.get(open + 1..close)?.to_owned();
    let rest: Vec<&str> = text.get(close + 1..)?.split_whitespace().collect();
    let field = |number: usize| rest.get(number - 3).copied();
    let threads: u64 = field(20)?.parse().ok()?;
    // A process whose first thread has ended looks like a zombie while its other threads go on.
    let alive = !matches!(field(3)?, "Z" | "X" | "x") || threads > 1;
    Some(Process {
        pid,
        parent: field(4)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        started: field(22)?.parse().ok()?,
        alive,
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(pid: u32, name: &str, state: &str, parent: u32, threads: u32) -> String {
        format!("{pid} ({name}) {state} {parent} 7 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 4711 1 1")
    }

    #[test]
    fn names_with_parentheses_and_spaces_are_read() {
        let process = parse_stat(&line(12, "a) R (b", "S", 3, 1)).unwrap();
        assert_eq!(process.name, "a) R (b");
        assert_eq!((process.pid, process.parent, process.session, process.started), (12, 3, 9, 4711));
        assert!(process.alive);
    }

    #[test]
    fn a_zombie_counts_only_while_other_threads_live() {
        assert!(!parse_stat(&line(1, "x", "Z", 3, 0)).unwrap().alive);
        assert!(parse_stat(&line(1, "x", "Z", 3, 2)).unwrap().alive);
    }

    #[test]
    fn descendants_are_found_through_dead_ones_and_cycles_end() {
        let table = [(2, 1, "S"), (3, 2, "Z"), (4, 3, "S"), (5, 9, "S"), (6, 7, "S"), (7, 6, "S")]
            .map(|(pid, parent, state)| parse_stat(&line(pid, "p", state, parent, 1)).unwrap());
        let found: Vec<u32> = descendants_in(table.to_vec(), 1).iter().map(|p| p.pid).collect();
        assert_eq!(found, [2, 4]);
    }

    #[test]
    fn a_process_is_not_mistaken_for_one_with_its_id() {
        let me = Process::find(std::process::id()).unwrap();
        let earlier = Process { started: me.started + 1, ..me };
        assert_eq!(earlier.signal(Signal::KILL), Signalled::Gone);
    }

    #[test]
    fn what_is_not_a_stat_line_is_nothing() {
        for text in ["", "1", "1 (a", "1 (a) S", "x (a) S 1 1 1", ") ("] {
            assert_eq!(parse_stat(text), None, "{text}");
        }
    }
}
