//! The whole roadmap dialect at the seam of this crate: requests and their outcomes by hand, and every fact, save,
//! commit, question and end looked at.

#[cfg(test)]
mod repository;
#[cfg(test)]
mod runner;
#[cfg(test)]
mod sequential;
#[cfg(test)]
#[path = "../support/stage.rs"]
mod stage;
#[cfg(test)]
mod state;
#[cfg(test)]
mod story;
#[cfg(test)]
mod world;
