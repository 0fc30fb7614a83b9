//! What a test source imports. Sources are scanned and not parsed.

/// Something that is imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    /// The parts of its name.
    pub(super) path: Vec<String>,
    /// The line where it begins, as it is written.
    pub(super) written: String,
}

/// No import goes over more lines than this.
const LINES_MAX: usize = 60;

const EXTENSIONS: [&str; 12] =
    [".py", ".rs", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".go", ".java", ".rb", ".sh"];

pub(super) fn has_source_extension(name: &str) -> bool {
    EXTENSIONS.iter().any(|end| name.ends_with(end))
}

/// The lines of a source without those that are comments.
pub(super) fn code<'t>(text: &'t str, path: &str) -> impl Iterator<Item = &'t str> {
    let sign = match path.rsplit('.').next() {
        Some("py" | "rb" | "sh" | "feature") => "#",
        _ => "//",
    };
    text.lines().filter(move |line| !line.trim_start().starts_with(sign))
}

/// Whether a line holds a word or a path as a whole.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + word.len()..).and_then(|text| text.chars().next());
        !word.is_empty() && !before.is_some_and(joins) && !after.is_some_and(joins)
    })
}

/// Everything that a source imports.
pub(super) fn of(text: &str, path: &str) -> Vec<Import> {
    let lines: Vec<&str> = code(text, path).collect();
    let mut imports = vec![];
    for (at, line) in lines.iter().enumerate() {
        let whole = || together(lines.get(at..).unwrap_or_default());
        let paths = match path.rsplit('.').next() {
            Some("py") => python(line, whole),
            Some("rs") => rust(line, whole),
            Some("go") => go(line),
            _ => script(line),
        };
        let import = |path| Import { path, written: line.trim().to_owned() };
        imports.extend(paths.into_iter().filter(|path: &Vec<String>| !path.is_empty()).map(import));
    }
    imports
}

/// A statement that goes on while brackets are open.
fn together(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines.iter().take(LINES_MAX) {
        text.push_str(line.trim());
        text.push(' ');
        let count = |signs: [char; 2]| text.matches(signs).count();
        if count(['(', '{']) == count([')', '}']) {
            break;
        }
    }
    text
}

fn parts(name: &str, sign: &str) -> Vec<String> {
    name.split(sign).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// `from a.b import c, d` means `a.b`, `a.b.c` and `a.b.d`.
fn python(line: &str, whole: impl Fn() -> String) -> Vec<Vec<String>> {
    let line = line.trim_start();
    let first = |item: &str| item.split_whitespace().next().unwrap_or_default().to_owned();
    if let Some(rest) = line.strip_prefix("import ") {
        return rest.split(',').map(|item| parts(&first(item), ".")).collect();
    }
    if !line.starts_with("from ") {
        return vec![];
    }
    let whole = whole();
    let Some((module, names)) = whole.strip_prefix("from ").and_then(|rest| rest.split_once(" import"))
    else {
        return vec![];
    };
    let module = parts(module, ".");
    let names = names.trim().trim_matches(['(', ')', ' ']);
    let inner = names.split(',').map(|item| {
        let mut path = module.clone();
        path.push(first(item));
        path
    });
    let inner: Vec<Vec<String>> =
        inner.filter(|path| path.last().is_some_and(|last| !last.is_empty())).collect();
    [module].into_iter().chain(inner).collect()
}

/// `use a::{b, c::d};` means `a::b` and `a::c::d`; braces within braces are read as far as they go.
fn rust(line: &str, whole: impl Fn() -> String) -> Vec<Vec<String>> {
    let line = line.trim_start();
    if !line.starts_with("use ") && !line.starts_with("pub use ") {
        return vec![];
    }
    let whole = whole();
    let name = whole.split_once("use ").map_or("", |(_, rest)| rest).trim().trim_end_matches(';');
    let name = name.trim_start_matches("::");
    let bare =
        |item: &str| parts(item.split(" as ").next().unwrap_or_default().trim_matches(['}', ' ']), "::");
    let Some((head, items)) = name.split_once('{') else { return vec![bare(name)] };
    let head = bare(head);
    let joined = |item: &str| head.iter().cloned().chain(bare(item.trim_start_matches('{'))).collect();
    items.split(',').map(joined).collect()
}

/// `"example.com/kettle/app"`, alone or behind `import`.
fn go(line: &str) -> Vec<Vec<String>> {
    let line = line.trim();
    let name = line.strip_prefix("import ").unwrap_or(line);
    let quoted = name.split_once('"').filter(|(before, rest)| {
        rest.ends_with('"') && before.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ' '))
    });
    quoted.map(|(_, rest)| parts(rest.trim_end_matches('"'), "/")).into_iter().collect()
}

/// `import x from './a/b.js'`, `require('../a/b')`, `import('a')`.
fn script(line: &str) -> Vec<Vec<String>> {
    let line = line.trim();
    let after = ["from ", "require(", "import(", "require_relative ", "import "]
        .iter()
        .find_map(|word| line.rsplit_once(word).map(|(_, rest)| rest));
    let Some(rest) = after else { return vec![] };
    let mut pieces = rest.trim_start().splitn(3, ['\'', '"', '`']);
    let (Some(""), Some(name)) = (pieces.next(), pieces.next()) else { return vec![] };
    let name = EXTENSIONS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let path = parts(name, "/").into_iter().filter(|part| ![".", "..", "@", "~"].contains(&part.as_str()));
    vec![path.collect()]
}
