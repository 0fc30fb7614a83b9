//! From parser events to the tree. Built with a stack of its own, so that no input can exhaust the thread's.

use std::collections::BTreeMap;

use granit_parser::Event;
use granit_parser::Options;
use granit_parser::Parser;
use granit_parser::ScalarStyle;
use granit_parser::ScanError;
use granit_parser::Span;
use granit_parser::StructureStyle;
use granit_parser::Tag;

use super::Key;
use super::Limits;
use super::Node;
use super::Value;
use super::scalar;
use super::syntax;
use super::text::RULE;
use super::text::Source;
use super::text::line_breaks;
use super::text::to_u32;
use crate::finding::Finding;
use crate::finding::Place;

/// Reads the one document of a file. A syntax error leaves no tree; anything else does.
pub(super) fn parse(source: &Source<'_>, limits: &Limits) -> (Option<Node>, Vec<Finding>) {
    let mut builder = Builder::new(source, limits);
    let mut options = Options::default();
    // The builder's own limit comes first and knows the place; these keep the scanner's lookahead in check.
    options.flow_nesting_limit = limits.depth + 1;
    options.block_nesting_limit = limits.depth + 1;
    for next in Parser::new_from_str_with_options(source.text, options) {
        let outcome = match next {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => Err(builder.syntax_error(&error)),
        };
        if let Err(finding) = outcome {
            builder.findings.push(finding);
            return (None, builder.findings);
        }
    }
    builder.finish()
}

/// A collection that is still open.
pub(super) struct Frame {
    pub(super) place: Place,
    pub(super) flow: bool,
    anchor: usize,
    content: Content,
}

enum Content {
    Seq(Vec<Node>),
    Map(Mapping),
}

#[derive(Default)]
struct Mapping {
    entries: Vec<(Key, Node)>,
    /// Keys already seen, with their lines.
    lines: BTreeMap<String, u32>,
    key: Option<Entry>,
    /// Values of `<<`, to be merged when the mapping is complete.
    merges: Vec<Node>,
}

/// What happens with the value that comes next.
enum Entry {
    Take(Key),
    Merge,
    /// The key is a duplicate and was reported.
    Drop,
}

/// Something an alias can refer to.
struct Anchored {
    node: Node,
    nodes: usize,
    bytes: usize,
    height: usize,
}

struct Builder<'s> {
    source: &'s Source<'s>,
    limits: Limits,
    stack: Vec<Frame>,
    anchors: BTreeMap<usize, Anchored>,
    expanded_nodes: usize,
    expanded_bytes: usize,
    /// Nodes kept because they carry an anchor, counted each time they are copied.
    anchored_nodes: usize,
    /// Where the last event ended, for errors that do not know where their scalar began.
    last_end: usize,
    root: Option<Node>,
    findings: Vec<Finding>,
}

