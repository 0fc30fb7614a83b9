//! What flows ask of the repository.

use serde::Deserialize;
use serde::Serialize;

use super::Check;
use super::Text;

/// What is asked of the repository. `tree` is the working tree that is meant, relative to the workspace; empty means
/// the workspace itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "git", rename_all = "snake_case")]
pub enum GitCall {
    /// Where it stands.
    Stand {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tree: String,
    },
    /// What differs between a tree or commit and the files as they are.
    /// Paths in `apart` do not count: those that end in `/` with all that is below them.
    Changes {
        since: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        apart: Vec<String>,
        limit_bytes: u64,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tree: String,
    },
    /// Files as they were in a tree or commit.
    Show {
        at: String,
        paths: Vec<String>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tree: String,
    },
    /// What differs between two commits.
    Between {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        to: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tree: String,
    },
    /// The tree that a base would be with some files of a view in it.
    ViewTree {
        view: String,
        base: String,
        paths: Vec<String>,
        /// Files that were merged before and are not committed: they count as the workspace has them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        merged: Vec<String>,
    },
    /// What differs between two trees or commits, with the text of the difference.
    Compare {
        from: String,
        to: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        apart: Vec<String>,
        limit_bytes: u64,
    },
    /// Brings work where it belongs. The tree must be the one that was approved.
    Deliver(Delivery),
    /// Commits some files and nothing else.
    Commit(Checkpoint),
    /// Has the user's hooks look at what would be committed, in a view of it. A refusal is a failure of the class
    /// [`Denied`](seriatim_core::failure::Class::Denied).
    Hooks(HookRun),
    /// Makes a working tree on a branch of its own.
    OpenTree {
        tree: String,
        branch: String,
        base: String,
        /// The one that an earlier run left is wanted as it is. Where it is not whole, nothing is made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        resume: bool,
    },
    /// Takes a working tree away; its branch goes when `merged` says that nothing of it would be lost.
    CloseTree { tree: String, branch: String, merged: bool },
    /// Brings what the workspace's branch has by now into the branch of a working tree.
    CatchUp { tree: String, message: String },
    /// Moves the workspace's branch to where the branch of a working tree is, which holds all of it.
    Advance { branch: String },
    /// Sends the branch to its remote.
    Push,
}

/// Where a repository stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stand {
    pub head: Option<String>,
    pub branch: Option<String>,
    /// The tree that the files as they are would make.
    pub tree: String,
    pub remote: Option<String>,
}

/// One file that differs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    pub kind: String,
    pub added: u64,
    pub deleted: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
}

/// What differs, with the text of the difference as far as it fits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    pub files: Vec<FileChange>,
    pub diff: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Credentials that the change brings in, by place and kind. They are found in the diff as it is, since in what a
    /// flow sees of it they are redacted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaks: Vec<String>,
    /// Those that a comment on their line declares to be none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waived: Vec<String>,
}

/// How work is brought home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Commit,
    Merge,
    Squash,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    pub how: How,
    pub message: String,
    pub trailers: Vec<(String, String)>,
    pub paths: Vec<String>,
    /// The tree that was approved.
    pub tree: String,
    /// Folders of the engine's own papers, which may differ from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
    /// The branch for a merge.
    pub branch: String,
    pub push: bool,
    /// Where the work began: the commit is made there or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onto: Option<CommitBase>,
}

/// The commit on which another one is to be made, and the branch that is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitBase {
    /// Nothing before the first commit.
    pub head: Option<String>,
    /// Nothing when no branch is checked out.
    pub branch: Option<String>,
}

impl CommitBase {
    /// Returns where a repository stands.
    pub fn of(stand: &Stand) -> CommitBase {
        CommitBase { head: stand.head.clone(), branch: stand.branch.clone() }
    }

    /// Returns it as people call it.
    pub fn in_words(&self) -> String {
        let commit = match &self.head {
            Some(head) => format!("commit {}", head.get(..12).unwrap_or(head)),
            None => "no commit at all".to_owned(),
        };
        match &self.branch {
            Some(branch) => format!("{commit} of the branch {branch}"),
            None => commit,
        }
    }

    /// Returns the command that checks it out again.
    pub fn way_back(&self) -> String {
        match &self.branch {
            Some(branch) => format!("git switch {branch}"),
            None => format!("git switch --detach {}", self.head.as_deref().unwrap_or("HEAD")),
        }
    }
}

/// What the user's hooks are to look at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HookRun {
    pub message: String,
    /// Files of the change: they are staged where the hooks run.
    pub paths: Vec<String>,
    /// The view in which they run.
    pub check: Check,
    /// The view that takes what they change; absent means the files themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// Files of the engine's own, of which nothing is taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<String>,
    /// They may change no other files than those of the change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bounded: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tree: String,
}

/// What the user's hooks did, where they do not refuse.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hooked {
    /// Whether the repository has such hooks at all.
    pub ran: bool,
    /// The message as they left it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Files that they changed, and that are part of the change now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Delivered {
    pub commit: String,
    pub pushed: bool,
}

/// Files to commit: these and no others, whatever else is staged or changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub message: String,
    /// The engine adds its own, by which the commit is found again.
    pub trailers: Vec<(String, String)>,
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tree: String,
    /// It is made even where no file differs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_be_empty: bool,
    /// The tree from which the files are taken; empty means the files as they are.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seen: String,
    /// Files of the engine's own among them, which are taken as they are in any case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<String>,
    /// Where the work stands: the commit is made there or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onto: Option<CommitBase>,
}

/// A commit that was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Committed {
    pub commit: String,
    /// The files that it holds.
    pub paths: Vec<String>,
}

/// A working tree or a copy of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreePlace {
    /// What requests call it; paths inside of it begin with it.
    pub name: String,
    /// Where people find it.
    pub path: String,
    /// It is as an earlier run left it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resumed: bool,
}

/// What came of bringing branches together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CaughtUp {
    /// Whether there was anything to bring in.
    pub moved: bool,
    /// Files in which both sides changed the same place. Then nothing was brought in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

/// Files as they were; nothing where there was no such text.
pub type Shown = Vec<Option<Text>>;
