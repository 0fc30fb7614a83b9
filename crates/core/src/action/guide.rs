//! A role's guide, `agents/<role>/SKILL.md` (OC-07, OC-08): front matter, and the text that goes into its brief as it
//! is.

use super::markdown;
use super::placeholders;
use crate::doc;
use crate::doc::Fields;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::finding::Place;
use crate::finding::Severity;
use crate::finding::has_errors;

/// What a guide says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleGuide {
    /// The name in its front matter, which need not be the role's.
    pub name: String,
    pub description: String,
    pub compatibility: Vec<String>,
    pub allowed_tools: Vec<String>,
    pub version: Option<String>,
    /// Everything behind the front matter.
    pub body: String,
}

impl RoleGuide {
    /// Reads a guide for the role's work, which takes its body as it is: what is wrong with descriptive fields is a
    /// warning. Nothing comes back where there is no body, or front matter that cannot be told from it.
    pub fn read_for_work(text: &str) -> (Option<RoleGuide>, Vec<Finding>) {
        let (guide, mut findings, fields) = RoleGuide::read_parts(text);
        let usable = !has_errors(&findings);
        findings.extend(fields.into_iter().map(|finding| Finding { severity: Severity::Warning, ..finding }));
        doc::sort(&mut findings);
        (usable.then_some(guide), findings)
    }

    /// Reads a guide as far as it can be read, and says everything that is wrong with it.
    pub fn read(text: &str) -> (RoleGuide, Vec<Finding>) {
        let (guide, mut findings, fields) = RoleGuide::read_parts(text);
        findings.extend(fields);
        doc::sort(&mut findings);
        (guide, findings)
    }

    /// Returns the guide, what is wrong with the whole, and what is wrong with fields of its front matter.
    fn read_parts(text: &str) -> (RoleGuide, Vec<Finding>, Vec<Finding>) {
        let mut findings: Vec<Finding> = doc::unclosed_front_matter(text).into_iter().collect();
        let mut wrong_fields = vec![];
        let mut guide = RoleGuide::default();
        match doc::front_matter(text) {
            Some((yaml, body)) => {
                guide.body = text.get(body..).unwrap_or_default().trim().to_owned();
                let (root, more) = placeholders::parse(text.get(..yaml.end).unwrap_or_default());
                findings.extend(more);
                let sink = Sink::default();
                if let Some(fields) = root.as_ref().and_then(|root| Fields::of(root, "a role guide", &sink)) {
                    guide.front_matter(fields);
                }
                wrong_fields = sink.into_findings();
            }
            None => {
                guide.body = text.trim_start_matches('\u{FEFF}').trim().to_owned();
                let finding = Finding::warning("front-matter", Place::TOP, "the guide has no front matter");
                findings
                    .push(finding.help("begin it with `name:` and `description:` between two lines of ---"));
            }
        }
        if guide.body.is_empty() {
            let finding = Finding::error("empty", Place::TOP, "the guide says nothing about the role");
            findings.push(finding.help("describe what the role does, and what it does not"));
        }
        (guide, findings, wrong_fields)
    }

    fn front_matter(&mut self, mut fields: Fields<'_>) {
        self.name = fields.required_text("name").value;
        self.description = fields.required_text("description").value;
        self.compatibility = fields.lines("compatibility").into_iter().map(|at| at.value).collect();
        let mut tools = fields.lines("allowed-tools");
        self.version = fields.text("version").map(|version| version.value);
        if let Some(mut metadata) = fields.map("metadata", "`metadata`") {
            tools.extend(metadata.lines("allowed-tools"));
            self.version = metadata.text("version").map(|version| version.value).or(self.version.take());
        }
        self.allowed_tools = tools.iter().flat_map(|tool| split_tools(tool)).collect();
        fields.ignore(&["license", "author", "tags", "last_updated", "model", "tools", "color"]);
        fields.finish();
    }

    /// The lists under `### In Scope` and `### Out of Scope`, which a role is held to as written (OC-08).
    pub fn scope(&self) -> (Vec<&str>, Vec<&str>) {
        let list = |title| {
            markdown::section(&self.body, title)
                .map(|section| markdown::bullets(section.body))
                .unwrap_or_default()
        };
        (list("In Scope"), list("Out of Scope"))
    }
}

/// `Read Bash(python:*)`, split at blanks outside of parentheses.
fn split_tools(text: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c.is_whitespace() || c == ',')
    });
    parts.filter(|tool| !tool.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = "---\nname: reviewing-security\ndescription: \"Reviews.\"\ncompatibility: [\"contract\"]\nmetadata:\n  \
                         allowed-tools: \"Read Bash(sh -c:*) Edit\"\n  version: \"2.1.0\"\n---\n\n# Security\n\n## Scope\n### In Scope\n\
                         - Threats\n### Out of Scope\n- Style\n";

    #[test]
    fn oc_07_a_guide_is_read_with_its_front_matter() {
        let (guide, findings) = RoleGuide::read(GUIDE);
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(guide.name, "reviewing-security");
        assert_eq!(guide.allowed_tools, ["Read", "Bash(sh -c:*)", "Edit"]);
        assert_eq!(guide.version.as_deref(), Some("2.1.0"));
        assert!(guide.body.starts_with("# Security"));
    }

    #[test]
    fn oc_08_scope_and_boundaries_are_as_written() {
        let (guide, _) = RoleGuide::read(GUIDE);
        assert_eq!(guide.scope(), (vec!["Threats"], vec!["Style"]));
    }

    #[test]
    fn oc_21_what_is_wrong_with_a_guide_is_told_with_its_line() {
        let said = |text: &str| -> Vec<String> {
            RoleGuide::read(text)
                .1
                .iter()
                .map(|f| format!("{} {} {}", f.severity, f.place.line, f.rule))
                .collect()
        };
        assert_eq!(said("# Role\ntext\n"), ["warning 1 front-matter"]);
        assert_eq!(said("---\nname: x\n---\ntext\n"), ["error 2 missing-field"]);
        assert_eq!(said("---\nname: x\ndescription: [\n---\ntext\n").len(), 1);
        assert_eq!(said("---\nname: x\ndescription: y\n---\n"), ["error 1 empty"]);
        assert_eq!(
            said(""),
            ["warning 1 front-matter", "error 1 empty"]
                .map(str::to_owned)
                .into_iter()
                .rev()
                .collect::<Vec<_>>()
        );
    }
}
