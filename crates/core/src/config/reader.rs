//! Typed access to a TOML table that turns every mistake into a finding with its place.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeArray;
use toml::de::DeTable;
use toml::de::DeValue;
use toml::de::Error;

use crate::closest::closest;
use crate::finding::Finding;
use crate::finding::Place;
use crate::time::parse_span;

/// Syntax errors tend to come in showers that all say the same; more than this help nobody.
const SYNTAX_FINDINGS_MAX: usize = 10;
/// How much of a wrong value a message repeats, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// A table with the name by which findings speak of it.
pub(super) struct Section<'a> {
    /// As it would stand in the file: `[agents.default]`.
    pub(super) label: String,
    /// Where findings about something absent point.
    pub(super) span: Range<usize>,
    pub(super) table: &'a DeTable<'a>,
}

/// A value that was read, and where it stands.
pub(super) struct Found<T> {
    pub(super) value: T,
    pub(super) span: Range<usize>,
}

/// Collects findings while a text is read.
pub(super) struct Reader<'t> {
    text: &'t str,
    findings: Vec<Finding>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Reader<'t> {
        Reader { text, findings: vec![] }
    }

    pub(super) fn into_findings(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|finding| finding.place.start);
        self.findings
    }

    pub(super) fn error(&mut self, rule: &str, span: &Range<usize>, message: String, help: Option<String>) {
        let finding = Finding::error(rule, place(self.text, span), message);
        self.findings.push(Finding { help, ..finding });
    }

    pub(super) fn warning(&mut self, rule: &str, span: &Range<usize>, message: String, help: Option<String>) {
        let finding = Finding::warning(rule, place(self.text, span), message);
        self.findings.push(Finding { help, ..finding });
    }

    /// One finding per line that cannot be read as TOML.
    pub(super) fn syntax(&mut self, errors: &[Error]) {
        let mut spans: Vec<(Range<usize>, &str)> =
            errors.iter().map(|error| (error.span().unwrap_or(0..0), error.message())).collect();
        spans.sort_by_key(|(span, _)| span.start);
        spans.dedup_by_key(|(span, _)| place(self.text, span).line);
        for (span, message) in spans.into_iter().take(SYNTAX_FINDINGS_MAX) {
            if message == "duplicate key" {
                let key = self.text.get(span.clone()).unwrap_or_default();
                let help = "keep one of the two; what stands under both belongs together";
                self.error(
                    "toml",
                    &span,
                    format!("`{key}` stands here a second time"),
                    Some(help.to_owned()),
                );
            } else {
                self.error("toml", &span, format!("this is not valid TOML: {message}"), None);
            }
        }
    }

    /// The table that `key` holds; a finding when it holds anything else.
    pub(super) fn section<'a>(
        &mut self,
        label: String,
        key: Range<usize>,
        value: &'a Spanned<DeValue<'a>>,
    ) -> Option<Section<'a>> {
        if let DeValue::Table(table) = value.get_ref() {
            return Some(Section { label, span: key, table });
        }
        let got = shown(value.get_ref());
        self.error("type", &value.span(), format!("{label} must be a table; got {got}"), None);
        None
    }

    /// Warns of keys that nothing reads.
    pub(super) fn only(&mut self, section: &Section<'_>, known: &[&str]) {
        for (key, _) in section.table {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let message = format!("unknown field `{name}` in {}", section.label);
                self.warning("unknown-field", &key.span(), message, did_you_mean(name, known));
            }
        }
    }

    /// The same for tables whose fields are rules: a field that is nearly one of the known ones is taken for it by whoever
    /// wrote it, and would not hold.
    pub(super) fn only_rules(&mut self, section: &Section<'_>, known: &[&str]) {
        for (key, _) in section.table {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let message = format!("unknown field `{name}` in {}", section.label);
            match closest(name, known.iter().copied()) {
                Some(_) => self.error("unknown-field", &key.span(), message, did_you_mean(name, known)),
                None => self.warning("unknown-field", &key.span(), message, did_you_mean(name, known)),
            }
        }
    }

    /// A text that is not blank.
    pub(super) fn text(&mut self, section: &Section<'_>, key: &str) -> Option<Found<String>> {
        let value = section.table.get(key)?;
        match value.get_ref() {
            DeValue::String(text) if text.trim().is_empty() => {
                self.bad_value(section, key, value, "must not be empty");
                None
            }
            DeValue::String(text) => Some(Found { value: text.to_string(), span: value.span() }),
            _ => {
                self.wrong_type(section, key, value, "a text in quotes");
                None
            }
        }
    }

    /// A list of texts, each with its place.
    pub(super) fn texts(&mut self, section: &Section<'_>, key: &str) -> Option<Vec<Found<String>>> {
        let value = section.table.get(key)?;
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong_type(section, key, value, "a list of texts");
            return None;
        };
        self.items(section, key, list)
    }

    fn items(&mut self, section: &Section<'_>, key: &str, list: &DeArray<'_>) -> Option<Vec<Found<String>>> {
        let mut found = vec![];
        for item in list {
            match item.get_ref() {
                DeValue::String(text) => found.push(Found { value: text.to_string(), span: item.span() }),
                _ => self.wrong_type(section, key, item, "a list of texts"),
            }
        }
        (found.len() == list.len()).then_some(found)
    }

    /// A program with its arguments.
    pub(super) fn argv(&mut self, section: &Section<'_>, key: &str) -> Option<Vec<String>> {
        let value = section.table.get(key)?;
        let words = self.texts(section, key)?;
        if words.first().is_none_or(|program| program.value.trim().is_empty()) {
            self.bad_value(section, key, value, "must name a program");
            return None;
        }
        Some(words.into_iter().map(|word| word.value).collect())
    }

    /// The names of environment variables.
    pub(super) fn variables(&mut self, section: &Section<'_>, key: &str) -> Vec<String> {
        let mut names = vec![];
        for name in self.texts(section, key).unwrap_or_default() {
            if name.value.is_empty() || name.value.contains(['=', '\0']) {
                let message = format!(
                    "`{key}` in {} lists names of environment variables; {:?} cannot be one",
                    section.label, name.value
                );
                let help = "write the name alone; its value is taken from the environment";
                self.error("bad-value", &name.span, message, Some(help.to_owned()));
            } else {
                names.push(name.value);
            }
        }
        names
    }

    /// A span of time in milliseconds.
    pub(super) fn span(&mut self, section: &Section<'_>, key: &str) -> Option<Found<u64>> {
        let value = section.table.get(key)?;
        let ms = value.get_ref().as_str().and_then(parse_span);
        if ms.is_none() {
            let message = format!(
                "`{key}` in {} must be a span of time; got {}",
                section.label,
                shown(value.get_ref())
            );
            let help = "write it like \"30s\", \"20m\" or \"1h30m\"";
            self.error("bad-value", &value.span(), message, Some(help.to_owned()));
        }
        ms.map(|ms| Found { value: ms, span: value.span() })
    }

    /// A span of time that is longer than nothing.
    pub(super) fn deadline(&mut self, section: &Section<'_>, key: &str) -> Option<u64> {
        let found = self.span(section, key)?;
        if found.value == 0 {
            let message = format!("`{key}` in {} must be longer than nothing", section.label);
            self.error("bad-value", &found.span, message, None);
            return None;
        }
        Some(found.value)
    }

    /// A whole number from `least` on that fits its type.
    pub(super) fn whole<N: TryFrom<u64>>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        least: u64,
    ) -> Option<N> {
        let value = section.table.get(key)?;
        let number = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let fitting = number.filter(|number| *number >= least).and_then(|number| N::try_from(number).ok());
        if fitting.is_none() {
            self.wrong_type(section, key, value, &format!("a whole number from {least} on"));
        }
        fitting
    }

    /// Exit codes by which a command can end well. From 126 on a shell says that a command could not be run, or was killed.
    pub(super) fn exit_codes(&mut self, section: &Section<'_>, key: &str) -> Vec<i32> {
        const MOST: i32 = 125;
        let Some(value) = section.table.get(key) else { return vec![] };
        let number = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
            DeValue::Integer(number) => i32::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        let codes: Option<Vec<i32>> = match value.get_ref() {
            DeValue::Array(list) => list.iter().map(number).collect(),
            _ => None,
        };
        let codes =
            codes.filter(|codes| !codes.is_empty() && codes.iter().all(|code| (0..=MOST).contains(code)));
        if codes.is_none() {
            self.wrong_type(section, key, value, &format!("a list of exit codes from 0 to {MOST}"));
        }
        codes.unwrap_or_default()
    }

    /// Yes or no.
    pub(super) fn flag(&mut self, section: &Section<'_>, key: &str) -> Option<bool> {
        let value = section.table.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            _ => {
                self.wrong_type(section, key, value, "true or false");
                None
            }
        }
    }

    /// A finite number, with or without decimals.
    pub(super) fn number(&mut self, section: &Section<'_>, key: &str) -> Option<Found<f64>> {
        let value = section.table.get(key)?;
        let digits = match value.get_ref() {
            DeValue::Float(number) => Some(number.as_str()),
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
            _ => None,
        };
        let number = digits.and_then(|digits| digits.parse::<f64>().ok()).filter(|number| number.is_finite());
        if number.is_none() {
            self.wrong_type(section, key, value, "a number");
        }
        number.map(|number| Found { value: number, span: value.span() })
    }

    pub(super) fn missing(&mut self, section: &Section<'_>, key: &str, why: &str, help: &str) {
        let message = format!("{} needs `{key}`: {why}", section.label);
        self.error("missing-field", &section.span, message, Some(help.to_owned()));
    }

    fn wrong_type(&mut self, section: &Section<'_>, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) {
        let got = shown(value.get_ref());
        let message = format!("`{key}` in {} must be {expected}; got {got}", section.label);
        self.error("type", &value.span(), message, None);
    }

    fn bad_value(&mut self, section: &Section<'_>, key: &str, value: &Spanned<DeValue<'_>>, must: &str) {
        self.error("bad-value", &value.span(), format!("`{key}` in {} {must}", section.label), None);
    }
}

