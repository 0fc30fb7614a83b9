//! The context diet: the few documents that a role is given besides its brief (CY-12 to CY-16, CY-29).

use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::docs;
use seriatim_core::cycle::docs::Refused;
use seriatim_core::cycle::facts::CycleFact;

use super::course::Course;
use super::course::read_twice;

/// A longer document is given only as far as this.
const DOCUMENT_BYTES_MAX: usize = 64 << 10;

impl Course<'_> {
    /// Shares the documents of the goal out among the roles. What is refused comes back as sentences, and is on record.
    pub(super) async fn choose_diet(&mut self) -> Vec<String> {
        self.diet.clear();
        let mut paths: Vec<String> = self.goal.docs.iter().filter_map(|name| canonical(name)).collect();
        paths.dedup();
        let folders: Vec<String> = paths.iter().map(|path| split(path).0.to_owned()).collect();
        // Only true files are listed: a link could bring in a document under the name of another (E-39).
        let listed = self.cx.survey(folders, vec![]).await.folders;
        let mut refused = vec![];
        for (path, names) in paths.into_iter().zip(listed) {
            if !names.iter().any(|name| name == split(&path).1) {
                refused.push(format!("`{path}` does not exist, or is a link to something else"));
            } else if let Err(why) = self.put_on_diet(&path) {
                refused.push(why.to_string());
            }
        }
        if !refused.is_empty() {
            self.fact(CycleFact::DocumentsRefused { cycle: self.number, why: refused.clone() });
        }
        refused
    }

    /// A document goes to the role that may read it, as long as that role has room for one more.
    fn put_on_diet(&mut self, path: &str) -> Result<(), Refused> {
        let reader = [Role::Planner, Role::Judge].into_iter().find(|role| docs::allowed(*role, path));
        let Some(role) = reader else { return docs::check(Role::Planner, [path], self.limits.docs) };
        let chosen = self.diet.entry(role).or_default();
        docs::check(role, chosen.iter().map(String::as_str).chain([path]), self.limits.docs)?;
        if !chosen.iter().any(|known| known == path) {
            chosen.push(path.to_owned());
        }
        Ok(())
    }

    /// A prompt with the documents of its role. The Actor has none: the step is all that it is given (CY-14).
    pub(super) async fn with_documents(&self, role: Role, mut prompt: String) -> String {
        for path in self.diet.get(&role).into_iter().flatten() {
            let document = match read_twice(self.cx, path).await {
                Ok(document) => document,
                Err(failure) => {
                    // The role knows what it lacks, and so does everybody who reads the record.
                    let why = format!("`{path}` cannot be read: {}", failure.message);
                    prompt.push_str(&format!("\n## Document {path}\nNot available: {why}\n"));
                    self.fact(CycleFact::DocumentsRefused { cycle: self.number, why: vec![why] });
                    continue;
                }
            };
            let end = document.text.floor_char_boundary(DOCUMENT_BYTES_MAX);
            prompt.push_str(&format!("\n## Document {path}\n{}\n", &document.text[..end]));
        }
        prompt
    }
}

/// The folder and the name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The one path of a document, however a person named it; nothing for what is no document of the diet (E-39).
fn canonical(name: &str) -> Option<String> {
    let path = if name.contains('/') { name.to_owned() } else { format!("{}/{name}", docs::FOLDER) };
    let mut parts: Vec<&str> = vec![];
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    let mut path = parts.join("/");
    let file = path.strip_prefix(docs::FOLDER)?.strip_prefix('/')?;
    if !file.contains('.') {
        path.push_str(".md");
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_39_a_document_has_one_path_however_it_is_named() {
        for name in ["GOALS", "GOALS.md", "docs/agent_docs/GOALS.md", "./docs/x/../agent_docs//GOALS"] {
            assert_eq!(canonical(name).as_deref(), Some("docs/agent_docs/GOALS.md"), "{name}");
        }
        for other in ["src/lib.rs", "../docs/agent_docs/GOALS.md", "docs/agent_docs"] {
            assert_eq!(canonical(other), None, "{other}");
        }
    }
}
