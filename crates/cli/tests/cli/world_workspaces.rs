//! Worlds over every kind of workspace: odd names, links, subfolders, linked worktrees, submodules, no git, other file
//! systems, files of others; and what is said where no world can be made.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use crate::roadmap_support::Project;
use crate::support::Env;
use crate::support::is_root;
use crate::world_support::OTHER;
use crate::world_support::User;
use crate::world_support::agent;
use crate::world_support::differing;
use crate::world_support::listing;
use crate::world_support::settle;
use crate::world_support::users;

const STORE: [&str; 2] = [".git/seriatim", ".seriatim"];
const FINISH: &str = r#"
printf '{"status": "done", "summary": "done", "confidence": 100, "criteria": [%s]}' \
    '{"criterion": "It is done", "met": true, "confidence": 100, "reason": "seen"}' >"$SERIATIM_REPORT""#;

/// A process of one step, whose agent does what the script says and reports that it is done.
fn bakery(env: &Env, script: &str) {
    env.bakery(&["Knead the dough"]);
    let config = agent(env, &format!("set -e\n{script}\n{FINISH}"));
    env.file("seriatim.toml", config);
}

fn init(env: &Env) {
    env.git(&["init", "--quiet", "--initial-branch=main"]);
    env.git(&["config", "user.name", "Ada"]);
    env.git(&["config", "user.email", "ada@example.org"]);
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "--message=Begin"]);
}

const RUN: [&str; 4] = ["run", "process", "instance.yaml", "--no-input"];

/// Runs the process and returns what it changed, without what the process itself keeps.
#[track_caller]
fn changed_by(env: &Env) -> Vec<String> {
    let before = listing(&env.root, &STORE);
    env.run(&RUN).exits(0);
    let is_own = |path: &String| path == "instance.yaml" || path.starts_with(".dialogue");
    let after = listing(&env.root, &STORE);
    differing(&before, &after).into_iter().filter(|path| !is_own(path)).collect()
}

#[test]
fn names_are_bytes_in_the_path_of_the_workspace_and_in_it() {
    let odd = "a b,c:d\ne\\f\u{fc}'\"$(x)=%";
    for user in users() {
        let mut env = Env::new();
        env.root = env.root.join(odd);
        fs::create_dir(&env.root).unwrap();
        let names = ["new\nline", "tab\there", "-dash", "com,ma:co\\lon", "\u{e9}t\u{e9}", "quo\"te'", " "];
        for name in names {
            env.file(&format!("odd/{name}"), "one\n").file(&format!("gone/{name}"), "one\n");
        }
        bakery(
            &env,
            r#"for file in odd/*; do echo two >>"./$file"; cp "./$file" "./more-${file#odd/}"; done
            rm -r gone; git add -A; git commit -qm inside"#,
        );
        init(&env);
        settle(&mut env, user);
        let changed = changed_by(&env);
        let mut expected: Vec<String> = vec!["gone".to_owned()];
        for name in names {
            expected.extend([format!("gone/{name}"), format!("odd/{name}"), format!("more-{name}")]);
            assert_eq!(env.read(&format!("odd/{name}")), "one\ntwo\n");
            assert_eq!(env.read(&format!("more-{name}")), "one\ntwo\n");
        }
        expected.sort();
        let mut changed = changed;
        changed.sort();
        assert_eq!(changed, expected, "{user:?}");
    }
}

#[test]
fn a_workspace_behind_a_link_is_worked_on_at_its_real_path() {
    for user in users() {
        let mut env = Env::new();
        bakery(&env, "pwd >\"$share/pwd\"; echo two >bread.txt");
        init(&env);
        settle(&mut env, user);
        let link = env.root.with_file_name("link");
        symlink(&env.root, &link).unwrap();
        let mut command = env.command(&RUN);
        command.current_dir(&link);
        env.start_command(command).output().exits(0);
        assert_eq!(env.read("bread.txt"), "two\n");
        let pwd = fs::read_to_string(env.root.with_file_name("shared/pwd")).unwrap();
        assert_eq!(pwd.trim(), env.root.display().to_string());
    }
}

