//! The door of the journal: secrets are taken out here, and nowhere else.

use seriatim_core::redact::Redactor;

/// Bytes that passed the door. There is no other way to make them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clean(Vec<u8>);

impl Clean {
    /// A body without content.
    pub fn empty() -> Clean {
        Clean(Vec::new())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl AsRef<[u8]> for Clean {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Makes bytes clean. Cheap to clone, so that other threads can clean what they produce.
#[derive(Clone, Debug)]
pub struct Door {
    redactor: Redactor,
}

impl Door {
    pub fn new(redactor: Redactor) -> Door {
        Door { redactor }
    }

    /// `bytes` without their secrets; valid JSON stays valid JSON.
    pub fn clean(&self, bytes: Vec<u8>) -> Clean {
        let changed = match self.redactor.clean_bytes(&bytes) {
            std::borrow::Cow::Borrowed(_) => None,
            std::borrow::Cow::Owned(cleaned) => Some(cleaned),
        };
        Clean(changed.unwrap_or(bytes))
    }

    /// `text` without its secrets.
    pub fn clean_text(&self, text: &str) -> String {
        self.redactor.clean(text).into_owned()
    }
}
