//! One agent that tries everything in one attempt, in every dialect, as the superuser and as an ordinary user: what is
//! outside of its view does not move, but for what the flow takes.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use crate::action_support::Workshop;
use crate::cycle::Project as Cycle;
use crate::roadmap_support::Project;
use crate::roadmap_support::SHORT;
use crate::roadmap_support::Step;
use crate::roadmap_support::add;
use crate::roadmap_support::step;
use crate::support::Env;
use crate::support::Output;
use crate::world_support::User;
use crate::world_support::agent;
use crate::world_support::differing;
use crate::world_support::listing;
use crate::world_support::living_with;
use crate::world_support::mounts_with;
use crate::world_support::settle;
use crate::world_support::shared;
use crate::world_support::users;

/// What the engine writes while it works; what it holds is checked by `verify`.
const STORE: &str = ".git/seriatim";

/// `hostile MARK` does everything but the work itself. A place that is not the workspace itself is the agent's own.
const HOSTILE: &str = r#"
export GIT_AUTHOR_NAME=Eve GIT_AUTHOR_EMAIL=eve@example.org GIT_COMMITTER_NAME=Eve GIT_COMMITTER_EMAIL=eve@example.org
place=$PWD
ws=WORKSPACE
top=${ws%/*}
note() { echo "$SERIATIM_STEP $*" >>"$share/notes"; }
wild() {
    echo evil >>"$1/tracked.txt"
    echo evil >"$1/planted.txt"
    mkdir -p "$1/ignored"; echo evil >"$1/ignored/cache"; echo evil >"$1/noise.log"
    chmod 777 "$1/run.sh"
    ln -sf /etc/passwd "$1/leak"
    for file in seriatim.toml instance.yaml process.yaml docs/feature/calc/roadmap.yaml \
        docs/feature/calc/execution-status.yaml agents/agent-map.yaml docs/context/current_cycle.md; do
        [ ! -e "$1/$file" ] || echo '# evil' >>"$1/$file"
    done
}
repository() {
    git commit --quiet --all --message=evil && git commit --quiet --amend --message=worse && note committed
    git checkout --quiet -b evil && git tag -f v1 && git update-ref refs/heads/main HEAD && note branched
    echo more >>tracked.txt; git stash --quiet && note stashed
    git clean -fdxq && note cleaned
    git update-ref refs/heads/planted HEAD
    git update-index --assume-unchanged tracked.txt
    git reflog expire --expire=now --all
    git=$(git rev-parse --git-common-dir)
    mkdir -p "$git/hooks" "$git/info"
    for name in pre-commit post-commit commit-msg post-checkout reference-transaction; do
        printf '#!/bin/sh\necho evil >>%s/tracked.txt\n' "$ws" >"$git/hooks/$name"
        chmod 755 "$git/hooks/$name"
    done
    git config core.hooksPath /tmp/hooks; git config user.name Eve
    printf '[core]\n\tfsmonitor = touch planted\n' >>"$git/config"
    echo '*' >>"$git/info/exclude"; echo '* -diff' >>"$git/info/attributes"
    rm -rf "$git/refs/tags" "$git/packed-refs" "$git/logs"
    note wrote
}
reach() {
    for store in "$ws/.git/seriatim" "$ws/.seriatim" "$top/tmp"; do
        [ ! -e "$store/journal.db" ] || note "journal at $store"
        [ ! -e "$store/worlds" ] || note "layers named at $store"
        rm -rf "$store"/journal* "$store"/holders "$store"/attempts "$store"/seriatim-*
        case $place/ in "$store"/*) ;; *) rm -rf "$store"; mv "$store" "$store.away" ;; esac
        echo evil >"$store/journal.db"
    done 2>/dev/null
    echo evil >"$top/home/.profile"; echo evil >"$HOME/.gitconfig"
    find / -xdev -name journal.db -size +0 2>/dev/null | while read -r path; do note "journal at $path"; done
    umount "$ws/.git/seriatim" "$ws" /tmp 2>/dev/null && note unmounted
    mount -o remount,rw / 2>/dev/null && note remounted
    unshare -Urm sh -c 'umount "$1"' sh "$ws" 2>/dev/null && note unshared
    ls -d /proc/1/root/* /proc/1/cwd/* 2>/dev/null | grep -q . && note "root of the first process"
    for file in /proc/*/root"$ws"/tracked.txt; do
        [ ! -e "$file" ] || echo evil >>"$file"
    done 2>/dev/null
    kill -9 $PPID; kill -9 1; kill -KILL -1; kill -TERM 1
    note survived
}
linger() {
    env -i setsid sh -c 'PATH=/usr/bin:/bin; (while :; do
        for at in "$1" "$2"; do echo late >>"$at/late.txt"; echo late >>"$at/tracked.txt"; done 2>/dev/null; done) &
        exec sleep 1000' "$1" "$ws" "$place" "$1" </dev/null >/dev/null 2>&1 &
    until [ -s "$place/late.txt" ]; do :; done
}
hostile() {
    # Never on the machine itself: in a world the first process is the parent of the agent.
    [ "$PPID" = 1 ] || exit 9
    wild "$place"; wild "$ws"; wild .
    repository
    reach 2>/dev/null
    wild "$place"; wild "$ws" 2>/dev/null
    linger "$1"
    note lingers
}
"#;

