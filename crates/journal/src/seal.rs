//! Seals: checksums of rows that change.
//!
//! Entries are covered by the chain. Rows that are derived from them, or stand beside them, carry a seal, so
//! that one changed byte is found there as well. It holds no secret and proves nothing against a forger.

use seriatim_core::hash::Hash;

pub(crate) type Seal = [u8; 8];

/// Collects the columns of a row.
pub(crate) struct Sealer(Vec<u8>);

impl Sealer {
    /// The name of the table comes first: a row cannot pass for one of another table.
    pub(crate) fn new(table: &str) -> Sealer {
        Sealer(Vec::with_capacity(256)).text(table)
    }

    pub(crate) fn number(mut self, number: i64) -> Sealer {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Sealer {
        self.0.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn text(self, text: &str) -> Sealer {
        self.bytes(text.as_bytes())
    }

    pub(crate) fn hash(self, hash: &Hash) -> Sealer {
        self.bytes(&hash.0)
    }

    /// Absent is not the same as empty.
    pub(crate) fn optional(mut self, bytes: Option<&[u8]>) -> Sealer {
        self.0.push(u8::from(bytes.is_some()));
        self.bytes(bytes.unwrap_or_default())
    }

    pub(crate) fn optional_number(self, number: Option<i64>) -> Sealer {
        self.optional(number.map(i64::to_be_bytes).as_ref().map(<[u8; 8]>::as_slice))
    }

    pub(crate) fn digest(&self) -> Hash {
        Hash::of(&self.0)
    }

    pub(crate) fn seal(&self) -> Seal {
        let mut seal = Seal::default();
        seal.copy_from_slice(&self.digest().0[..8]);
        seal
    }
}
