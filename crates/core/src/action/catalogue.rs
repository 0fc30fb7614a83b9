//! `agents/actions/README.md`: which actions there are (OC-05).

use super::markdown;
use crate::finding::Finding;
use crate::finding::Place;
use crate::prompt::outline::lines;

/// Where the catalogue lies.
pub const PATH: &str = "agents/actions/README.md";

/// The actions of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalogue {
    pub entries: Vec<Entry>,
}

/// One action in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// Where its definition lies, from the workspace on.
    pub doc: String,
    pub description: String,
    pub line: u32,
}

impl Catalogue {
    /// Reads the catalogue: entries of lists and rows of tables that link to a file beside it. The first entry of an
    /// action counts; later ones refer to it.
    pub fn read(text: &str) -> (Catalogue, Vec<Finding>) {
        let mut catalogue = Catalogue::default();
        for line in lines(text).filter(|line| !line.fenced) {
            let is_entry = line.text.trim_start().starts_with(['-', '*', '+', '|']);
            let Some(entry) = is_entry.then(|| entry(line.text, line.number)).flatten() else { continue };
            if !catalogue.entries.iter().any(|known| known.name == entry.name) {
                catalogue.entries.push(entry);
            }
        }
        let mut findings = vec![];
        if catalogue.entries.is_empty() {
            findings.push(
                Finding::warning("no-actions", Place::TOP, "the catalogue lists no action")
                    .help("list each one like this: - **[plan](./plan.md)** - what it is for"),
            );
        }
        (catalogue, findings)
    }

    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

fn entry(line: &str, number: u32) -> Option<Entry> {
    let link = markdown::links(line).into_iter().find_map(|link| {
        let target = link.target.strip_prefix("./").unwrap_or(link.target);
        let name = target.strip_suffix(".md")?;
        let beside = !name.is_empty() && !name.contains(['/', '\\', '#']) && name != "README";
        beside.then(|| (name.to_owned(), link.target))
    });
    let (name, target) = link?;
    let behind = line.split_once(target).map_or("", |(_, behind)| behind);
    let behind = behind.trim_start_matches([')', '*', '`', ' ', '|', '-', '–', '—', ':']);
    // A row of a table goes on with further columns.
    let description = behind.split('|').map(str::trim).find(|words| !words.is_empty()).unwrap_or_default();
    Some(Entry {
        doc: format!("agents/actions/{name}.md"),
        name,
        description: description.to_owned(),
        line: number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn oc_05_actions_are_found_in_lists_and_tables() {
        let text = "# Actions\n\nSee [the rules](../RULES.md).\n\n- **[init](./init.md)** - Bootstrap a project\n\
                    - [plan](plan.md): requirements → architecture\n\n| Action | What |\n|---|---|\n\
                    | [build](./build.md) | All of it |\n\n1. New? Run the [init action](./init.md)\n\
                    - see [guide](docs/guide.md) and [this](README.md)\n```\n- [no](no.md)\n```\n";
        let (catalogue, findings) = Catalogue::read(text);
        assert!(findings.is_empty(), "{findings:?}");
        let entries: Vec<(&str, &str, u32)> = catalogue
            .entries
            .iter()
            .map(|entry| (entry.name.as_str(), entry.description.as_str(), entry.line))
            .collect();
        assert_eq!(
            entries,
            [
                ("init", "Bootstrap a project", 5),
                ("plan", "requirements → architecture", 6),
                ("build", "All of it", 10)
            ]
        );
        assert_eq!(catalogue.entry("plan").unwrap().doc, "agents/actions/plan.md");
    }

    #[test]
    fn oc_05_a_catalogue_without_actions_is_told() {
        let (catalogue, findings) = Catalogue::read("# Actions\n");
        assert!(catalogue.entries.is_empty());
        assert_eq!(findings[0].rule, "no-actions");
    }

    proptest! {
        #[test]
        fn names_are_plain_file_names(text in "[-*| \\[\\]()./a-z#\n]{0,120}") {
            for entry in Catalogue::read(&text).0.entries {
                prop_assert!(!entry.name.contains('/') && !entry.name.is_empty());
            }
        }
    }
}