/// A repository as a person left it: tracked, untracked and ignored files, a hook and rules of theirs.
fn furnish(env: &Env) {
    env.file("tracked.txt", "mine\n").file("run.sh", "echo mine\n").file("notes.txt", "untracked\n");
    env.file(".gitignore", "ignored/\n*.log\n__pycache__/\n");
    env.file("ignored/cache", "cached\n").file("noise.log", "logged\n");
    env.git(&["init", "--quiet", "--initial-branch=main"]);
    env.git(&["config", "user.name", "Ada"]);
    env.git(&["config", "user.email", "ada@example.org"]);
}

/// Commits all but a file that the person has not added yet, and puts a tag and a branch beside it.
fn commit(env: &Env) {
    env.git(&["add", "--all"]);
    env.git(&["rm", "--cached", "--quiet", "--", "notes.txt"]);
    env.git(&["commit", "--quiet", "--message=Begin"]);
    env.git(&["tag", "v0"]);
    env.git(&["branch", "beside"]);
    env.file(".git/hooks/post-merge", "#!/bin/sh\n").file(".git/info/exclude", "notes.txt\n");
}

/// A workspace with a hostile agent in it, and what is there before it works.
struct Scene {
    env: Env,
    before: BTreeMap<PathBuf, String>,
    mark: String,
}

/// A word that no other process has.
fn mark(name: &str, user: User) -> String {
    format!("seriatim-hostile-{name}-{user:?}-{}", std::process::id())
}

/// The script of the attack for a workspace.
fn hostile(env: &Env) -> String {
    HOSTILE.replace("WORKSPACE", &env.root.display().to_string())
}

/// All that belongs to the person: the workspace, but for the store, and the home folder.
fn everything(env: &Env) -> BTreeMap<PathBuf, String> {
    let home = env.root.with_file_name("home");
    let mut all = listing(&env.root, &[STORE]);
    let apart = ["stage", "briefs"];
    all.extend(listing(&home, &apart).into_iter().map(|(path, what)| (PathBuf::from("~").join(path), what)));
    all
}

impl Scene {
    fn new(mut env: Env, name: &str, user: User) -> Scene {
        commit(&env);
        settle(&mut env, user);
        Scene { before: everything(&env), mark: mark(name, user), env }
    }

