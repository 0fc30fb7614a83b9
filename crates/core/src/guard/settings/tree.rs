//! JSON as a tree in which every value knows the bytes it covers; with comments, where a client takes them.

use std::ops::Range;

use serde_json::Value as Json;

use crate::guard::client::Client;

/// How deep a file may be nested.
const DEPTH_MAX: u32 = 100;

/// Why a settings file is left alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {why}")]
pub struct SettingsError {
    pub line: usize,
    pub column: usize,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("a value is missing here")]
    NoValue,
    #[error("this is no JSON")]
    BadValue,
    #[error("a key in double quotes is missing here")]
    NoKey,
    #[error("`{wanted}` is missing here")]
    Missing { wanted: char },
    #[error("something stands behind the end")]
    Trailing,
    #[error("the client does not take comments in this file")]
    Comment,
    #[error("it is nested too deeply")]
    TooDeep,
    #[error("the file holds no object")]
    NoObject,
    #[error("`{key}` stands here a second time")]
    Twice { key: String },
    #[error("`{key}` should be an object")]
    NotAnObject { key: String },
    #[error("`{key}` should be a list")]
    NotAList { key: String },
    #[error("the hooks are entangled with something else; edit the file by hand")]
    Entangled,
}

#[derive(Debug)]
pub(super) struct Tree<'t> {
    pub(super) text: &'t str,
    pub(super) root: Node,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key begins.
    pub(super) start: usize,
    pub(super) node: Node,
}

impl<'t> Tree<'t> {
    pub(super) fn parse(text: &'t str, client: Client) -> Result<Tree<'t>, SettingsError> {
        let mut reader = Reader { text, at: 0, comments: client == Client::Gemini };
        if text.starts_with('\u{feff}') {
            reader.at = '\u{feff}'.len_utf8();
        }
        let root = reader.document().map_err(|(at, why)| error_at(text, at, why))?;
        Ok(Tree { text, root })
    }

    /// The value at a path of keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(&self.root, |node, key| node.get(key))
    }

    /// A value as data.
    pub(super) fn json(&self, node: &Node) -> Json {
        match &node.value {
            Value::Object(members) => {
                Json::Object(members.iter().map(|m| (m.key.clone(), self.json(&m.node))).collect())
            }
            Value::Array(items) => Json::Array(items.iter().map(|item| self.json(item)).collect()),
            // The reader took it, so that it is JSON.
            Value::Scalar => {
                let text = self.text.get(node.span.clone()).unwrap_or_default();
                serde_json::from_str(text).unwrap_or(Json::Null)
            }
        }
    }

    pub(super) fn error(&self, node: &Node, why: Why) -> SettingsError {
        error_at(self.text, node.span.start, why)
    }
}

impl Node {
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.members()?.iter().find(|member| member.key == key).map(|member| &member.node)
    }

    /// The bytes of what is inside, keys included.
    pub(super) fn children(&self) -> Vec<Range<usize>> {
        match &self.value {
            Value::Object(members) => members.iter().map(|m| m.start..m.node.span.end).collect(),
            Value::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            Value::Scalar => vec![],
        }
    }
}

fn error_at(text: &str, at: usize, why: Why) -> SettingsError {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    SettingsError { line, column, why }
}

type Failure = (usize, Why);

struct Reader<'t> {
    text: &'t str,
    at: usize,
    comments: bool,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Node, Failure> {
        self.skip()?;
        let root = self.value(0)?;
        self.skip()?;
        if self.at < self.text.len() {
            return Err((self.at, Why::Trailing));
        }
        match root.value {
            Value::Object(_) => Ok(root),
            _ => Err((root.span.start, Why::NoObject)),
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Blanks and comments.
    fn skip(&mut self) -> Result<(), Failure> {
        let end = trivia_end(self.text, self.at).ok_or((self.at, Why::Missing { wanted: '*' }))?;
        let skipped = self.text.get(self.at..end).unwrap_or_default();
        if !self.comments
            && let Some(comment) = skipped.find('/')
        {
            return Err((self.at + comment, Why::Comment));
        }
        self.at = end;
        Ok(())
    }

    fn take(&mut self, wanted: char) -> Result<(), Failure> {
        if !self.rest().starts_with(wanted) {
            return Err((self.at, Why::Missing { wanted }));
        }
        self.at += wanted.len_utf8();
        Ok(())
    }

    fn value(&mut self, depth: u32) -> Result<Node, Failure> {
        if depth > DEPTH_MAX {
            return Err((self.at, Why::TooDeep));
        }
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => Value::Object(self.members(depth)?),
            Some(b'[') => Value::Array(self.items(depth)?),
            Some(b'"') => {
                self.string()?;
                Value::Scalar
            }
            Some(_) => {
                self.word()?;
                Value::Scalar
            }
            None => return Err((start, Why::NoValue)),
        };
        Ok(Node { span: start..self.at, value })
    }

    fn members(&mut self, depth: u32) -> Result<Vec<Member>, Failure> {
        self.take('{')?;
        let mut members: Vec<Member> = vec![];
        self.skip()?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(members);
        }
        loop {
            self.skip()?;
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err((start, Why::NoKey));
            }
            let key = self.string()?;
            if members.iter().any(|member| member.key == key) {
                return Err((start, Why::Twice { key }));
            }
            self.skip()?;
            self.take(':')?;
            self.skip()?;
            let node = self.value(depth + 1)?;
            members.push(Member { key, start, node });
            self.skip()?;
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(members);
            }
            self.take(',')?;
        }
    }

    fn items(&mut self, depth: u32) -> Result<Vec<Node>, Failure> {
        self.take('[')?;
        let mut items = vec![];
        self.skip()?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(items);
        }
        loop {
            self.skip()?;
            items.push(self.value(depth + 1)?);
            self.skip()?;
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(items);
            }
            self.take(',')?;
        }
    }

    fn string(&mut self) -> Result<String, Failure> {
        let start = self.at;
        let mut escaped = false;
        let end = self.rest().bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let end = start + 2 + end.ok_or((start, Why::Missing { wanted: '"' }))?;
        self.at = end;
        let text = self.text.get(start..end).unwrap_or_default();
        serde_json::from_str(text).map_err(|_| (start, Why::BadValue))
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<(), Failure> {
        let start = self.at;
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}' | ':' | '/' | '"' | '[' | '{');
        let word = rest.find(ends).and_then(|end| rest.get(..end)).unwrap_or(rest);
        let length = word.len();
        match serde_json::from_str::<Json>(word) {
            Ok(_) => {
                self.at = start + length;
                Ok(())
            }
            Err(_) if word.is_empty() => Err((start, Why::NoValue)),
            Err(_) => Err((start, Why::BadValue)),
        }
    }
}

/// Where blanks and comments end that begin at a byte; nothing where a comment does not end.
pub(super) fn trivia_end(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = text.get(at..)?;
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        let rest = rest.get(blanks..)?;
        at += blanks;
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(inner) = rest.strip_prefix("/*") {
            at += 4 + inner.find("*/")?;
        } else {
            return Some(at);
        }
    }
}
