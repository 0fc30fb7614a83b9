//! One place turns what went wrong into text, hint and exit code.

use seriatim_engine::drive::Error as DriveError;
use seriatim_journal::Error as JournalError;

use crate::aside;
use crate::exit::Exit;

/// What a command could not do.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
}

pub(crate) type Result<T> = std::result::Result<T, CommandError>;

impl CommandError {
    /// The user's words, files or configuration are at fault; nothing was changed.
    pub(crate) fn usage(message: impl Into<String>) -> CommandError {
        CommandError { exit: Exit::Usage, message: message.into(), hints: vec![] }
    }

    /// The work was done and did not end well.
    pub(crate) fn not_good(message: impl Into<String>) -> CommandError {
        CommandError { exit: Exit::NotGood, ..CommandError::usage(message) }
    }

    pub(crate) fn held(message: impl Into<String>) -> CommandError {
        CommandError { exit: Exit::Held, ..CommandError::usage(message) }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> CommandError {
        self.hints.push(hint.into());
        self
    }
}

impl From<JournalError> for CommandError {
    fn from(error: JournalError) -> CommandError {
        let message = error.to_string();
        match &error {
            JournalError::NoSpace { .. } => CommandError::not_good(message)
                .hint("nothing that was recorded is lost; make room, then continue with `seriatim resume`"),
            JournalError::ReadOnly { .. } => CommandError::usage(message)
                .hint("make the folder writable, or name another workspace with --workspace"),
            JournalError::Exposed { path, .. } => CommandError::usage(message).hint(format!(
                "look whether others changed anything in it, then:  chmod 700 {}",
                path.display()
            )),
            JournalError::OtherOwner { path, .. } => CommandError::usage(message).hint(format!(
                "run as that user, or take the folder over:  sudo chown -R \"$(id -un)\" {}",
                path.display()
            )),
            JournalError::Link { path } => CommandError::usage(message)
                .hint(format!("put the folder or file itself there:  rm {}", path.display())),
            JournalError::Lost { .. } => CommandError::not_good(message).hint(aside::WHAT_TO_DO),
            JournalError::Damaged { .. } | JournalError::Broken { .. } => {
                CommandError::not_good(message).hint("`seriatim verify` names what is damaged")
            }
            JournalError::SubjectBusy { holder: Some(holder), run, .. } => {
                CommandError::held(format!("this work is under way already, as run {run}, held by {holder}"))
                    .hint("wait for it, or stop it there")
            }
            JournalError::SubjectBusy { run, .. } => {
                CommandError::usage(message).hint(format!("continue it with `seriatim resume {run}`"))
            }
            JournalError::Fenced { holder, .. } => {
                let by = holder.as_ref().map(|h| format!(": {h}")).unwrap_or_default();
                CommandError::held(format!("{message}{by}"))
            }
            JournalError::NoSuchRun { .. } => {
                CommandError::usage(message).hint("`seriatim status` lists the runs of this workspace")
            }
            JournalError::AmbiguousRun { .. } => {
                CommandError::usage(message).hint("type a few more characters")
            }
            JournalError::NoSuchCall { closest, .. } => {
                let hint = match closest {
                    Some(id) => format!("did you mean `{id}`? `seriatim inbox` lists what is open"),
                    None => "`seriatim inbox` lists what is open".to_owned(),
                };
                CommandError::usage(message).hint(hint)
            }
            JournalError::Busy { .. } => CommandError::not_good(message).hint("try again in a moment"),
            _ => CommandError::usage(message),
        }
    }
}

impl From<DriveError> for CommandError {
    fn from(error: DriveError) -> CommandError {
        match error {
            DriveError::Journal(error) => error.into(),
            DriveError::UnknownFlow { .. } => CommandError::not_good(error.to_string())
                .hint("use the version of seriatim that started it, or a newer one"),
            DriveError::Unwritable(_) | DriveError::Unrecordable(_) => {
                CommandError::not_good(error.to_string())
            }
            DriveError::StoreLost { path, unrecorded } => aside::keep(&path, &unrecorded),
            DriveError::Unreadable { .. } => {
                CommandError::not_good(error.to_string()).hint("`seriatim verify` tells more")
            }
        }
    }
}
