//! The chain: what makes a journal entry's place and content checkable by anyone.
//!
//! `hash = SHA-256(previous hash ‖ header)`, and the header carries the hash of the body, not the body:
//! a body can be erased later and the chain still verifies.

use crate::hash::Hash;

/// Everything about an entry that the chain covers.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// The run's public id.
    pub run: &'a str,
    /// Position within the run, from 0.
    pub seq: u64,
    /// What sort of entry it is, as the single byte that is stored.
    pub kind: u8,
    /// When it was written, in milliseconds.
    pub at: i64,
    /// The key of the request it belongs to, or empty.
    pub key: &'a str,
    /// The hash of the request it belongs to, or zero.
    pub request: Hash,
    /// The hash of the body as it was written.
    pub body: Hash,
}

/// The hash of an entry, given the one before it (zero for the first).
pub fn link(previous: &Hash, header: &Header<'_>) -> Hash {
    let run_len = u32::try_from(header.run.len()).unwrap_or(u32::MAX).to_be_bytes();
    let key_len = u32::try_from(header.key.len()).unwrap_or(u32::MAX).to_be_bytes();
    Hash::of_parts(&[
        &previous.0,
        &run_len,
        header.run.as_bytes(),
        &header.seq.to_be_bytes(),
        &[header.kind],
        &header.at.to_be_bytes(),
        &key_len,
        header.key.as_bytes(),
        &header.request.0,
        &header.body.0,
    ])
}