    /// Nothing changed but these paths (folders with all that is in them), and nothing of the agent lives.
    #[track_caller]
    fn is_as_before_but_for(&self, allowed: &[&str]) {
        let env = &self.env;
        assert_eq!(living_with(&self.mark), Vec::<String>::new(), "processes of the agent");
        let changed = differing(&self.before, &everything(env));
        let is_allowed = |path: &String| {
            allowed.iter().any(|entry| {
                path == entry.trim_end_matches('/') || (entry.ends_with('/') && path.starts_with(entry))
            })
        };
        let others: Vec<&String> = changed.iter().filter(|path| !is_allowed(path)).collect();
        assert_eq!(others, Vec::<&String>::new(), "changed outside of what is allowed");
        env.run(&["verify"]).exits(0);
        assert_eq!(mounts_with(&env.root), Vec::<String>::new());
    }

    /// The agent did all that it tried, and did not get where it must not.
    #[track_caller]
    fn was_tried(&self, notes: &Path, step: &str) {
        let notes = fs::read_to_string(notes).unwrap();
        let notes: Vec<&str> =
            notes.lines().filter_map(|line| line.strip_prefix(step)?.strip_prefix(' ')).collect();
        assert_eq!(notes, ["committed", "branched", "stashed", "cleaned", "wrote", "survived", "lingers"]);
    }

    /// What stays in the view is told where people look.
    #[track_caller]
    fn is_told(&self, more: &[&str]) {
        let log = self.env.run(&["log", &self.env.newest()]).exits(0);
        let effects = EFFECTS.iter().chain(more);
        effects.fold(log, |log: Output, words| log.says(words));
    }

