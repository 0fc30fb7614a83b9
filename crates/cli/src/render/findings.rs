//! Findings: a picture of the place for people, plain fields for machines.

use std::io::Write;

use annotate_snippets::AnnotationKind;
use annotate_snippets::Group;
use annotate_snippets::Level;
use annotate_snippets::Renderer;
use annotate_snippets::Snippet;
use serde::Serialize;
use seriatim_core::finding::Finding;
use seriatim_core::finding::Severity;

/// A finding as `check --json` prints it.
#[derive(Serialize, Debug, Clone)]
pub(crate) struct Plain<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<&'a str>,
    pub(crate) rule: &'a str,
    pub(crate) severity: Severity,
    pub(crate) message: &'a str,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) help: Option<&'a str>,
}

impl<'a> Plain<'a> {
    pub(crate) fn of(finding: &'a Finding, path: Option<&'a str>) -> Plain<'a> {
        Plain {
            path,
            rule: &finding.rule,
            severity: finding.severity,
            message: &finding.message,
            line: finding.place.line,
            column: finding.place.column,
            help: finding.help.as_deref(),
        }
    }
}

/// A picture of each finding, one after the other.
pub(crate) fn picture(path: &str, text: &str, findings: &[Finding]) -> String {
    let renderer = Renderer::styled();
    let mut out = String::new();
    for finding in findings {
        let level = match finding.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let (start, end) = span(text, finding);
        let snippet = Snippet::source(text).path(path).annotation(AnnotationKind::Primary.span(start..end));
        let title = level.primary_title(&finding.message).id(&finding.rule);
        let mut group = Group::with_title(title).element(snippet);
        if let Some(help) = &finding.help {
            group = group.element(Level::HELP.message(help));
        }
        out.push_str(&renderer.render(&[group]));
        out.push_str("\n\n");
    }
    out
}

/// The bytes that a picture marks: at least one character, never beyond the text, never across a line.
fn span(text: &str, finding: &Finding) -> (usize, usize) {
    let floor = |mut i: usize| {
        i = i.min(text.len());
        while !text.is_char_boundary(i) {
            i -= 1;
        }
        i
    };
    let start = floor(finding.place.start as usize);
    let line_end = text[start..].find('\n').map_or(text.len(), |n| start + n);
    let end = floor(finding.place.end as usize).clamp(start, line_end.max(start));
    (start, end)
}

/// Shows findings as talk.
pub(crate) fn to_stderr(path: &str, text: &str, findings: &[Finding]) {
    let _ = write!(anstream::stderr(), "{}", picture(path, text, findings));
}
