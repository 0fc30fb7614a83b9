//! JSON in which every name stands once. Readers take the first or the last of two; a report that can be read in two ways
//! says nothing.

use std::fmt;

use serde::de::DeserializeSeed;
use serde::de::Deserializer;
use serde::de::Error;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde_json::Map;
use serde_json::Number;
use serde_json::Value;

/// A value, and the names that stand in it more than once, with where they stand: `outputs.checks[0].pass`.
pub(super) struct Parsed {
    pub(super) value: Value,
    pub(super) twice: Vec<String>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Parsed, serde_json::Error> {
    let mut twice = vec![];
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Place { path: String::new(), twice: &mut twice }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(Parsed { value, twice })
}

/// Where a value stands that is about to be read.
struct Place<'t> {
    path: String,
    twice: &'t mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = vec![];
        loop {
            let path = format!("{}[{}]", self.path, list.len());
            match items.next_element_seed(Place { path, twice: self.twice })? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let path = if self.path.is_empty() { key.clone() } else { format!("{}.{key}", self.path) };
            if object.contains_key(&key) && !self.twice.contains(&path) {
                self.twice.push(path.clone());
            }
            let value = entries.next_value_seed(Place { path, twice: self.twice })?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}
