//! What work costs in tokens.

use serde::Deserialize;
use serde::Serialize;

use super::lenient::maybe;

/// Tokens of one call or of many. `input` is what was not read from a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_creation: u64,
}

impl Usage {
    pub fn total(&self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_creation]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        self.by_field(other, u64::saturating_add)
    }

    #[must_use]
    pub fn minus(self, other: Usage) -> Usage {
        self.by_field(other, u64::saturating_sub)
    }

    /// The larger of each: what is known of a call about which several lines speak.
    #[must_use]
    pub fn max(self, other: Usage) -> Usage {
        self.by_field(other, u64::max)
    }

    fn by_field(self, other: Usage, of: impl Fn(u64, u64) -> u64) -> Usage {
        Usage {
            input: of(self.input, other.input),
            output: of(self.output, other.output),
            cache_read: of(self.cache_read, other.cache_read),
            cache_creation: of(self.cache_creation, other.cache_creation),
        }
    }
}

/// The counters as Claude writes them.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudeUsage {
    #[serde(deserialize_with = "maybe")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "maybe")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "maybe")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "maybe")]
    cache_creation_input_tokens: Option<u64>,
}

impl From<ClaudeUsage> for Usage {
    fn from(wire: ClaudeUsage) -> Usage {
        Usage {
            input: wire.input_tokens.unwrap_or(0),
            output: wire.output_tokens.unwrap_or(0),
            cache_read: wire.cache_read_input_tokens.unwrap_or(0),
            cache_creation: wire.cache_creation_input_tokens.unwrap_or(0),
        }
    }
}

/// The counters as Codex writes them: its input includes what was cached.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodexUsage {
    #[serde(deserialize_with = "maybe")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "maybe")]
    cached_input_tokens: Option<u64>,
    #[serde(deserialize_with = "maybe")]
    output_tokens: Option<u64>,
}

impl From<CodexUsage> for Usage {
    fn from(wire: CodexUsage) -> Usage {
        let cached = wire.cached_input_tokens.unwrap_or(0);
        Usage {
            input: wire.input_tokens.unwrap_or(0).saturating_sub(cached),
            output: wire.output_tokens.unwrap_or(0),
            cache_read: cached,
            cache_creation: 0,
        }
    }
}
