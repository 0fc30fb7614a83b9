//! Who watches a drive: the face shows progress and asks in place; tests and the simulation stay silent.

use seriatim_core::projection::Fact;
use seriatim_core::question::Question;

use crate::drive::ConfigChoice;
use crate::drive::Undecided;
use crate::job::Address;
use crate::job::Job;

/// An open question, as it can be put to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Posed {
    /// Short and unique in the workspace.
    pub id: String,
    pub run_name: String,
    pub key: String,
    pub question: Question,
}

/// What a person said, before it is checked against the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub choice: String,
    pub text: Option<String>,
    pub by: String,
}

/// What is said about a configuration that differs from the one that a run recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigAnswer {
    /// Nobody compares: the run keeps its own.
    Ignored,
    Decided {
        choice: ConfigChoice,
        by: String,
    },
    /// Nobody decides now: the run stays as it is.
    Later,
}

/// All methods have a quiet default.
pub trait Listener {
    /// Somebody may answer in place: ask before parking.
    fn attended(&self) -> bool {
        false
    }

    /// An answer, or `None` to leave the question open. `elsewhere` says whether it was answered meanwhile.
    fn answer(&mut self, posed: &Posed, elsewhere: &mut dyn FnMut() -> bool) -> Option<Said> {
        let _ = (posed, elsewhere);
        None
    }

    /// Why what was said cannot be taken; it will be asked again.
    fn refused(&mut self, posed: &Posed, why: &str) {
        let _ = (posed, why);
    }

    /// The configuration of the moment differs from the one that the run recorded.
    fn decide(&mut self, run_name: &str, matter: &Undecided) -> ConfigAnswer {
        let _ = (run_name, matter);
        ConfigAnswer::Ignored
    }

    fn began(&mut self, job: &Job) {
        let _ = job;
    }

    fn line(&mut self, address: &Address, line: &str) {
        let _ = (address, line);
    }

    fn finished(&mut self, address: &Address) {
        let _ = address;
    }

    /// Called several times a second while work is under way.
    fn tick(&mut self) {}

    fn fact(&mut self, run_name: &str, fact: &Fact) {
        let _ = (run_name, fact);
    }

    fn warn(&mut self, words: &str) {
        let _ = words;
    }
}

/// Nobody watches.
#[derive(Debug, Default)]
pub struct Unheard;

impl Listener for Unheard {}
