//! A tolerant scan over the tags of an XML text. It knows nothing of well-formedness: a report that was cut off is
//! still read as far as it goes.

/// One tag, or the text between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'x> {
    Open {
        name: &'x str,
        attributes: &'x str,
        empty: bool,
    },
    Close {
        name: &'x str,
    },
    /// Still escaped.
    Text(&'x str),
    /// From a CDATA section: as it stands.
    Verbatim(&'x str),
}

/// The pieces of an XML text in order.
pub(super) struct Pieces<'x> {
    rest: &'x str,
}

pub(super) fn pieces(text: &str) -> Pieces<'_> {
    Pieces { rest: text }
}

impl<'x> Pieces<'x> {
    /// Everything up to `end`, which is taken too; all the rest where it does not come.
    fn until(&mut self, end: &str) -> &'x str {
        match self.rest.split_once(end) {
            Some((inside, rest)) => {
                self.rest = rest;
                inside
            }
            None => std::mem::take(&mut self.rest),
        }
    }
}

impl<'x> Iterator for Pieces<'x> {
    type Item = Piece<'x>;

    fn next(&mut self) -> Option<Piece<'x>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let Some(tag) = self.rest.strip_prefix('<') else {
                let end = self.rest.find('<').unwrap_or(self.rest.len());
                let (text, rest) = self.rest.split_at(end);
                self.rest = rest;
                if text.trim().is_empty() {
                    continue;
                }
                return Some(Piece::Text(text));
            };
            self.rest = tag;
            if let Some(rest) = tag.strip_prefix("![CDATA[") {
                self.rest = rest;
                return Some(Piece::Verbatim(self.until("]]>")));
            }
            if tag.starts_with("!--") {
                self.until("-->");
                continue;
            }
            if tag.starts_with(['?', '!']) {
                self.until(">");
                continue;
            }
            let inside = self.tag();
            if let Some(name) = inside.strip_prefix('/') {
                return Some(Piece::Close { name: name.trim() });
            }
            let empty = inside.ends_with('/');
            let inside = inside.strip_suffix('/').unwrap_or(inside);
            let end = inside.find(|c: char| c.is_whitespace()).unwrap_or(inside.len());
            let (name, attributes) = inside.split_at(end);
            return Some(Piece::Open { name: local(name), attributes, empty });
        }
    }
}

impl<'x> Pieces<'x> {
    /// The inside of a tag. A `>` within quotes does not end it.
    fn tag(&mut self) -> &'x str {
        let mut quote = None;
        for (at, byte) in self.rest.bytes().enumerate() {
            match (quote, byte) {
                (Some(open), byte) if open == byte => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'>') => {
                    let inside = self.rest.get(..at).unwrap_or_default();
                    self.rest = self.rest.get(at + 1..).unwrap_or_default();
                    return inside;
                }
                _ => {}
            }
        }
        std::mem::take(&mut self.rest)
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// The value of an attribute, unescaped.
pub(super) fn attribute(attributes: &str, wanted: &str) -> Option<String> {
    let mut rest = attributes;
    loop {
        let (name, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, tail) = after.get(1..)?.split_once(quote)?;
        if name.trim() == wanted {
            return Some(unescape(value));
        }
        rest = tail;
    }
}

/// The five named references and the numbered ones.
pub(super) fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, reference) = rest.split_at(at);
        plain.push_str(before);
        let end = reference.bytes().take(12).position(|byte| byte == b';');
        match end.and_then(|end| Some((character(reference.get(1..end)?)?, end))) {
            Some((character, end)) => {
                plain.push(character);
                rest = reference.get(end + 1..).unwrap_or_default();
            }
            None => {
                plain.push('&');
                rest = reference.get(1..).unwrap_or_default();
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn character(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}
