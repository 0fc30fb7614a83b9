//! Processes that end by themselves: codes, streams, environment, input and output.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use seriatim_engine::hands::process::Ended;
use seriatim_engine::hands::process::How;
use seriatim_engine::hands::process::Input;
use seriatim_engine::hands::process::MARKER;
use seriatim_engine::hands::process::Processes;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::SpawnError;
use seriatim_engine::hands::process::environment;
use tempfile::tempdir;

use crate::support::SECRET;
use crate::support::Witness;
use crate::support::command;
use crate::support::processes;
use crate::support::run;
use crate::support::script;

#[test]
fn exit_code_and_both_streams_come_back() {
    let directory = tempdir().unwrap();
    let ended = run(&script(directory.path(), "echo out; echo err >&2; exit 7"));
    assert_eq!((ended.how, ended.stdout.as_str(), ended.stderr.as_str()), (How::Exited(7), "out\n", "err\n"));
    assert!(!ended.success());
    assert_eq!((ended.killed, ended.survived, ended.overflow), (Vec::new(), Vec::new(), None));
}

#[test]
fn a_signal_is_told_from_an_exit() {
    let directory = tempdir().unwrap();
    assert_eq!(run(&script(directory.path(), "kill -KILL $$")).how, How::Signaled(9));
    assert_eq!(run(&script(directory.path(), "exit 137")).how, How::Exited(137));
}

#[test]
fn closing_the_outputs_early_is_not_an_end() {
    let directory = tempdir().unwrap();
    let ended = run(&script(directory.path(), "exec >&- 2>&-; echo done > file; exit 3"));
    assert_eq!(ended.how, How::Exited(3));
    assert_eq!(fs::read_to_string(directory.path().join("file")).unwrap(), "done\n");
}

#[test]
fn it_works_in_its_directory_as_leader_of_its_own_group() {
    let directory = tempdir().unwrap();
    let ended = run(&script(
        directory.path(),
        "pwd -P; read -r a b c d pgrp sid e < /proc/$$/stat; echo $$ $pgrp $sid $PPID",
    ));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines[0], directory.path().canonicalize().unwrap().to_str().unwrap());
    let ids: Vec<&str> = lines[1].split(' ').collect();
    assert_eq!(ids[0], ids[1], "process group");
    assert_eq!(ids[2], ids[3], "the session is the supervisor's");
}

#[test]
fn the_environment_is_withheld_unless_named() {
    let directory = tempdir().unwrap();
    let mut spawn = command(directory.path(), &["env"]);
    spawn.env.push(("GIVEN".to_owned(), "yes".to_owned()));
    spawn.env.push((MARKER.to_owned(), "forged".to_owned()));
    let ended = run(&spawn);
    let mut names: Vec<&str> = ended.stdout.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["GIVEN", "PATH", MARKER]);
    assert!(ended.stdout.contains(&format!("{MARKER}={}\n", spawn.marker)));
}

#[test]
fn named_variables_are_passed_once_and_impossible_names_are_left_out() {
    let passed = environment(&["PATH", "PATH", "NO_SUCH_VARIABLE_HERE", "", "A=B", "A\0B"]);
    assert_eq!(passed, [("PATH".to_owned(), std::env::var("PATH").unwrap())]);
}

