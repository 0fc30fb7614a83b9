//! SHA-256 digests, written as lower-case hex wherever people or other tools read them.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;
use sha2::Digest;
use sha2::Sha256;

/// A SHA-256 digest. Chosen over faster hashes so that an outsider can check everything with `sha256sum`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash before the first entry of a chain.
    pub const ZERO: Hash = Hash([0; 32]);

    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Hash {
        Hash(Sha256::digest(bytes).into())
    }

    /// The digest of several parts, one after the other, without a separator.
    pub fn of_parts(parts: &[&[u8]]) -> Hash {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Hash(hasher.finalize().into())
    }

    /// The first twelve hex digits: enough to recognise, short enough to read.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0u8; 64];
        for (i, byte) in self.0.iter().enumerate() {
            text[i * 2] = DIGITS[usize::from(byte >> 4)];
            text[i * 2 + 1] = DIGITS[usize::from(byte & 15)];
        }
        // Only ASCII digits were written above.
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

/// Why a text is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 digest: expected 64 hex digits, got `{0}`")]
pub struct NotAHash(String);

impl FromStr for Hash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Hash, NotAHash> {
        let refuse = || NotAHash(text.chars().take(80).collect());
        // `from_str_radix` alone would take a sign for a digit.
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(refuse());
        }
        let mut out = [0u8; 32];
        for (i, byte) in out.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[i * 2..i * 2 + 2], 16).map_err(|_| refuse())?;
        }
        Ok(Hash(out))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hash, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digest_round_trips() {
        let hash = Hash::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.to_string(), text);
        assert_eq!(text.parse::<Hash>(), Ok(hash));
        assert_eq!(Hash::of_parts(&[b"a", b"", b"bc"]), hash);
    }

    #[test]
    fn what_is_not_hex_is_refused() {
        assert!("xyz".parse::<Hash>().is_err());
        assert!(
            "+a".repeat(32).parse::<Hash>().is_ok() == "+a".repeat(32).chars().all(|c| c.is_ascii_hexdigit())
        );
    }
}