impl<'s> Builder<'s> {
    fn new(source: &'s Source<'s>, limits: &Limits) -> Builder<'s> {
        Builder {
            source,
            limits: *limits,
            stack: vec![],
            anchors: BTreeMap::new(),
            expanded_nodes: 0,
            expanded_bytes: 0,
            anchored_nodes: 0,
            last_end: 0,
            root: None,
            findings: vec![],
        }
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Finding> {
        let place = self.place(&span);
        let after = self.offset(span.end.byte_offset());
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let place = self.scalar_place(place, style);
                self.tagged(tag.as_deref(), place);
                let value = resolve(&text, style, tag.as_deref()).map_err(|what| wrong_tag(what, place))?;
                let merge = style == ScalarStyle::Plain && text == "<<";
                self.complete(Node { value, place }, anchor, merge)?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.tagged(tag.as_deref(), place);
                self.open(place, style, anchor, Content::Seq(vec![]))?;
            }
            Event::MappingStart(style, anchor, tag) => {
                self.tagged(tag.as_deref(), place);
                self.open(place, style, anchor, Content::Map(Mapping::default()))?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(place)?,
            Event::Alias(id) => self.alias(id, place)?,
            _ => {}
        }
        self.last_end = after.max(self.last_end);
        Ok(())
    }

    fn open(
        &mut self,
        place: Place,
        style: StructureStyle,
        anchor: usize,
        content: Content,
    ) -> Result<(), Finding> {
        if let Some(Frame { content: Content::Map(Mapping { key: None, .. }), .. }) = self.stack.last() {
            return Err(Finding::error(RULE, place, "a list or a mapping cannot be a key")
                .help("use a text as the key; put quotes around it when it contains brackets or braces"));
        }
        if self.stack.len() >= self.limits.depth {
            return Err(syntax::too_deep(place, self.limits.depth));
        }
        let flow = style == StructureStyle::Flow;
        self.stack.push(Frame { place, flow, anchor, content });
        Ok(())
    }

    fn close(&mut self, end: Place) -> Result<(), Finding> {
        // The parser closes only what it opened.
        let Some(Frame { mut place, flow, anchor, content }) = self.stack.pop() else { return Ok(()) };
        let (value, last) = match content {
            Content::Seq(items) => {
                let last = items.last().map(|node| node.place.end);
                (Value::Seq(items), last)
            }
            Content::Map(mapping) => {
                let last = mapping.entries.last().map(|(key, node)| key.place.end.max(node.place.end));
                (Value::Map(self.merged(mapping)), last)
            }
        };
        // The end of a block collection is found by the next token, far below; its last child knows better.
        place.end = if flow { end.end } else { last.unwrap_or(place.end).max(place.end) };
        self.complete(Node { value, place }, anchor, false)
    }

    /// Adds what `<<` brings in: keys of the mapping itself win, then earlier sources.
    fn merged(&mut self, mapping: Mapping) -> Vec<(Key, Node)> {
        let Mapping { mut entries, mut lines, merges, .. } = mapping;
        let mut sources = vec![];
        for merge in merges {
            match merge.value {
                Value::Seq(items) => sources.extend(items),
                _ => sources.push(merge),
            }
        }
        for source in sources {
            let Value::Map(brought) = source.value else {
                let message = format!("`<<` merges mappings, but this is {}", source.in_words());
                self.findings.push(Finding::error("merge", source.place, message));
                continue;
            };
            for (key, node) in brought {
                if lines.insert(key.text.clone(), key.place.line).is_none() {
                    entries.push((key, node));
                }
            }
        }
        entries
    }

    fn alias(&mut self, id: usize, place: Place) -> Result<(), Finding> {
        let Some(anchored) = self.anchors.get(&id) else {
            return Err(Finding::error(RULE, place, "this alias refers to something that contains it")
                .help("write the content out instead"));
        };
        self.expanded_nodes = self.expanded_nodes.saturating_add(anchored.nodes);
        self.expanded_bytes = self.expanded_bytes.saturating_add(anchored.bytes);
        if self.expanded_nodes > self.limits.expanded_nodes
            || self.expanded_bytes > self.limits.expanded_bytes
        {
            let message = format!(
                "the aliases of this file expand to more than {} values or {} bytes",
                self.limits.expanded_nodes, self.limits.expanded_bytes
            );
            return Err(Finding::error("alias-limit", place, message)
                .help("write the content out, or split the file"));
        }
        if self.stack.len() + anchored.height > self.limits.depth {
            return Err(syntax::too_deep(place, self.limits.depth));
        }
        let value = anchored.node.value.clone();
        self.complete(Node { value, place }, 0, false)
    }

    /// Puts a finished node where it belongs.
    fn complete(&mut self, node: Node, anchor: usize, merge: bool) -> Result<(), Finding> {
        if anchor != 0 {
            self.remember(anchor, &node)?;
        }
        match self.stack.last_mut() {
            None => self.document(node),
            Some(Frame { content: Content::Seq(items), .. }) => items.push(node),
            Some(Frame { content: Content::Map(mapping), .. }) => match mapping.key.take() {
                None => {
                    let (entry, finding) = mapping.entry(node, merge);
                    mapping.key = Some(entry);
                    self.findings.extend(finding);
                }
                Some(Entry::Take(key)) => mapping.entries.push((key, node)),
                Some(Entry::Merge) => mapping.merges.push(node),
                Some(Entry::Drop) => {}
            },
        }
        Ok(())
    }

    /// Keeps a copy of an anchored node. Nested anchors copy their content again and again; that is bounded too.
    fn remember(&mut self, anchor: usize, node: &Node) -> Result<(), Finding> {
        let (nodes, bytes, height) = weigh(node);
        self.anchored_nodes = self.anchored_nodes.saturating_add(nodes);
        if self.anchored_nodes > self.limits.expanded_nodes.saturating_mul(10) {
            let message = "the anchors of this file hold too much content".to_owned();
            return Err(Finding::error("alias-limit", node.place, message).help("anchor smaller parts"));
        }
        self.anchors.insert(anchor, Anchored { node: node.clone(), nodes, bytes, height });
        Ok(())
    }

    /// One document counts. Files that end with another `---` have a second one, which is empty.
    fn document(&mut self, node: Node) {
        match &self.root {
            Some(root) if !root.is_null() => {
                if !node.is_null() {
                    let message = "the file holds a second document, and only one is expected";
                    let help = "remove the line `---` above it, or put it into a file of its own";
                    self.findings.push(Finding::error(RULE, node.place, message).help(help));
                }
            }
            _ => self.root = Some(node),
        }
    }

    fn finish(self) -> (Option<Node>, Vec<Finding>) {
        let mut findings = self.findings;
        match self.root {
            Some(root) if !root.is_null() => (Some(root), findings),
            _ => {
                findings.push(
                    Finding::error("empty", Place::TOP, "the file is empty")
                        .help("a comment alone is no content; see `seriatim init` for files to start from"),
                );
                (None, findings)
            }
        }
    }

    fn tagged(&mut self, tag: Option<&Tag>, place: Place) {
        if let Some(tag) = tag.filter(|tag| tag.core_suffix().is_none()) {
            let message = format!("the tag `{}` has no meaning here and is ignored", tag.original());
            self.findings.push(Finding::warning("tag", place, message));
        }
    }

    fn syntax_error(&self, error: &ScanError) -> Finding {
        syntax::finding(self.source, error, &self.stack, self.last_end, &self.limits)
    }

    fn offset(&self, byte: Option<usize>) -> usize {
        byte.unwrap_or(self.source.text.len())
    }

    fn place(&self, span: &Span) -> Place {
        let skipped = self.source.skipped;
        Place {
            line: to_u32(span.start.line()),
            column: to_u32(span.start.col() + 1),
            start: to_u32(self.offset(span.start.byte_offset()) + skipped),
            end: to_u32(self.offset(span.end.byte_offset()) + skipped),
        }
    }

    /// The parser gives the content of a block scalar; its place begins at the `|` or `>`, and ends with the
    /// last line that is not blank.
    fn scalar_place(&self, place: Place, style: ScalarStyle) -> Place {
        if !matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
            return place;
        }
        let Source { text, skipped } = *self.source;
        let start = (place.start as usize).saturating_sub(skipped);
        let Some(header) = syntax::next_token(text, self.last_end).filter(|at| *at <= start) else {
            return place;
        };
        let end = (place.end as usize).saturating_sub(skipped).max(header);
        let trimmed = text[header..end].trim_end().len().max(1);
        let line_start = text[..header].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        Place {
            line: place.line.saturating_sub(to_u32(line_breaks(&text[header..start]))),
            column: to_u32(text[line_start..header].chars().count() + 1),
            start: to_u32(header + skipped),
            end: to_u32(header + trimmed + skipped),
        }
    }
}