#[test]
fn files_beside_a_subfolder_stay_out_and_are_named() {
    for user in users() {
        let mut env = Env::new();
        let top = env.root.clone();
        env.root = top.join("sub/project");
        fs::create_dir_all(&env.root).unwrap();
        fs::write(top.join("beside.txt"), "mine\n").unwrap();
        bakery(
            &env,
            "echo two >bread.txt; echo evil >>../../beside.txt; echo evil >../new.txt; git commit -qam x",
        );
        let sub = std::mem::replace(&mut env.root, top.clone());
        init(&env);
        settle(&mut env, user);
        let before = listing(&top, &STORE);
        env.root = sub;
        env.run(&RUN).exits(0);
        let after = listing(&top, &STORE);
        let own = |path: &String| path.contains("instance.yaml") || path.contains(".dialogue");
        let changed: Vec<String> = differing(&before, &after).into_iter().filter(|path| !own(path)).collect();
        assert_eq!(changed, ["sub/project/bread.txt"]);
        env.run(&["log", &env.newest()])
            .exits(0)
            .says("changed files beside the workspace: beside.txt, sub/new.txt")
            .says("committed, or moved branches or tags: refs/heads/main");
    }
}

#[test]
fn a_linked_worktree_and_a_submodule_keep_their_commits_inside() {
    for user in users() {
        let mut env = Env::new();
        let main = env.root.clone();
        env.file("first.txt", "one\n");
        init(&env);
        let module = env.root.with_file_name("module");
        Command::new("git").args(["clone", "--quiet"]).arg(&main).arg(&module).status().unwrap();
        let linked = main.with_file_name("linked").display().to_string();
        env.git(&["worktree", "add", "--quiet", "-b", "side", &linked]);
        env.root = PathBuf::from(&linked);
        let url = module.display().to_string();
        env.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "part"]);
        bakery(
            &env,
            r#"echo two >>first.txt; git commit -qam inside; git branch evil; git tag evil
            cd part; echo two >>first.txt; git -c user.name=E -c user.email=e@e commit -qam inner; git tag evil"#,
        );
        env.git(&["add", "--all"]);
        env.git(&["commit", "--quiet", "--message=More"]);
        settle(&mut env, user);
        let before = listing(&main, &STORE);
        let changed = changed_by(&env);
        assert_eq!(changed, ["first.txt", "part/first.txt"], "{user:?}");
        assert_eq!(differing(&before, &listing(&main, &STORE)), Vec::<String>::new());
        env.run(&["log", &env.newest()]).exits(0).says("refs/heads/evil").says("refs/heads/side");
    }
}

#[test]
fn a_workspace_without_git_and_a_repository_that_the_agent_makes() {
    for user in users() {
        let mut env = Env::new();
        // A repository inside of the work brings hooks, which whoever uses git there would run.
        bakery(
            &env,
            r#"mkdir -p deep/inner; cd deep/inner; git init -q; echo 'evil' >.git/hooks/pre-commit; echo x >file
            cd ../..; git init -q; echo evil >.git/hooks/post-checkout; echo two >bread.txt; rm -rf .seriatim || :"#,
        );
        settle(&mut env, user);
        assert_eq!(changed_by(&env), ["bread.txt", "deep", "deep/inner", "deep/inner/file"], "{user:?}");
        env.run(&["log", &env.newest()]).exits(0).says("deep/inner/.git");
        env.run(&["verify"]).exits(0);
    }
}

/// A view whose agent removed the way to the repository, or put a link in its place, can be entered again.
#[test]
fn an_agent_that_removes_the_way_to_the_repository_does_not_stop_the_next_attempt() {
    for (user, removal) in
        users().into_iter().flat_map(|user| [(user, "rm .git"), (user, "rm .git; ln -s /etc .git")])
    {
        let mut env = Env::new();
        env.file("first.txt", "one\n");
        init(&env);
        let linked = env.root.with_file_name("linked");
        env.git(&["worktree", "add", "--quiet", "-b", "side", &linked.display().to_string()]);
        env.root = linked;
        bakery(
            &env,
            &format!(
                "if mkdir \"$share/did\"; then {removal}; exit 1; fi; git log -1 --format=%s >bread.txt"
            ),
        );
        settle(&mut env, user);
        let before = listing(&env.root, &STORE);
        env.run(&RUN).exits(3);
        env.run(&["answer", "q1", "retry"]).exits(0);
        env.run(&["resume", &env.newest(), "--no-input"]).exits(0);
        let changed = differing(&before, &listing(&env.root, &STORE));
        assert!(!changed.contains(&".git".to_owned()), "{changed:?}");
        assert_eq!(env.read("bread.txt"), "Begin\n", "{removal}");
        env.run(&["log", &env.newest()]).exits(0).says("committed, or moved branches or tags: HEAD");
    }
}

