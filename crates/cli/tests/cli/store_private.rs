//! The record is for one user: another one can neither read nor list nor replace any of it, whatever the umask.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use crate::support::Env;
use crate::support::is_root;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// All files and folders below a folder, and the folder.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(everything(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

/// The program under a umask that hides nothing.
fn open_handed(env: &Env, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg("umask 000; exec \"$0\" \"$@\"").arg(env!("CARGO_BIN_EXE_seriatim")).args(args);
    env.furnish(&mut command);
    command
}

/// A shell of another user, and whether it did what it was told.
fn another_user(script: &str) -> bool {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=12345", "--regid=12345", "--clear-groups", "sh", "-c", script]);
    command.current_dir("/").output().unwrap().status.success()
}

fn bakery(script: &str) -> Env {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh(script);
    env.git(&["init", "--quiet", "--initial-branch=main"]);
    env
}

#[test]
fn all_of_the_record_is_private_whatever_the_umask() {
    let long = "head -c 3000000 /dev/zero | tr '\\0' x";
    let env = bakery(&format!("{long}\nfinish kneaded"));
    let command = open_handed(&env, &["run", "process", "instance.yaml", "--no-input"]);
    env.start_command(command).output().exits(3);
    let found = everything(&env.store());
    assert!(found.iter().any(|path| path.ends_with("journal.db")), "{found:?}");
    assert_eq!(env.stored_below("outputs").len(), 1, "{found:?}");
    for path in found {
        assert_eq!(mode(&path) & 0o077, 0, "{} has mode {:o}", path.display(), mode(&path));
    }
}

#[test]
fn another_user_can_neither_read_nor_list_nor_replace_anything() {
    if !is_root() {
        println!("SKIPPED: only the superuser can try it as another user");
        return;
    }
    let env = bakery("echo here >began; read word <hold; finish kneaded");
    // Everybody may look at the repository itself.
    let top = env.root.parent().unwrap();
    for folder in [top, &env.root, &env.path(".git")] {
        set_mode(folder, 0o755);
    }
    let (mut began, mut hold) = (env.fifo("began"), env.fifo("hold"));
    let engine = env.start_command(open_handed(&env, &["run", "process", "instance.yaml", "--no-input"]));
    began.line(&engine);
    let store = env.store().display().to_string();
    assert!(another_user(&format!("ls {}", env.path(".git").display())), "the user can look beside it");
    assert!(!env.stored_below("attempts").is_empty(), "an attempt is under way");
    let files = everything(&env.store());
    for path in &files {
        let path = path.display();
        for script in [
            format!("cat {path}"),
            format!("ls {path}/"),
            format!("stat {path}/."),
            format!("echo x >>{path}"),
            format!("touch {path}/planted"),
            format!("rm -rf {path} && ! test -e {path}"),
        ] {
            assert!(!another_user(&script), "{script}");
        }
    }
    for script in [
        format!("mv {store} {store}-away"),
        format!("ln -s /tmp {store}/x"),
        format!("chmod 777 {store}"),
        format!("cp -r {store} /tmp/seriatim-stolen-{}", std::process::id()),
    ] {
        assert!(!another_user(&script), "{script}");
    }
    // Nothing of an attempt lies where everybody can guess it.
    assert_eq!(crate::support::files_below(&env.scratch()), Vec::<PathBuf>::new());
    assert_eq!(everything(&env.store()), files, "and nothing was changed");
    hold.send("go");
    engine.output().exits(3);
    // The program says no to the other user in words.
    let mut command = Command::new("setpriv");
    command.args(["--reuid=12345", "--regid=12345", "--clear-groups"]);
    command.arg(env!("CARGO_BIN_EXE_seriatim")).arg("status");
    env.furnish(&mut command);
    if another_user(&format!("test -x {}", env!("CARGO_BIN_EXE_seriatim"))) {
        env.start_command(command).output().exits(2).says("belongs to another user (uid 0)");
    }
    env.run(&["verify"]).exits(0);
}

#[test]
fn a_record_that_others_can_enter_or_that_is_a_link_is_refused_with_the_way_out() {
    let env = bakery("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let store = env.store();
    set_mode(&store, 0o755);
    for args in [&["status"][..], &["answer", "q1", "approve"], &["resume", "2", "--no-input"]] {
        env.run(args)
            .exits(2)
            .says(&format!("`{}` is open to other users (mode 755)", store.display()))
            .says(&format!("chmod 700 {}", store.display()));
    }
    set_mode(&store, 0o700);
    set_mode(&store.join("journal.db"), 0o644);
    env.run(&["answer", "q1", "approve"]).exits(0);
    assert_eq!(mode(&store.join("journal.db")), 0o600, "loose files of our own are tightened");
    for name in ["journal.db", "journal.lock", "holders"] {
        let elsewhere = env.root.with_file_name("elsewhere");
        fs::rename(store.join(name), &elsewhere).unwrap();
        symlink(&elsewhere, store.join(name)).unwrap();
        env.run(&["resume", "2", "--no-input"]).exits(2).says(&format!("/{name}` is a symbolic link"));
        fs::remove_file(store.join(name)).unwrap();
        fs::rename(&elsewhere, store.join(name)).unwrap();
    }
    let elsewhere = env.root.with_file_name("elsewhere");
    fs::rename(&store, &elsewhere).unwrap();
    symlink(&elsewhere, &store).unwrap();
    env.run(&["status"]).exits(2).says("/.git/seriatim` is a symbolic link");
    fs::remove_file(&store).unwrap();
    fs::rename(&elsewhere, &store).unwrap();
    env.run(&["resume", "2", "--no-input"]).exits(0);
}

#[test]
fn a_configuration_that_another_user_left_above_or_here_runs_nothing() {
    let env = Env::new();
    let above = env.root.with_file_name("seriatim.toml");
    let hostile = "[agents.default]\nkind = \"command\"\nargv = [\"sh\", \"-c\", \"touch ../stolen\"]\n";
    fs::write(&above, hostile).unwrap();
    if std::os::unix::fs::chown(&above, Some(12345), Some(12345)).is_err() {
        println!("SKIPPED: only root can give a file to another user");
        return;
    }
    env.bakery(&["Knead the dough"]);
    env.run(&["run", "process", "instance.yaml", "--no-input"]).says("no agent is configured");
    fs::copy(&above, env.path("seriatim.toml")).unwrap();
    std::os::unix::fs::chown(env.path("seriatim.toml"), Some(12345), Some(12345)).unwrap();
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(2).says("belongs to another user");
    assert!(!env.root.with_file_name("stolen").exists());
}