/// The help line for a word that is not known.
pub(super) fn did_you_mean(given: &str, known: &[&str]) -> Option<String> {
    let meant = closest(given, known.iter().copied()).map(|word| format!("did you mean `{word}`?"));
    meant.or_else(|| Some(format!("known here: {}", known.join(", "))))
}

/// A wrong value as a message repeats it.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => {
            let short: String = text.chars().take(SHOWN_CHARS_MAX).collect();
            let ellipsis = if short.len() < text.len() { " ..." } else { "" };
            format!("{short:?}{ellipsis}")
        }
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// The place of a value, by the names of its tables and its own.
pub(super) fn place_of(text: &str, table: &DeTable<'_>, way: &[&str]) -> Place {
    let [name, rest @ ..] = way else { return Place::TOP };
    let Some(value) = table.get(*name) else { return Place::TOP };
    match value.get_ref() {
        DeValue::Table(inner) if !rest.is_empty() => place_of(text, inner, rest),
        _ => place(text, &value.span()),
    }
}

/// Line and column of a span of bytes. A byte order mark at the start is no character of the first line.
fn place(text: &str, span: &Range<usize>) -> Place {
    let start = text.floor_char_boundary(span.start);
    let before = &text[..start];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    let column = before[line_start..].trim_start_matches('\u{feff}').chars().count() + 1;
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Place { line: small(line), column: small(column), start: small(start), end: small(span.end.max(start)) }
}
