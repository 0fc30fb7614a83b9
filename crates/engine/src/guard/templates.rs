//! The templates and phases that a project brings itself: they lie over those that are built in.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use seriatim_core::finding::Severity;
use seriatim_core::prompt::Library;
use seriatim_core::prompt::library::InFile;
use seriatim_core::prompt::library::SCHEMA_FILE;
use seriatim_core::prompt::library::SECTIONS_FILE;
use seriatim_core::prompt::template::SUFFIX;

use crate::hands::files::FileError;
use crate::hands::files::Files;
use crate::hands::paths::Workspace;

/// The largest file that is read.
const READ_BYTES_MAX: u64 = 1 << 20;

/// A folder of templates, read.
pub struct OwnTemplates {
    /// What is built in, with the folder's files over it.
    pub library: Library,
    /// The files by name.
    pub files: BTreeMap<String, String>,
    pub findings: Vec<InFile>,
}

impl OwnTemplates {
    /// Reads the files of `folder` that belong to a library. What else is in it is nobody's concern.
    pub fn read(files: &dyn Files, folder: &Path) -> Result<OwnTemplates, FileError> {
        let mut found = BTreeMap::new();
        for (name, _) in files.list(folder)? {
            if name.ends_with(SUFFIX) || name == SCHEMA_FILE || name == SECTIONS_FILE {
                let text = read_text(files, &folder.join(&name))?;
                found.insert(name, text);
            }
        }
        let (library, findings) = Library::with(&found);
        Ok(OwnTemplates { library, files: found, findings })
    }

    /// What keeps the library from being used: nothing is done with half of the rules.
    pub fn errors(&self) -> impl Iterator<Item = &InFile> {
        self.findings.iter().filter(|found| found.finding.severity == Severity::Error)
    }
}

/// A path that the configuration names, which has to stay inside of the project.
pub fn inside(files: &dyn Files, root: &Path, path: &str) -> Result<PathBuf, FileError> {
    Workspace::new_in(files, root)?.resolve_in(files, Path::new(path))
}

/// The text of a file that the configuration names.
pub fn read_text(files: &dyn Files, path: &Path) -> Result<String, FileError> {
    files.read(path, READ_BYTES_MAX)?.into_text(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hands::disk::Disk;

    // DS-10: the guard and the commands read a project's folder in the same way.
    #[test]
    fn ds_10_only_files_of_a_library_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("note.template.md", b"---\nabstract: true\n---\n# TASK_CONTEXT\nSay it.\n");
        write("logo.png", &[0x89, 0xff, 0xfe]);
        let own = OwnTemplates::read(&Disk, folder.path()).unwrap();
        assert_eq!(own.files.keys().collect::<Vec<_>>(), ["note.template.md"]);
        assert_eq!(own.errors().count(), 0);
        assert!(own.library.template("note").is_some() && own.library.template("execute-step").is_some());
        write(SCHEMA_FILE, b"{\"commands\": {\"/x:y\": {\"level\": \"sometimes\"}}}");
        let broken = OwnTemplates::read(&Disk, folder.path()).unwrap();
        assert_eq!(broken.errors().map(|found| found.file.as_str()).collect::<Vec<_>>(), [SCHEMA_FILE]);
        write("bad.template.md", &[0xff]);
        assert!(matches!(OwnTemplates::read(&Disk, folder.path()), Err(FileError::NotUtf8 { .. })));
    }

    #[test]
    fn what_the_configuration_names_stays_inside() {
        let root = tempfile::tempdir().unwrap();
        assert!(inside(&Disk, root.path(), "house/templates").is_ok());
        assert!(matches!(inside(&Disk, root.path(), "../templates"), Err(FileError::Outside { .. })));
    }
}
