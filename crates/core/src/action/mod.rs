//! The action dialect: what of it is built so far is the file of lifecycle stages.

pub mod lifecycle;
