//! How things look: findings with a picture of the place, questions, runs.

pub(crate) mod attempts;
pub(crate) mod configuration;
pub(crate) mod findings;
pub(crate) mod isolation;
pub(crate) mod process;
pub(crate) mod question;
pub(crate) mod run;
pub(crate) mod story;
pub(crate) mod table;
pub(crate) mod view;
pub(crate) mod work;
