//! What a process changed in its view beside the files of its work: in the repository, beside the workspace, at home.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use seriatim_core::world::Effect;

/// Names that no list of effects needs more of.
const NAMED_MAX: usize = 20;

/// Gathers effects from paths.
#[derive(Debug, Default)]
pub(super) struct Effects {
    hooks: BTreeSet<String>,
    config: bool,
    info: BTreeSet<String>,
    references: BTreeSet<String>,
    index: bool,
    stash: bool,
    beside: BTreeSet<String>,
    home: u64,
}

impl Effects {
    /// Takes in a path of the git folder, relative to it. What git itself rewrites at any time is no effect.
    pub(super) fn git(&mut self, path: &str) {
        let path = within_worktree(path);
        match path.split_once('/') {
            Some(("hooks", name)) => drop(self.hooks.insert(name.to_owned())),
            Some(("info", name)) => drop(self.info.insert(name.to_owned())),
            Some(("refs", "stash")) => self.stash = true,
            Some(("refs", _)) => drop(self.references.insert(path.to_owned())),
            None if path == "HEAD" || path == "packed-refs" => drop(self.references.insert(path.to_owned())),
            None if path == "config" || path == "config.worktree" => self.config = true,
            None if path == "index" => self.index = true,
            _ => {}
        }
    }

    /// Takes in a repository inside of the work, which was made or changed.
    pub(super) fn repository(&mut self, path: &str) {
        self.references.insert(path.to_owned());
    }

    pub(super) fn beside(&mut self, path: &str) {
        self.beside.insert(path.to_owned());
    }

    pub(super) fn home(&mut self) {
        self.home += 1;
    }

    pub(super) fn list(self) -> Vec<Effect> {
        let some = |names: BTreeSet<String>, make: fn(Vec<String>) -> Effect| {
            (!names.is_empty()).then(|| make(names.into_iter().take(NAMED_MAX).collect()))
        };
        [
            some(self.hooks, |names| Effect::Hooks { names }),
            self.config.then_some(Effect::Config),
            some(self.info, |names| Effect::Info { names }),
            some(self.references, |names| Effect::References { names }),
            self.index.then_some(Effect::Index),
            self.stash.then_some(Effect::Stash),
            some(self.beside, |paths| Effect::Beside { paths }),
            (self.home > 0).then_some(Effect::HomeFolder { files: self.home }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Brings the effects of several attempts together, one of each kind.
pub(super) fn join(lists: impl IntoIterator<Item = Effect>) -> Vec<Effect> {
    let mut by_kind: BTreeMap<u8, Effect> = BTreeMap::new();
    for effect in lists {
        let kind = match &effect {
            Effect::Hooks { .. } => 0,
            Effect::Config => 1,
            Effect::Info { .. } => 2,
            Effect::References { .. } => 3,
            Effect::Index => 4,
            Effect::Stash => 5,
            Effect::Beside { .. } => 6,
            Effect::HomeFolder { .. } => 7,
        };
        match by_kind.get_mut(&kind) {
            None => drop(by_kind.insert(kind, effect)),
            Some(known) => add(known, effect),
        }
    }
    by_kind.into_values().collect()
}

fn add(known: &mut Effect, more: Effect) {
    match (known, more) {
        (Effect::Hooks { names }, Effect::Hooks { names: more })
        | (Effect::Info { names }, Effect::Info { names: more })
        | (Effect::References { names }, Effect::References { names: more })
        | (Effect::Beside { paths: names }, Effect::Beside { paths: more }) => {
            let fresh: Vec<String> = more.into_iter().filter(|name| !names.contains(name)).collect();
            names.extend(fresh);
            names.truncate(NAMED_MAX);
        }
        (Effect::HomeFolder { files }, Effect::HomeFolder { files: more }) => *files = (*files).max(more),
        (known, more) => debug_assert!(*known == more, "effects are brought together by their kind"),
    }
}

/// A linked worktree has its own folder below `worktrees/NAME`, which holds the same files.
fn within_worktree(path: &str) -> &str {
    match path.strip_prefix("worktrees/").and_then(|rest| rest.split_once('/')) {
        Some((_, inside)) => inside,
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_to_the_repository_is_named() {
        let mut effects = Effects::default();
        for path in [
            "hooks/pre-commit",
            "config",
            "info/exclude",
            "refs/heads/main",
            "index",
            "refs/stash",
            "objects/ab/cd",
        ] {
            effects.git(path);
        }
        effects.git("worktrees/other/HEAD");
        let list = effects.list();
        assert_eq!(
            list,
            [
                Effect::Hooks { names: vec!["pre-commit".into()] },
                Effect::Config,
                Effect::Info { names: vec!["exclude".into()] },
                Effect::References { names: vec!["HEAD".into(), "refs/heads/main".into()] },
                Effect::Index,
                Effect::Stash,
            ]
        );
        assert_eq!(join(list.clone().into_iter().chain(list.clone())), list);
    }
}
