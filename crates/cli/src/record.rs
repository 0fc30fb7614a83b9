//! Records that people and agents make by hand: each gets a second of its own as its id, and a file.

use serde_json::json;
use seriatim_core::closest::closest;
use seriatim_core::doc::Vocabulary;
use seriatim_core::process::graph::GRAPH;
use seriatim_core::process::log::record_path;
use seriatim_core::projection::Image;
use seriatim_core::redact::Redactor;
use seriatim_core::time::Utc;
use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Expect;
use seriatim_engine::hands::files::FileError;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::Kind;
use seriatim_engine::hands::files::Write;
use seriatim_engine::hands::paths;

use crate::args::Context;
use crate::error::CommandError;
use crate::error::Result;
use crate::exit::Exit;
use crate::workspace::Workspace;
use crate::workspace::now;

/// How far ahead of now a free second is looked for: a day.
const SECONDS_MAX: u32 = 86_400;

/// A record as it is written.
pub(crate) struct Page {
    pub(crate) text: String,
    /// Its node and its edge, for workspaces with a context graph.
    pub(crate) graph: [Image; 2],
}

/// The records of a workspace.
pub(crate) struct Book {
    root: paths::Workspace,
    redactor: Redactor,
}

impl Book {
    pub(crate) fn open(context: &Context) -> Result<Book> {
        let workspace = Workspace::open(context)?;
        let root = paths::Workspace::new(&workspace.root).map_err(|e| CommandError::usage(e.to_string()))?;
        Ok(Book { root, redactor: workspace.redactor()? })
    }

    pub(crate) fn now(&self) -> Utc {
        now()
    }

    /// A text without secrets.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.redactor.clean(text).into_owned()
    }

    /// Tags as they are typed, separated by commas.
    pub(crate) fn tags(&self, text: &str) -> Vec<String> {
        self.clean(text).split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
    }

    /// Writes a record under the next free second and says its id. The file itself is what reserves the id: of two
    /// processes only one can create it.
    pub(crate) fn enter(&self, context: &Context, prefix: &str, page: impl Fn(&str) -> Page) -> Result<Exit> {
        let mut at = self.now();
        for _ in 0..SECONDS_MAX {
            let id = format!("{prefix}-{}", at.compact());
            let (path, written) = (record_path(&id), page(&id));
            match self.create(&path, &written.text) {
                Ok(()) => {
                    self.enter_in_graph(context, &written.graph);
                    context.ui.document(&json!({"id": id, "path": path}));
                    context.ui.say(id);
                    return Ok(Exit::Good);
                }
                Err(FileError::Changed { .. }) => at = at.plus_ms(1000),
                Err(error @ FileError::NoSpace { .. }) => {
                    return Err(CommandError::not_good(format!("the record cannot be written: {error}")));
                }
                Err(error) => {
                    return Err(CommandError::usage(format!("the record cannot be written: {error}")));
                }
            }
        }
        Err(CommandError::usage("every second of the next day has a record already"))
    }

    fn create(&self, path: &str, text: &str) -> std::result::Result<(), FileError> {
        let place = self.root.resolve(path)?;
        Disk.write(&place, text.as_bytes(), Write::DURABLE.expecting(Expect::Absent)).map(|_| ())
    }

    /// The record stands by now; a graph that cannot be written is no reason to make it again.
    fn enter_in_graph(&self, context: &Context, images: &[Image; 2]) {
        let folder = self.root.resolve(GRAPH).and_then(|place| Disk.look(&place));
        if !folder.is_ok_and(|entry| entry.is_some_and(|e| e.kind == Kind::Directory)) {
            return;
        }
        for image in images {
            if let Err(error) = self.create(&image.path, &image.text) {
                context.ui.warn(format!("the record was made, but the context graph lacks it: {error}"));
            }
        }
    }
}

/// A word of a closed set, to the letter.
pub(crate) fn word<V: Vocabulary>(given: &str) -> Result<V> {
    if let Some((_, value)) = V::WORDS.iter().find(|(word, _)| *word == given) {
        return Ok(*value);
    }
    let known = || V::WORDS.iter().map(|(word, _)| *word);
    let error = CommandError::usage(format!("`{given}` is not {}; nothing was recorded", V::WHAT));
    Err(match closest(given, known()) {
        Some(word) => error.hint(format!("did you mean `{word}`?")),
        None => error.hint(format!("known are {}", known().collect::<Vec<_>>().join(", "))),
    })
}

/// A text that a record is nothing without.
pub(crate) fn required(name: &str, text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(CommandError::usage(format!("{name} is empty; nothing was recorded")));
    }
    Ok(())
}