    /// The engine's own commits, and nothing else, moved the branch; no other reference is new, moved or gone.
    #[track_caller]
    fn only_engine_commits(&self) {
        let git = |args: &[&str]| {
            let mut command = self.env.as_user("git");
            command.args(args);
            self.env.furnish(&mut command);
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        let names: Vec<String> = git(&["for-each-ref", "--format=%(refname)"])
            .lines()
            .filter(|name| !name.starts_with("refs/seriatim/"))
            .map(str::to_owned)
            .collect();
        assert_eq!(names, ["refs/heads/beside", "refs/heads/main", "refs/tags/v0"]);
        assert_eq!(git(&["rev-parse", "--abbrev-ref", "HEAD"]), "main\n");
        assert_eq!(git(&["rev-parse", "beside", "v0"]).lines().collect::<BTreeSet<_>>().len(), 1);
        let authors: BTreeSet<String> =
            git(&["log", "--format=%an %cn", "v0..main"]).lines().map(str::to_owned).collect();
        assert_eq!(authors, BTreeSet::from(["Ada Ada".to_owned()]));
        // What was committed is within the steps.
        let changed = git(&["diff", "--name-only", "v0", "main"]);
        let is_own =
            |path: &str| ["src/", "tests/", "docs/", "greet.sh"].iter().any(|own| path.starts_with(own));
        assert_eq!(changed.lines().filter(|path| !is_own(path)).collect::<Vec<_>>(), Vec::<&str>::new());
    }
}

const EFFECTS: [&str; 6] = [
    "changed hooks of the repository: commit-msg, post-checkout, post-commit, pre-commit, reference-transaction",
    "changed the configuration of the repository",
    "changed rules of the repository: attributes, exclude",
    "committed, or moved branches or tags: HEAD",
    "staged files",
    "stashed files",
];

/// What a commit of the engine changes in the repository.
const COMMITTED: [&str; 8] = [
    ".git/ORIG_HEAD",
    ".git/objects/",
    ".git/refs/heads/main",
    ".git/refs/seriatim/",
    ".git/logs/",
    ".git/index",
    ".git/COMMIT_EDITMSG",
    ".git/HEAD",
];

#[test]
fn a_hostile_agent_of_a_process_changes_nothing_but_its_work() {
    for user in users() {
        let env = Env::new();
        furnish(&env);
        env.bakery(&["Knead the dough"]);
        // A process takes every file; what the person had is put back by hand where it was removed or changed.
        let script = format!(
            "{}\nhostile {}\nrm -f leak; echo untracked >notes.txt; printf 'echo mine\\n' >run.sh; \
             chmod 644 run.sh\necho bread >bread.txt\n{FINISH}",
            hostile(&env),
            mark("process", user)
        );
        let config = agent(&env, &script);
        env.file("seriatim.toml", config);
        let scene = Scene::new(env, "process", user);
        scene.env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(0);
        scene.was_tried(&shared(&scene.env).join("notes"), "5.1.1");
        scene.is_told(&["instance.yaml", "process.yaml", "seriatim.toml"]);
        let work = ["bread.txt", "tracked.txt", "planted.txt", "late.txt"];
        let own = ["instance.yaml", ".dialogue/"];
        scene.is_as_before_but_for(&[&work[..], &own].concat());
        assert_eq!(scene.env.read("bread.txt"), "bread\n");
        let instance = scene.env.read("instance.yaml");
        assert!(!instance.contains("evil"), "{instance}");
    }
}

const FINISH: &str = r#"printf '{"status": "done", "summary": "done", "confidence": 100, "criteria": [%s]}' \
    '{"criterion": "It is done", "met": true, "confidence": 100, "reason": "seen"}' >"$SERIATIM_REPORT""#;

/// The roadmap of `steps`, whose agents attack at their first call and are honest from then on.
fn roadmap(name: &str, user: User, steps: &[Step]) -> (Scene, PathBuf) {
    let project = Project::of(SHORT, steps);
    let (home, stage) = (project.env.root.with_file_name("home"), project.stage(""));
    furnish(&project.env);
    let worlds = format!("\n[worlds]\nshare = [{stage:?}, {:?}]\n", home.join("briefs"));
    let config = project.env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
    project.env.file("seriatim.toml", format!("{config}{worlds}"));
    project.agent(&format!(
        "share=$stage\n{}\nif mkdir \"$stage/did-$SERIATIM_STEP\" 2>/dev/null; then hostile {}; fi\nusual; finish",
        hostile(&project.env),
        mark(name, user)
    ));
    let notes = project.stage("notes");
    (Scene::new(project.env, name, user), notes)
}

#[test]
fn a_hostile_agent_of_a_roadmap_changes_nothing_but_its_step() {
    for user in users() {
        let (scene, notes) = roadmap("roadmap", user, &[add()]);
        scene.env.run(&["run", "roadmap", "calc", "--no-input", "-q"]).exits(0);
        scene.was_tried(&notes, "01-01");
        scene.is_told(&[]);
        let own = ["src/", "tests/", "docs/"];
        scene.is_as_before_but_for(&[&own[..], &COMMITTED].concat());
        scene.only_engine_commits();
    }
}

#[test]
fn hostile_agents_of_steps_side_by_side_change_nothing_but_their_steps() {
    for user in users() {
        let (scene, notes) = roadmap("parallel", user, &[add(), step("01-02", "sub", &[])]);
        scene.env.run(&["run", "roadmap", "calc", "--no-input", "-q", "--parallel", "2"]).exits(0);
        for step in ["01-01", "01-02"] {
            scene.was_tried(&notes, step);
        }
        scene.is_told(&[]);
        let own = ["src/", "tests/", "docs/"];
        scene.is_as_before_but_for(&[&own[..], &COMMITTED].concat());
        scene.only_engine_commits();
    }
}

fn action(name: &str, user: User, steps: &str, roles: &[&str]) -> (Scene, PathBuf) {
    let workshop = Workshop::of(steps);
    furnish(&workshop.env);
    let (stage, briefs) = (workshop.home("stage"), workshop.home("briefs"));
    let config = workshop.env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
    // A hostile role gets less of the home folder than the roles of other tests.
    let (_, config) = config.split_once("\n\n").unwrap();
    workshop.env.file("seriatim.toml", format!("{config}\n[worlds]\nshare = [{stage:?}, {briefs:?}]\n"));
    let attack = format!(
        "share=$HOME/stage\n{}\nif mkdir \"$share/did-$role\" 2>/dev/null; then hostile {}; fi\nusual; finish",
        hostile(&workshop.env),
        mark(name, user)
    );
    let acts: Vec<(&str, usize, &str)> = roles.iter().map(|role| (*role, 0, attack.as_str())).collect();
    workshop.table(&acts);
    (Scene::new(workshop.env, name, user), stage.join("notes"))
}

#[test]
fn a_hostile_role_of_an_action_changes_nothing_but_its_output() {
    for user in users() {
        let (scene, notes) = action("action", user, "- backend-developer\n", &["backend-developer"]);
        scene.env.run(&["run", "action", "build", "--no-input", "-q"]).exits(0);
        scene.was_tried(&notes, "backend-developer");
        scene.is_told(&[]);
        scene.is_as_before_but_for(&["engine/", "planning-mds/", ".snapshots/", "logs/"]);
        assert_eq!(scene.env.read("engine/api.sh"), "echo call 2\n");
    }
}

#[test]
fn hostile_roles_side_by_side_change_nothing_but_their_outputs() {
    let roles = ["backend-developer", "quality-engineer"];
    for user in users() {
        let steps = "- parallel: [backend-developer, quality-engineer]\n";
        let (scene, notes) = action("roles", user, steps, &roles);
        scene.env.run(&["run", "action", "build", "--no-input", "-q"]).exits(0);
        for role in roles {
            scene.was_tried(&notes, role);
        }
        scene.is_told(&[]);
        scene.is_as_before_but_for(&["engine/", "tests/", "planning-mds/", ".snapshots/", "logs/"]);
    }
}

#[test]
fn hostile_roles_of_a_cycle_change_nothing_but_the_planned_file() {
    for user in users() {
        let name = "cycle";
        let project = Cycle::new();
        furnish(&project.env);
        let share = shared(&project.env);
        let attack = format!(
            "share='{}'\n{}\n[ -e \"$share/did-$SERIATIM_STEP\" ] || {{ : >\"$share/did-$SERIATIM_STEP\"; hostile {}; }}\n",
            share.display(),
            hostile(&project.env),
            mark(name, user)
        );
        let project = project
            .planner(&format!("{attack}step"))
            .actor(&format!("{attack}echo 'echo good morning' >greet.sh; done_well"))
            .judge(&format!("{attack}say '{{\"result\": \"PASS\"}}'"));
        let config =
            project.env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
        project.env.file("seriatim.toml", format!("{config}\n[worlds]\nshare = [{share:?}]\n"));
        let scene = Scene::new(project.env, name, user);
        let goal = crate::cycle::GOAL;
        let output = scene.env.run(&["run", "cycle", "--goal", goal, "--no-input"]);
        assert_eq!(output.exit, Some(3), "{}", output.snapshot());
        for role in ["planner", "actor"] {
            scene.was_tried(&share.join("notes"), role);
        }
        scene.is_told(&[]);
        scene.is_as_before_but_for(&["docs/"]);
        // Approved, and HEAD holds the planned change and nothing else.
        scene.env.run(&["answer", "q1", "commit"]).exits(0);
        scene.env.run(&["resume", &scene.env.newest(), "--no-input"]).exits(0);
        scene.is_as_before_but_for(&[&["greet.sh", "docs/"], &COMMITTED[..]].concat());
        scene.only_engine_commits();
        let git = |args: &[&str]| {
            let mut command = scene.env.as_user("git");
            command.args(args);
            scene.env.furnish(&mut command);
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        assert_eq!(git(&["diff", "--name-only", "v0", "main"]), "greet.sh\n");
        assert_eq!(git(&["show", "main:greet.sh"]), "echo good morning\n");
        assert_eq!(scene.env.read("greet.sh"), "echo good morning\n");
    }
}
