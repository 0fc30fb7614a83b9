//! A disk that is full, and folders that cannot be written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::support::Env;
use crate::support::is_root;

/// A file system of one MiB on a folder, for as long as this lives. Needs the superuser.
pub(crate) struct SmallDisk<'a>(&'a Path);

impl SmallDisk<'_> {
    pub(crate) fn mount(folder: &Path) -> Option<SmallDisk<'_>> {
        fs::create_dir_all(folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m,mode=0700", "seriatim-test"]).arg(folder);
        let mounted = mount.output().is_ok_and(|done| done.status.success());
        mounted.then_some(SmallDisk(folder))
    }

    /// Leaves no byte free.
    fn fill(&self) {
        let filler = "head -c 2m /dev/zero >filler 2>/dev/null; cat /dev/zero >>filler 2>/dev/null";
        let _ = Command::new("sh").args(["-c", filler]).current_dir(self.0).status();
    }

    fn empty(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// A folder in which nobody can write, for as long as this lives. The superuser writes where permissions forbid it,
/// so a mount says no instead.
struct ReadOnly<'a> {
    folder: &'a Path,
    mounted: bool,
}

impl ReadOnly<'_> {
    fn of(folder: &Path) -> Option<ReadOnly<'_>> {
        if !is_root() {
            set_modes(folder, 0o500);
            return Some(ReadOnly { folder, mounted: false });
        }
        let done = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
        if !done(Command::new("mount").arg("--bind").args([folder, folder])) {
            return None;
        }
        let read_only = ReadOnly { folder, mounted: true };
        done(Command::new("mount").args(["-o", "remount,ro,bind"]).arg(folder)).then_some(read_only)
    }
}

impl Drop for ReadOnly<'_> {
    fn drop(&mut self) {
        if self.mounted {
            let _ = Command::new("umount").arg("-l").arg(self.folder).status();
        } else {
            set_modes(self.folder, 0o700);
        }
    }
}

/// Sets the mode of a folder and of all folders below it.
fn set_modes(folder: &Path, mode: u32) {
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            set_modes(&entry.path(), mode);
        }
    }
}

fn skip(why: &str) {
    println!("SKIPPED: {why}");
}

#[test]
fn a_full_disk_under_the_journal_is_a_clear_error_and_resume_works_once_there_is_room() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust", "Bake it"]).agent_sh("finish kneaded");
    let state = env.store();
    let Some(disk) = SmallDisk::mount(&state) else { return skip("a file system cannot be mounted here") };
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    env.run(&["answer", "q1", "approve"]).exits(0);

    disk.fill();
    let output = env.run(&["resume", &run, "--no-input"]).exits(1);
    insta::assert_snapshot!(output.snapshot(), @r#"
    --- stderr
    error: no space left for the journal `[WORK]/.seriatim/journal.db`
    help: nothing that was recorded is lost; make room, then continue with `seriatim resume`
    --- exit 1
    "#);
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n");

    disk.empty();
    env.run(&["resume", &run, "--no-input"]).exits(0);
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n5.1.3 attempt 1\n");
    env.run(&["verify"]).exits(0);
}

#[test]
fn e_87_a_full_disk_under_the_files_stops_the_run_and_loses_nothing() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "Bake it"]).agent_sh(
        "[ \"$SERIATIM_STEP\" != 5.1.1 ] || { echo here >began; read word <hold; }\nfinish kneaded",
    );
    let folder = env.path(".dialogue");
    let Some(disk) = SmallDisk::mount(&folder) else { return skip("a file system cannot be mounted here") };
    let (mut began, mut hold) = (env.fifo("began"), env.fifo("hold"));
    let engine = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    began.line(&engine);
    disk.fill();
    hold.send("go");
    let output = engine.output().exits(1);
    let place =
        format!("interrupted: The work had to stop: there is no space left to write {}", folder.display());
    output.says(&place).says("Nothing that was recorded is lost.").says("Continue with:  seriatim resume ");
    let run = env.newest();
    env.run(&["resume", &run, "--no-input"]).exits(1);

    disk.empty();
    env.run(&["resume", &run, "--no-input"]).exits(0);
    // What was finished before the disk was full is not done again.
    assert_eq!(env.read("trace").matches("5.1.1 ").count(), 1, "{}", env.read("trace"));
    env.run(&["verify"]).exits(0);
    env.assert_tidy();
}

#[test]
fn a_new_workspace_on_a_full_disk_is_a_clear_error() {
    let env = Env::new();
    env.bakery(&["Knead the dough"]).agent_sh("finish kneaded");
    let state = env.store();
    let Some(disk) = SmallDisk::mount(&state) else { return skip("a file system cannot be mounted here") };
    disk.fill();
    let output = env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(1);
    insta::assert_snapshot!(output.snapshot(), @r#"
    --- stderr
    error: no space left for the journal `[WORK]/.seriatim/journal.db`
    help: nothing that was recorded is lost; make room, then continue with `seriatim resume`
    --- exit 1
    "#);
    disk.empty();
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(0);
}

#[test]
fn a_read_only_state_folder_is_a_clear_error_and_changes_nothing() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    env.run(&["answer", "q1", "approve"]).exits(0);
    let state = env.store();
    let Some(read_only) = ReadOnly::of(&state) else { return skip("a folder cannot be made read-only here") };
    let output = env.run(&["resume", &run, "--no-input"]);
    let listed = env.run(&["status"]);
    drop(read_only);
    // Nothing was changed: configuration, not an outcome.
    let output = output.exits(2).says("error: the journal `").says("cannot be written: it is read-only");
    output.says("help: make the folder writable, or name another workspace with --workspace");
    listed.exits(0).says("waiting");
    env.run(&["resume", &run, "--no-input"]).exits(0);
}

#[test]
fn a_read_only_folder_for_the_logs_stops_the_run_and_resume_continues_it() {
    let env = Env::new();
    env.bakery(&["Knead the dough", "P:Decide on the crust"]).agent_sh("finish kneaded");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    let run = env.newest();
    env.run(&["answer", "q1", "approve"]).exits(0);
    let logs = env.path(".dialogue/logs");
    let Some(read_only) = ReadOnly::of(&logs) else { return skip("a folder cannot be made read-only here") };
    let output = env.run(&["resume", &run, "--no-input"]);
    drop(read_only);
    output.exits(1).says("The work had to stop: ").says("Nothing that was recorded is lost.");
    env.run(&["resume", &run, "--no-input"]).exits(0);
    env.run(&["verify"]).exits(0);
    env.assert_tidy();
}