#[test]
fn a_workspace_on_a_tmpfs() {
    if !is_root() {
        println!("SKIPPED: only the superuser can mount a tmpfs");
        return;
    }
    for user in users() {
        let mut env = Env::new();
        let place = PathBuf::from(format!("/dev/shm/seriatim-{user:?}-{}", std::process::id()));
        fs::create_dir(&place).unwrap();
        env.root.clone_from(&place);
        bakery(&env, "echo two >bread.txt; mv salt.txt moved.txt");
        env.file("salt.txt", "salt\n");
        init(&env);
        settle(&mut env, user);
        let own = format!("{OTHER}:{OTHER}");
        if user == User::Other {
            assert!(Command::new("chown").args(["-R", &own]).arg(&place).status().unwrap().success());
        }
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| changed_by(&env)));
        fs::remove_dir_all(&place).unwrap();
        assert_eq!(outcome.unwrap(), ["bread.txt", "moved.txt", "salt.txt"], "{user:?}");
    }
}

fn chown(path: &Path, owner: &str) {
    assert!(Command::new("chown").args(["-R", "-h", owner]).arg(path).status().unwrap().success());
}

/// Trap 6: an overlay of an ordinary user cannot copy up what belongs to an owner or group that it does not know.
#[test]
fn files_of_another_group_can_be_written_and_a_person_who_edits_them_is_not_blamed() {
    if !is_root() {
        println!("SKIPPED: only the superuser can give files away");
        return;
    }
    let mut env = Env::new();
    env.file("team/a.txt", "one\n").file("team/b.txt", "one\n").file("team/deep/c.txt", "one\n");
    env.file("theirs/a.txt", "one\n").file("closed/a.txt", "one\n");
    bakery(
        &env,
        r#"echo two >>team/a.txt; echo two >team/new.txt; echo two >>team/deep/c.txt; chmod 600 team/deep/c.txt
        ! echo two >>theirs/a.txt; ! echo two >closed/new.txt
        git add -A; git commit -qm inside; echo >"$share/began"; read word <"$share/hold""#,
    );
    init(&env);
    settle(&mut env, User::Other);
    for path in ["team", ".git"] {
        chown(&env.path(path), &format!("{OTHER}:54321"));
    }
    for path in ["theirs", "closed"] {
        chown(&env.path(path), "0:0");
    }
    fs::set_permissions(env.path("team/deep"), Permissions::from_mode(0o2775)).unwrap();
    let (mut began, mut hold) =
        (crate::process::Fifo::new(&shared(&env, "began")), crate::process::Fifo::new(&shared(&env, "hold")));
    for name in ["began", "hold"] {
        chown(&shared(&env, name), &format!("{OTHER}:{OTHER}"));
    }
    let before = listing(&env.root, &STORE);
    let engine = env.start(&RUN);
    began.line(&engine);
    fs::write(env.path("team/b.txt"), "person\n").unwrap();
    hold.send("go");
    engine.output().exits(0);
    let changed: Vec<String> = differing(&before, &listing(&env.root, &STORE))
        .into_iter()
        .filter(|path| path != "instance.yaml" && !path.starts_with(".dialogue"))
        .collect();
    assert_eq!(changed, ["team/a.txt", "team/b.txt", "team/deep/c.txt", "team/new.txt"]);
    assert_eq!(env.read("team/a.txt"), "one\ntwo\n");
    assert_eq!(env.read("team/b.txt"), "person\n");
    env.run(&["log", &env.newest()]).exits(0).says("Merged 3 files").says_nothing_of("team/b.txt");
}

