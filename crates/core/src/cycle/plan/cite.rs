//! Citations: the files, and the lines in them, that a text refers to (CY-21).

use std::sync::LazyLock;

use regex::Regex;

/// A reference to a file, and to a line of it where one is given. Of a range it is the last line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cite {
    pub path: String,
    pub line: Option<u32>,
}

/// Endings by which a name without a folder is known for a file; `self.value` and `example.com` are none.
const ENDINGS: [&str; 53] = [
    "adoc", "bash", "c", "cc", "cfg", "cpp", "cs", "css", "csv", "ex", "exs", "go", "gradle", "h", "hpp",
    "hs", "html", "ini", "java", "jl", "js", "json", "jsonl", "jsx", "kt", "lock", "lua", "md", "mjs", "ml",
    "php", "pl", "proto", "py", "r", "rb", "rs", "rst", "scala", "scss", "sh", "sql", "svg", "swift", "tf",
    "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
];

/// A path with an ending and, behind colons, a line (and column) or a range of lines. Always there: the tests
/// hold that it is a valid expression.
static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?<path>[\w./~@+-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,9})(?::(?<first>\d+)(?:[-–](?<last>\d+)|:\d+)?)?",
    )
    .ok()
});

/// The citations of `text`, in order.
pub fn cites(text: &str) -> Vec<Cite> {
    let mut cites = vec![];
    for found in PATTERN.iter().flat_map(|pattern| pattern.captures_iter(text)) {
        let (Some(whole), Some(path)) = (found.get(0), found.name("path")) else { continue };
        let line = found.name("last").or(found.name("first")).map(|digits| {
            // More digits than fit is a line that no file has.
            digits.as_str().parse().unwrap_or(u32::MAX)
        });
        if stands_alone(text, whole.start(), whole.end()) && is_file(path.as_str()) {
            let path = path.as_str().trim_start_matches("./").to_owned();
            cites.push(Cite { path, line });
        }
    }
    cites
}

/// A part of an address or of a longer word is no citation.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let address = text[..start].ends_with(':') || text[start..end].contains("//");
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '(' | '/' | '@' | '=');
    !address
        && !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '$' | '{' | '%' | '*'))
        && !after.is_some_and(goes_on)
}

fn is_file(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    // `Node.js` and its like are products.
    let product = path.ends_with(".js") && path.starts_with(char::is_uppercase);
    let in_folder = path.contains('/') && !path.contains('@');
    in_folder || (ENDINGS.contains(&ending.as_str()) && !product)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        cites(text)
            .into_iter()
            .map(|Cite { path, line }| match line {
                Some(line) => format!("{path}:{line}"),
                None => path,
            })
            .collect()
    }

    #[test]
    fn cy_21_citations_in_quotes_and_bare() {
        for (text, expected) in [
            ("see `src/a.rs:12` and src/b.rs:3.", &["src/a.rs:12", "src/b.rs:3"][..]),
            ("(src/a.rs:12-20), `lib/x.py:7:3`", &["src/a.rs:20", "lib/x.py:7"]),
            ("edit ./docs/guide.md, then README.md.", &["docs/guide.md", "README.md"]),
            ("`../secret.env` or /etc/hosts.conf:1", &["../secret.env", "/etc/hosts.conf:1"]),
            ("line 99999999999999999999 is src/a.rs:99999999999999999999", &["src/a.rs:4294967295"]),
            ("a `.github/workflows/ci.yml` file", &[".github/workflows/ci.yml"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_file_is_no_citation() {
        for text in [
            "e.g. this and/or that, i.e. v1.2.3 at 127.0.0.1:8080",
            "https://example.com/docs/a.html and http://localhost:3000/x.js",
            "call self.value, example.com:443 or Foo::bar.baz()",
            "mail ann@example.org",
            "`config.load()` and `src/**/*.rs`",
            "the ratio is 3.5x in Node.js",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
