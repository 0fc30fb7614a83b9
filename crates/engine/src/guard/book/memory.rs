//! What the book remembers for others than the guard itself.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Book;
use super::Desk;
use crate::guard::GuardError;

impl Book {
    /// What was remembered under a key, if it can still be read.
    pub fn memo<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, GuardError> {
        super::memo(&self.store, key)
    }
}

impl Desk<'_, '_> {
    /// The same within a transaction.
    pub fn memo<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, GuardError> {
        let bytes = self.page.memo(key)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Remembers something until it is remembered otherwise.
    pub fn remember(&mut self, key: &str, value: &impl Serialize) -> Result<(), GuardError> {
        let clean = self.door.clean(super::json_of(value)?);
        Ok(self.page.set(key, &clean)?)
    }
}
