//! Placeholders such as `{PRODUCT_ROOT}`. Maps carry them without quotes, where YAML takes a brace for the start of a
//! mapping; here they are read as the text that was meant, with every place as it stands in the file.

use std::sync::LazyLock;

use regex::Regex;

use crate::doc;
use crate::doc::Limits;
use crate::doc::Node;
use crate::doc::Value;
use crate::finding::Finding;

/// Names of the folder of the product. The workspace is that folder.
const ROOTS: [&str; 2] = ["PRODUCT_ROOT", "NEBULA_PRODUCT_ROOT"];

/// Signs that mean nothing to YAML at the start of a scalar, one byte each, so that no place moves.
const STAND_INS: [(char, char); 5] = [('<', '>'), ('(', ')'), ('^', '^'), ('~', '~'), ('=', '=')];

static PLACEHOLDER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}").ok());

/// Reads YAML in which placeholders may stand without quotes.
pub fn parse(text: &str) -> (Option<Node>, Vec<Finding>) {
    let limits = Limits::default();
    let Some((open, close)) = stand_in(text) else { return doc::parse(text.as_bytes(), &limits) };
    let names = names(text);
    let hidden = replace(text, |name| format!("{open}{name}{close}"));
    let shown = |text: &str| {
        names.iter().fold(text.to_owned(), |text, name| {
            text.replace(&format!("{open}{name}{close}"), &format!("{{{name}}}"))
        })
    };
    let (mut tree, mut findings) = doc::parse(hidden.as_bytes(), &limits);
    if let Some(tree) = &mut tree {
        restore(tree, &shown);
    }
    for finding in &mut findings {
        finding.message = shown(&finding.message);
        finding.help = finding.help.as_deref().map(shown);
    }
    (tree, findings)
}

/// The first pair of signs that cannot be confused with anything in the text; nothing where there is nothing to hide.
fn stand_in(text: &str) -> Option<(char, char)> {
    let names = names(text);
    if names.is_empty() {
        return None;
    }
    STAND_INS
        .into_iter()
        .find(|(open, close)| !names.iter().any(|name| text.contains(&format!("{open}{name}{close}"))))
}

/// The names of all placeholders, each once.
pub fn names(text: &str) -> Vec<String> {
    let found = PLACEHOLDER.iter().flat_map(|pattern| pattern.captures_iter(text));
    let mut names: Vec<String> =
        found.filter_map(|captures| captures.get(1)).map(|name| name.as_str().to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// A path or pattern of the workspace: the folder of the product is the workspace itself, and what `value` knows is
/// put in. A placeholder that nobody knows stands for any name.
pub fn expand(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let filled = replace(text, |name| match value(name) {
        Some(value) => value,
        None if ROOTS.contains(&name) => ".".to_owned(),
        None => "*".to_owned(),
    });
    filled.strip_prefix("./").map_or(filled.clone(), str::to_owned)
}

/// A word of a command: only the folder of the product is put in, because anything else may mean something to the
/// command.
pub fn in_command(word: &str) -> String {
    expand(word, |name| (!ROOTS.contains(&name)).then(|| format!("{{{name}}}")))
}

fn replace(text: &str, by: impl Fn(&str) -> String) -> String {
    match PLACEHOLDER.as_ref() {
        Some(pattern) => pattern
            .replace_all(text, |captures: &regex::Captures<'_>| {
                by(captures.get(1).map_or("", |m| m.as_str()))
            })
            .into_owned(),
        None => text.to_owned(),
    }
}

fn restore(node: &mut Node, shown: &impl Fn(&str) -> String) {
    match &mut node.value {
        Value::Str(text) => *text = shown(text),
        Value::Seq(items) => items.iter_mut().for_each(|item| restore(item, shown)),
        Value::Map(entries) => {
            for (key, value) in entries {
                key.text = shown(&key.text);
                restore(value, shown);
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn oc_109_unquoted_placeholders_are_the_text_that_was_meant() {
        let text = "reads:\n  - {PRODUCT_ROOT}/planning-mds/**   # <notes>\n  - '{PRODUCT_ROOT}/x'\nscript: {ROOT}/a.py\n\
                    need: [{PRODUCT_ROOT}/b.md exists with Sections 0-2, plain]\nflow: {a: 1}\n";
        let (tree, findings) = parse(text);
        assert!(findings.is_empty(), "{findings:?}");
        let tree = tree.unwrap();
        let reads: Vec<&str> =
            tree.get("reads").unwrap().as_seq().unwrap().iter().filter_map(Node::as_str).collect();
        assert_eq!(reads, ["{PRODUCT_ROOT}/planning-mds/**", "{PRODUCT_ROOT}/x"]);
        assert_eq!(tree.get("script").and_then(Node::as_str), Some("{ROOT}/a.py"));
        let need = &tree.get("need").unwrap().as_seq().unwrap()[0];
        assert_eq!(need.as_str(), Some("{PRODUCT_ROOT}/b.md exists with Sections 0-2"));
        assert_eq!((need.place.line, need.place.column), (5, 8));
        assert_eq!(tree.at(&["flow", "a"]).and_then(Node::as_int), Some(1));
    }

    #[test]
    fn what_stands_in_the_text_already_is_not_confused() {
        let (tree, _) = parse("a: {X}/y\nb: \"<X> and (X)\"\n");
        let tree = tree.unwrap();
        assert_eq!(tree.get("a").and_then(Node::as_str), Some("{X}/y"));
        assert_eq!(tree.get("b").and_then(Node::as_str), Some("<X> and (X)"));
        let (tree, findings) = parse("a: {X}/y\nb: [\n");
        assert!(tree.is_none() && !findings.is_empty());
    }

    #[test]
    fn placeholders_are_filled_or_stand_for_any_name() {
        let feature = |name: &str| (name == "FEATURE").then(|| "login".to_owned());
        assert_eq!(expand("{PRODUCT_ROOT}/features/{FEATURE}/{STORY}.md", feature), "features/login/*.md");
        assert_eq!(expand("{NEBULA_PRODUCT_ROOT}/a", |_| None), "a");
        assert_eq!(expand("agents/templates/**", |_| None), "agents/templates/**");
        assert_eq!(in_command("{PRODUCT_ROOT}/check.py"), "check.py");
        assert_eq!(in_command("--format={json}"), "--format={json}");
    }

    proptest! {
        #[test]
        fn a_text_without_placeholders_reads_as_ever(text in "[a-z:{} \n\\-\\[\\],\"']{0,60}") {
            prop_assume!(names(&text).is_empty());
            prop_assert_eq!(parse(&text), doc::parse(text.as_bytes(), &Limits::default()));
        }

        #[test]
        fn places_never_move(name in "[A-Z_]{1,12}", tail in "[a-z/]{0,20}") {
            let text = format!("before: 1\nentry:\n  - {{{name}}}/{tail}x\nafter: two\n");
            let (tree, findings) = parse(&text);
            prop_assert!(findings.is_empty());
            let tree = tree.unwrap();
            let after = tree.get("after").unwrap();
            prop_assert_eq!(&text[after.place.start as usize..after.place.end as usize], "two");
            let entry = &tree.get("entry").unwrap().as_seq().unwrap()[0];
            prop_assert_eq!(entry.as_str().unwrap(), format!("{{{name}}}/{tail}x"));
        }
    }
}