fn shared(env: &Env, name: &str) -> PathBuf {
    crate::world_support::shared(env).join(name)
}

#[test]
fn read_only_parts_stay_so_and_a_large_folder_is_no_matter() {
    for user in users() {
        let mut env = Env::new();
        for number in 0..20_000 {
            let folder = env.path(&format!("many/{}", number / 500));
            if number % 500 == 0 {
                fs::create_dir_all(&folder).unwrap();
            }
            fs::write(folder.join(number.to_string()), b"x").unwrap();
        }
        env.file("fixed/a.txt", "one\n").file("fixed/b.txt", "one\n");
        bakery(
            &env,
            "echo two >many/3/1500; rm -r many/5; chmod u+w fixed/a.txt; echo two >fixed/a.txt; chmod u-w fixed/a.txt",
        );
        init(&env);
        for path in ["fixed/a.txt", "fixed/b.txt"] {
            fs::set_permissions(env.path(path), Permissions::from_mode(0o444)).unwrap();
        }
        fs::set_permissions(env.path("fixed"), Permissions::from_mode(0o555)).unwrap();
        settle(&mut env, user);
        let changed = changed_by(&env);
        assert_eq!(changed.len(), 503, "{user:?}: {:?}", &changed[..changed.len().min(9)]);
        assert_eq!(changed[0], "fixed/a.txt");
        assert_eq!(env.read("fixed/a.txt"), "two\n");
        assert_eq!(fs::metadata(env.path("fixed")).unwrap().permissions().mode() & 0o777, 0o555);
        fs::set_permissions(env.path("fixed"), Permissions::from_mode(0o755)).unwrap();
    }
}

/// A roadmap of one step whose agent works in a world; the steps of the roadmap commit.
fn roadmap() -> Project {
    let project = Project::short();
    let home = project.env.root.with_file_name("home");
    let config = project.env.read("seriatim.toml").replace("isolation = \"none\"", "isolation = \"world\"");
    project.with("seriatim.toml", &format!("{config}\n[worlds]\nshare = [{home:?}]\n"));
    project
}

#[track_caller]
fn step_is_committed(project: &Project, more: &[&str]) {
    project.env.run(&["run", "roadmap", "calc", "--no-input", "-q"]).exits(0);
    let changed =
        project.git(&["diff", "--no-renames", "--name-only", "-z", "Begin", "HEAD", "--", ".", ":!docs"]);
    let mut expected = [&["src/add.py", "tests/test_add.py"], more].concat();
    expected.sort_unstable();
    assert_eq!(changed.split_terminator('\0').collect::<Vec<_>>(), expected);
    assert_eq!(project.git(&["show", "HEAD:src/add.py"]), "RESULT = 5\n");
    assert_eq!(project.git(&["status", "--porcelain"]), "");
    project.env.run(&["verify"]).exits(0);
    project.env.assert_tidy();
}

#[test]
fn a_process_works_beside_a_hundred_thousand_files() {
    let mut env = Env::new();
    for folder in 0..200 {
        let folder = env.path(&format!("many/{folder}"));
        fs::create_dir_all(&folder).unwrap();
        for number in 0..500 {
            fs::File::create(folder.join(number.to_string())).unwrap();
        }
    }
    bakery(&env, "echo two >many/3/7; rm many/5/9; echo two >bread.txt");
    init(&env);
    settle(&mut env, *users().last().unwrap());
    env.run(&RUN).exits(0);
    assert_eq!((env.read("many/3/7"), env.read("bread.txt")), ("two\n".into(), "two\n".into()));
    assert!(!env.path("many/5/9").exists());
    env.run(&["log", &env.newest()]).exits(0).says("Merged 3 files");
    env.assert_tidy();
}

