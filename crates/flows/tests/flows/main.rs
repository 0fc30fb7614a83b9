//! The coroutine and its mailbox, driven by hand.

#[cfg(test)]
mod par;
#[cfg(test)]
mod replay;
#[cfg(test)]
mod support;
