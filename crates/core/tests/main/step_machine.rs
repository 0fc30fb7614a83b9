//! The machine of a step, explored and tried at random: the guard and the roadmap dialect both decide by it.

mod edges;
mod explore;
mod sequences;
mod world;