#[test]
fn a_roadmap_commits_odd_names_and_leaves_a_submodule_and_files_of_another_group_alone() {
    let names = ["src/new\nline,a:b", "src/ -dash \u{e9}\"'"];
    for user in users() {
        let mut project = roadmap();
        let patterns = "allowed_file_patterns: [\"src/**\"]\n        test_file:";
        let text = project.env.read(crate::roadmap_support::ROADMAP).replace("test_file:", patterns);
        project.with(crate::roadmap_support::ROADMAP, &text);
        let module = project.env.root.with_file_name("module");
        Command::new("git").args(["clone", "--quiet"]).arg(&project.env.root).arg(&module).status().unwrap();
        let url = module.display().to_string();
        project.env.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "part"]);
        project.env.file("src/old,na\nme:", "one\n").file("src/old,\n", "one\n");
        project.commit("Odd");
        project.git(&["tag", "Begin"]);
        project.agent(
            r#"usual
            if [ $SERIATIM_PHASE = GREEN ]; then
                printf 'one\n' >"src/new
line,a:b"; printf 'one\n' >"src/ -dash é\"'"; rm src/old*
                (cd part && echo evil >>check.sh && git -c user.name=E -c user.email=e@e commit -qam inner)
                git -C part checkout -q HEAD~1 -- . 2>/dev/null; git -C part reset -q --hard HEAD~1
            fi; finish"#,
        );
        settle(&mut project.env, user);
        if user == User::Other {
            chown(&project.env.path("src"), &format!("{OTHER}:54321"));
        }
        step_is_committed(&project, &[names[0], names[1], "src/old,na\nme:", "src/old,\n"]);
        assert_eq!(project.git(&["-C", "part", "log", "-1", "--format=%an"]), "Ada\n");
    }
}

/// Trap 7: what is mounted inside of a workspace keeps a world from covering it.
#[test]
fn with_a_mount_point_inside_the_agent_works_in_a_copy_and_that_is_said() {
    if !is_root() {
        println!("SKIPPED: only the superuser can mount a tmpfs");
        return;
    }
    for user in users() {
        let mut env = Env::new();
        env.file("first.txt", "one\n");
        bakery(&env, "echo two >bread.txt; echo two >>first.txt");
        let config = env.read("seriatim.toml");
        fs::write(env.path("seriatim.toml"), config.replace("isolation = \"world\"\n", "")).unwrap();
        init(&env);
        fs::create_dir(env.path("mounted")).unwrap();
        settle(&mut env, user);
        let mounted = env.path("mounted");
        let disk = crate::storage::SmallDisk::mount(&mounted).unwrap();
        std::os::unix::fs::chown(&mounted, fs::metadata(&env.root).ok().map(|of| of.uid()), None).unwrap();
        env.run(&["doctor"])
            .exits(1)
            .says("mounted is a mount point inside of ")
            .says("agent default: copy")
            .says("unmount it");
        env.run(&RUN).exits(0);
        assert_eq!((env.read("bread.txt"), env.read("first.txt")), ("two\n".into(), "one\ntwo\n".into()));
        env.run(&["show", &env.newest()]).exits(0).says("weaker isolation than a world");
        // Whoever asks for a world by word is told why there is none, and nothing is started.
        fs::write(env.path("seriatim.toml"), &config).unwrap();
        let instance = env.read("instance.yaml");
        env.file("other.yaml", instance.replace("PINST-20260101-000000", "PINST-20260101-000001"));
        env.run(&["run", "process", "other.yaml", "--no-input"])
            .says("mounted is a mount point inside of ")
            .says("unmount it");
        drop(disk);
    }
}

#[test]
fn where_no_world_can_be_made_nothing_is_started_and_the_remedy_is_named() {
    let mut env = Env::new();
    bakery(&env, "echo two >bread.txt");
    init(&env);
    settle(&mut env, if is_root() { User::Other } else { User::Current });
    let mut command = env.as_user("unshare");
    let script = "echo 0 >/proc/sys/user/max_user_namespaces; echo 0 >/proc/sys/user/max_pid_namespaces; \
                  exec \"$@\"";
    command.args(["-Ur", "sh", "-c", script, "sh"]).arg(env!("CARGO_BIN_EXE_seriatim")).args(RUN);
    env.furnish(&mut command);
    let output = env.start_command(command).output();
    assert_ne!(output.exit, Some(0), "{}", output.snapshot());
    output.says("could not create a PID namespace").says("sysctl user.max_user_namespaces");
    assert!(!env.path("bread.txt").exists());
    assert!(!crate::world_support::shared(&env).join("notes").exists());
}