impl Mapping {
    /// Takes a node as the next key.
    fn entry(&mut self, node: Node, merge: bool) -> (Entry, Option<Finding>) {
        if merge {
            return (Entry::Merge, None);
        }
        if matches!(node.value, Value::Seq(_) | Value::Map(_)) {
            let message = "a list or a mapping cannot be a key";
            return (Entry::Drop, Some(Finding::error(RULE, node.place, message)));
        }
        let key = Key { text: node.scalar_text().unwrap_or_default(), place: node.place };
        if let Some(line) = self.lines.get(&key.text) {
            let finding =
                Finding::error("duplicate-key", key.place, format!("the key `{}` is here twice", key.text))
                    .help(format!("the first is on line {line}; remove or rename one of them"));
            return (Entry::Drop, Some(finding));
        }
        self.lines.insert(key.text.clone(), key.place.line);
        (Entry::Take(key), None)
    }
}

/// Nodes, bytes of text and height of a tree. Trees are never deeper than the limit, so this may recurse.
fn weigh(node: &Node) -> (usize, usize, usize) {
    let sum =
        |(n, b, h): (usize, usize, usize), (n2, b2, h2): (usize, usize, usize)| (n + n2, b + b2, h.max(h2));
    let inner = match &node.value {
        Value::Seq(items) => items.iter().map(weigh).fold((0, 0, 0), sum),
        Value::Map(entries) => {
            entries.iter().map(|(key, node)| sum((0, key.text.len(), 0), weigh(node))).fold((0, 0, 0), sum)
        }
        Value::Str(text) => return (1, text.len(), 0),
        Value::Float(float) => return (1, float.text.len(), 0),
        Value::Null | Value::Bool(_) | Value::Int(_) => return (1, 0, 0),
    };
    (inner.0 + 1, inner.1, inner.2 + 1)
}

/// The meaning of a scalar; the error names the kind of value that its tag promised.
fn resolve(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, &'static str> {
    let plain = || scalar::resolve(text);
    match tag.and_then(Tag::core_suffix) {
        Some("str") => Ok(Value::Str(text.to_owned())),
        Some("int") => Some(plain()).filter(|v| matches!(v, Value::Int(_))).ok_or("a whole number"),
        Some("float") => {
            Some(plain()).filter(|v| matches!(v, Value::Float(_) | Value::Int(_))).ok_or("a number")
        }
        Some("bool") => Some(plain()).filter(|v| matches!(v, Value::Bool(_))).ok_or("true or false"),
        Some("null") => Some(plain()).filter(|v| matches!(v, Value::Null)).ok_or("nothing"),
        _ if style == ScalarStyle::Plain => Ok(plain()),
        _ => Ok(Value::Str(text.to_owned())),
    }
}

fn wrong_tag(promised: &str, place: Place) -> Finding {
    Finding::error(RULE, place, format!("the tag promises {promised}, but the value is not that"))
        .help("remove the tag, or correct the value")
}
