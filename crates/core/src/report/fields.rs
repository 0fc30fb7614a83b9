//! Typed access to a JSON object that turns every mistake into a sentence for the agent.

use serde_json::Map;
use serde_json::Value;

/// More problems than this at once help no agent.
const PROBLEMS_MAX: usize = 40;
/// How much of a wrong value a problem repeats, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// The problems of one report.
#[derive(Default)]
pub(super) struct Problems {
    found: Vec<String>,
    left_out: usize,
}

impl Problems {
    pub(super) fn add(&mut self, problem: String) {
        if self.found.len() < PROBLEMS_MAX {
            self.found.push(problem);
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn into_sentences(mut self) -> Vec<String> {
        if self.left_out > 0 {
            self.found.push(format!("{} more problems are not listed", self.left_out));
        }
        self.found
    }
}

/// An object inside the report, with the path by which problems speak of its fields.
pub(super) struct Fields<'v> {
    path: String,
    object: &'v Map<String, Value>,
}

impl<'v> Fields<'v> {
    pub(super) fn root(object: &'v Map<String, Value>) -> Fields<'v> {
        Fields { path: String::new(), object }
    }

    /// The name of a field as problems give it: `criteria[0].met`.
    pub(super) fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The value of `key`. Agents write `null` for what they leave out, so it counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&'v Value> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    /// A text, empty when absent.
    pub(super) fn text(&self, key: &str, problems: &mut Problems) -> String {
        match self.get(key) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => {
                self.wrong(key, "a text", other, problems);
                String::new()
            }
        }
    }

    /// A number from 0 to 100. A fraction below one is refused: nobody knows whether it means percent (E-23).
    pub(super) fn confidence(&self, problems: &mut Problems) -> Option<f64> {
        let value = self.get("confidence")?;
        let number = value.as_f64();
        match number {
            Some(number) if number > 0.0 && number < 1.0 => {
                let percent = (number * 1000.0).round() / 10.0;
                problems.add(format!(
                    "`{}` must be a number from 0 to 100; got {value} \
                     (write {percent} if it means {percent} percent)",
                    self.name("confidence")
                ));
                None
            }
            Some(number) if (0.0..=100.0).contains(&number) => Some(number),
            _ => {
                self.wrong("confidence", "a number from 0 to 100", value, problems);
                None
            }
        }
    }

    /// A whole number that fits its type, zero when absent.
    pub(super) fn whole<N: TryFrom<u64> + Default>(&self, key: &str, problems: &mut Problems) -> N {
        let Some(value) = self.get(key) else { return N::default() };
        let number = value.as_u64().and_then(|number| N::try_from(number).ok());
        number.unwrap_or_else(|| {
            self.wrong(key, "a whole number from 0 on", value, problems);
            N::default()
        })
    }

    /// A number that is not negative, zero when absent.
    pub(super) fn amount(&self, key: &str, problems: &mut Problems) -> f64 {
        let Some(value) = self.get(key) else { return 0.0 };
        value.as_f64().filter(|number| *number >= 0.0).unwrap_or_else(|| {
            self.wrong(key, "a number that is not negative", value, problems);
            0.0
        })
    }

    /// A list of texts, empty when absent.
    pub(super) fn texts(&self, key: &str, problems: &mut Problems) -> Vec<String> {
        let mut texts = vec![];
        for (index, item) in self.list(key, "a list of texts", problems).iter().enumerate() {
            match item {
                Value::String(text) => texts.push(text.clone()),
                other => self.wrong(&format!("{key}[{index}]"), "a text", other, problems),
            }
        }
        texts
    }

    /// The objects of a list, empty when absent.
    pub(super) fn objects(&self, key: &str, problems: &mut Problems) -> Vec<Fields<'v>> {
        let mut objects = vec![];
        for (index, item) in self.list(key, "a list of objects", problems).iter().enumerate() {
            let key = format!("{key}[{index}]");
            match item {
                Value::Object(object) => objects.push(Fields { path: self.name(&key), object }),
                other => self.wrong(&key, "an object", other, problems),
            }
        }
        objects
    }

    /// The object that `key` holds.
    pub(super) fn object(&self, key: &str, problems: &mut Problems) -> Option<Fields<'v>> {
        match self.get(key)? {
            Value::Object(object) => Some(Fields { path: self.name(key), object }),
            other => {
                self.wrong(key, "an object", other, problems);
                None
            }
        }
    }

    /// Everything in this object, as it was written.
    pub(super) fn all(&self) -> &'v Map<String, Value> {
        self.object
    }

    pub(super) fn wrong(&self, key: &str, expected: &str, got: &Value, problems: &mut Problems) {
        problems.add(format!("`{}` must be {expected}; got {}", self.name(key), shown(got)));
    }

    fn list(&self, key: &str, expected: &str, problems: &mut Problems) -> &'v [Value] {
        match self.get(key) {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(other) => {
                self.wrong(key, expected, other, problems);
                &[]
            }
        }
    }
}

/// A wrong value as a problem repeats it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => quoted(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// `text` in quotes, cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    let ellipsis = if short.len() < text.len() { " ..." } else { "" };
    format!("{short:?}{ellipsis}")
}
