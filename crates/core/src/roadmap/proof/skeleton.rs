//! The walking skeleton: acceptance tests go through the entry point and not past it (DW-60, CM-D).

mod imports;

use super::Objection;
use super::Rule;
use imports::Import;

/// Whether an acceptance test goes through the entry point. An objection where an entry point is set and the test does
/// not use it, or imports a component of the step directly; without an entry point a note at most.
///
/// The entry point is a path (`src/kettle/app.py`), a module (`kettle.app`, `kettle.app:main`) or a word that a test
/// which goes through it holds, such as the name of a program.
pub fn walking_skeleton(
    test_path: &str,
    text: &str,
    entry_point: Option<&str>,
    components: &[String],
) -> Result<Option<String>, Objection> {
    let entry_point = entry_point.map(str::trim).filter(|entry| !entry.is_empty());
    let entry = entry_point.map(Module::of);
    let imports = imports::of(text, test_path);
    let inner = components.iter().filter(|component| is_component(component, test_path));
    let direct = inner.filter(|component| entry.as_ref().is_none_or(|entry| *entry != Module::of(component)));
    let direct = direct.into_iter().find_map(|component| {
        let module = Module::of(component);
        imports.iter().find(|import| module.is_meant(import)).map(|import| (component, &import.written))
    });
    let Some((entry_point, entry)) = entry_point.zip(entry) else {
        return Ok(Some(match direct {
            Some((component, line)) => format!(
                "{test_path} imports {component} directly (`{line}`); an acceptance test should go through the entry \
                 point of the system"
            ),
            None => format!(
                "whether {test_path} goes through the entry point is not known: `entry_point` is not set in [roadmap]"
            ),
        }));
    };
    if let Some((component, line)) = direct {
        let message = format!(
            "Wiring gap: {test_path} imports the component {component} directly (`{line}`). An acceptance test goes \
             through the entry point `{entry_point}`, so that it shows that the component is wired into the system."
        );
        return Err(Objection::new(Rule::WalkingSkeleton, message));
    }
    let imported = imports.iter().any(|import| entry.is_meant(import));
    if imported || imports::code(text, test_path).any(|line| entry.is_named(line, entry_point)) {
        return Ok(None);
    }
    let message = format!(
        "Wiring gap: {test_path} does not use the entry point `{entry_point}`. Let the acceptance test start there, as \
         the users of the system do."
    );
    Err(Objection::new(Rule::WalkingSkeleton, message))
}

/// Whether a file of the step is a piece of the product that a test could import: no test, no folder, no pattern.
fn is_component(path: &str, test_path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let of_tests = path.split(['/', '\\']).any(|part| ["tests", "test", "__tests__", "spec"].contains(&part))
        || name.starts_with("test_")
        || ["_test.", ".test.", ".spec."].iter().any(|end| name.contains(end));
    let is_file = imports::has_source_extension(name);
    path != test_path && is_file && !of_tests && !path.contains(['*', '?', '['])
}

/// Where a piece of code is, however a language writes that.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Module {
    /// Folders and name, without the extension; a file that stands for its folder is the folder.
    path: Vec<String>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// Sources under `src` are modules of a crate, whose name is not known here.
    Rust,
    /// The program of a crate, which tests start by its binary.
    RustProgram,
    /// The face of a crate: what tests use of it by its bare name.
    RustLibrary,
    /// The folder is the package.
    Go,
}

/// Files that stand for the folder they lie in.
const FOLDER_FILES: [&str; 4] = ["__init__", "mod", "index", "__main__"];

impl Module {
    fn of(written: &str) -> Module {
        let name = written.trim().trim_start_matches("./").replace('\\', "/");
        let file = imports::has_source_extension(&name);
        let kind = match () {
            () if name.ends_with("main.rs") || name.contains("src/bin/") => Kind::RustProgram,
            () if name.ends_with("src/lib.rs") => Kind::RustLibrary,
            () if name.ends_with(".rs") => Kind::Rust,
            () if name.ends_with(".go") => Kind::Go,
            () => Kind::Plain,
        };
        let name = name.split(':').next().unwrap_or_default();
        let mut path: Vec<String> = match file {
            true => {
                let bare = name.rsplit_once('.').map_or(name, |(bare, _)| bare);
                bare.split('/').map(str::to_owned).collect()
            }
            false => name.split(['.', '/']).map(str::to_owned).collect(),
        };
        path.retain(|part| !part.is_empty() && part != "..");
        if kind == Kind::Rust
            && let Some(at) = path.iter().rposition(|part| part == "src")
        {
            path.drain(..=at);
        }
        let is_folder = path.last().is_some_and(|last| FOLDER_FILES.contains(&last.as_str()));
        if path.len() > 1 && (is_folder || kind == Kind::Go) {
            path.pop();
        }
        Module { path, kind }
    }

    /// Whether an import means this module. The path of a file may begin with folders that are no part of its name, so
    /// its end decides.
    fn is_meant(&self, import: &Import) -> bool {
        if self.path.is_empty() {
            return false;
        }
        match self.kind {
            Kind::Plain => self.path.ends_with(&import.path),
            Kind::Go => import.path.ends_with(&self.path),
            Kind::Rust => import.path.get(1..).is_some_and(|rest| rest.starts_with(&self.path)),
            Kind::RustProgram => false,
            Kind::RustLibrary => {
                let own = |first: &String| {
                    !["std", "core", "alloc", "crate", "super", "self"].contains(&first.as_str())
                };
                import.path.first().is_some_and(own)
            }
        }
    }

    /// Whether a line names it in another way than by an import: as it is configured, as a path, as a module, or as the
    /// file alone, such as in the arguments of a program that is started.
    fn is_named(&self, line: &str, written: &str) -> bool {
        let by_binary = ["CARGO_BIN_EXE", "cargo_bin"].iter().any(|word| line.contains(word));
        if self.kind == Kind::RustProgram && by_binary || imports::has_word(line, written) {
            return true;
        }
        let from = usize::from(self.path.len() > 1 && self.path.first().is_some_and(|first| first == "src"));
        let name = self.path.get(from..).unwrap_or_default();
        let long =
            name.len() > 1 && ["/", ".", "::"].iter().any(|sign| imports::has_word(line, &name.join(sign)));
        let file = written.rsplit('/').next().filter(|name| imports::has_source_extension(name));
        long || file.is_some_and(|file| imports::has_word(line, file))
    }
}