#[test]
fn what_cannot_be_started_says_why() {
    let directory = tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("plain"), "text").unwrap();
    fs::write(at("lost"), "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(at("lost"), Permissions::from_mode(0o755)).unwrap();
    let refuse = |spawn: &Spawn| processes().run(spawn, &Witness::default()).unwrap_err();
    let start = |program: &str| refuse(&command(directory.path(), &[program]));

    let missing = start("no-such-program");
    assert_eq!(missing, SpawnError::NotFound { program: "no-such-program".to_owned() });
    assert_eq!(missing.exit_code(), Some(127));
    assert_eq!(start("./neither").exit_code(), Some(127));
    assert_eq!(start("./plain").exit_code(), Some(126));
    assert_eq!(start(".").exit_code(), Some(126));
    let lost = start("./lost");
    assert!(
        matches!(&lost, SpawnError::NotExecutable { reason, .. } if reason.contains("interpreter")),
        "{lost}"
    );

    let nowhere = Spawn { cwd: at("nowhere"), ..command(directory.path(), &["true"]) };
    assert!(matches!(refuse(&nowhere), SpawnError::NoDirectory { .. }));
    let no_input = Spawn { stdin: Input::File(at("nothing")), ..command(directory.path(), &["true"]) };
    assert!(matches!(refuse(&no_input), SpawnError::NoInput { .. }));
    assert_eq!(refuse(&command(directory.path(), &[])), SpawnError::Empty);
    assert!(matches!(refuse(&command(directory.path(), &["a\0b"])), SpawnError::Os { .. }));
}

#[test]
fn large_input_arrives_and_may_also_be_ignored() {
    let directory = tempdir().unwrap();
    let bytes = vec![b'x'; 8 << 20];
    let with_input = |spawn: Spawn| Spawn { stdin: Input::Bytes(bytes.clone()), ..spawn };
    let read = run(&with_input(command(directory.path(), &["wc", "-c"])));
    assert_eq!(read.stdout.trim(), "8388608");
    assert_eq!(run(&with_input(command(directory.path(), &["true"]))).how, How::Exited(0));
    let partly = run(&with_input(script(directory.path(), "head -c 3; exec 0<&-; exit 4")));
    assert_eq!((partly.how, partly.stdout.as_str()), (How::Exited(4), "xxx"));
}

#[test]
fn input_comes_from_a_file_or_is_empty() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("brief");
    fs::write(&path, "do it").unwrap();
    let cat = command(directory.path(), &["cat"]);
    assert_eq!(run(&cat).stdout, "");
    assert_eq!(run(&Spawn { stdin: Input::File(path), ..cat }).stdout, "do it");
}

#[track_caller]
fn assert_bounded(ended: &Ended, total_bytes: u64) {
    assert_eq!(ended.how, How::Exited(0));
    assert_eq!(ended.stdout.len(), Spawn::KEEP_BYTES);
    let file = fs::read(ended.overflow.as_ref().unwrap()).unwrap();
    let note = format!("\n[cut here: {} more bytes were not kept]\n", ended.dropped_bytes);
    assert!(file.ends_with(note.as_bytes()));
    let in_file = (file.len() - note.len()) as u64;
    assert_eq!(in_file, Spawn::OVERFLOW_BYTES);
    assert_eq!(ended.stdout.len() as u64 + in_file + ended.dropped_bytes, total_bytes);
    assert!(ended.cut());
}

#[test]
fn endless_lines_and_endless_line_are_bounded() {
    let directory = tempdir().unwrap();
    let overflow = Some(directory.path().join("rest"));
    for text in ["yes | head -c 30000000", "head -c 30000000 /dev/zero"] {
        let spawn = Spawn { overflow: overflow.clone(), ..script(directory.path(), text) };
        assert_bounded(
            &processes().run(&spawn, &seriatim_engine::hands::process::Unwatched).unwrap(),
            30_000_000,
        );
    }
}

#[test]
fn secrets_reach_neither_memory_nor_file_nor_watch_nor_the_list_of_leftovers() {
    let directory = tempdir().unwrap();
    let text = format!(
        "echo a {SECRET} b; echo {SECRET} >&2; sleep 1000 {SECRET} 2>/dev/null & sh -c 'exec sleep 1000' {SECRET} &"
    );
    let path = directory.path().join("rest");
    let spawn = Spawn { keep_bytes: 3, overflow: Some(path.clone()), ..script(directory.path(), &text) };
    let witness = Witness::default();
    let ended = processes().run(&spawn, &witness).unwrap();
    let everything =
        format!("{ended:?} {:?} {}", witness.lines.lock().unwrap(), fs::read_to_string(path).unwrap());
    assert!(everything.contains("***"));
    assert!(!everything.contains(SECRET), "{everything}");
}
