//! The coroutine and its mailbox, driven by hand.

mod par;
mod replay;
mod support;
