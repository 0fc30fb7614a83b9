//! What a process in a world sees and changes, and what of it is seen outside.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use seriatim_engine::hands::process::How;
use seriatim_engine::hands::process::Input;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::world::Cover;
use seriatim_engine::hands::world::Network;
use seriatim_engine::hands::world::WorldPlan;

use crate::world_site::Site;
use crate::world_site::users;

#[test]
fn writes_land_in_the_upper_layer_only() {
    for user in users() {
        let site = Site::new(user);
        fs::set_permissions(&site.workspace, fs::Permissions::from_mode(0o750)).unwrap();
        let before = Site::content(&site.workspace);
        let lines = site.lines(
            "echo two > tracked; echo new > \"$WS/absolute\"; rm sub/file; mkdir -p a/b; echo x > a/b/c; \
             chmod 700 sub; cat tracked absolute a/b/c; ls sub; stat -c %a .",
        );
        assert_eq!(lines, ["two", "new", "x", "750"]);
        assert_eq!(Site::content(&site.workspace), before, "{user:?}");
        let upper = Site::content(&site.path("layers/upper"));
        let at = |name: &str| {
            upper.iter().find(|(path, _)| path == Path::new(name)).map(|(_, text)| text.as_str())
        };
        assert_eq!((at("tracked"), at("absolute"), at("a/b/c")), (Some("two\n"), Some("new\n"), Some("x\n")));
        // What was removed is a device without a number.
        assert!(at("sub/file").is_some_and(|kind| kind.contains("FileType")), "{upper:?}");
    }
}

#[test]
fn a_commit_inside_is_not_seen_outside() {
    for user in users() {
        let site = Site::new(user);
        let git = |words: &[&str]| {
            let safe = format!("safe.directory={}", site.workspace.display());
            let output = Command::new("git")
                .args(["-c", &safe, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
                .args(words)
                .current_dir(&site.workspace)
                .output()
                .unwrap();
            assert!(output.status.success(), "{words:?} {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        git(&["init", "--quiet", "--initial-branch=main"]);
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message=first"]);
        fs::create_dir(site.workspace.join(".git/seriatim")).unwrap();
        fs::write(site.workspace.join(".git/seriatim/journal"), "steps").unwrap();
        site.hand_over();
        let before = Site::content(&site.workspace);
        let mut plan = site.plan();
        plan.hide.push(site.workspace.join(".git/seriatim"));
        let text = "export HOME=$WS GIT_AUTHOR_NAME=B GIT_AUTHOR_EMAIL=b GIT_COMMITTER_NAME=B GIT_COMMITTER_EMAIL=b; \
             echo two > tracked; git commit --quiet --all --message=second && git log --format=%s; \
             echo '#!/bin/sh' > .git/hooks/pre-commit; ls -A .git/seriatim; echo x > .git/seriatim/journal; \
             rm -rf .git; ls -A .git";
        let outcome = site.run(&Spawn { world: Some(plan), ..site.script(text) });
        assert_eq!(outcome.lines[..2], ["second", "first"], "{user:?} {}", outcome.ended().stderr);
        assert!(outcome.lines.contains(&"seriatim".to_owned()), "the hidden folder cannot be removed");
        assert_eq!(Site::content(&site.workspace), before);
        assert_eq!(git(&["log", "--format=%s"]), "first\n");
    }
}

#[test]
fn hidden_places_are_empty_and_read_only_but_for_what_is_shared_or_shown_below_them() {
    for user in users() {
        let site = Site::new(user);
        for name in ["desk", "brief"] {
            fs::create_dir(site.path("store").join(name)).unwrap();
        }
        fs::write(site.path("store/brief/text"), "do it\n").unwrap();
        fs::write(site.path("store/note"), "note\n").unwrap();
        fs::write(site.path("shared/token"), "key\n").unwrap();
        site.hand_over();
        let mut plan = site.plan();
        plan.share.push(site.path("store/desk"));
        plan.show.push(site.path("store/brief"));
        plan.show.push(site.path("store/note"));
        plan.hide.push(site.path("shared/token"));
        plan.hide.push(site.path("no such place"));
        let text = "ls \"$STORE\"; cat \"$STORE/journal\"; cat \"$STORE/brief/text\" \"$STORE/note\"; \
             echo done > \"$STORE/desk/report\"; wc -c < \"$SHARED/token\"; \
             for f in \"$STORE/x\" \"$STORE/brief/x\" \"$STORE/note\" \"$SHARED/token\"; do \
             if echo x > \"$f\"; then echo wrote $f; fi; done; true";
        let outcome = site.run(&Spawn { world: Some(plan), ..site.script(text) });
        let expected = ["brief", "desk", "note", "do it", "note", "0"];
        assert_eq!(outcome.lines[..6], expected, "{user:?} {:?} {}", outcome.lines, outcome.ended().stderr);
        assert!(!outcome.lines.iter().any(|line| line.starts_with("wrote")), "{:?}", outcome.lines);
        assert_eq!(fs::read_to_string(site.path("store/desk/report")).unwrap(), "done\n");
        assert_eq!(fs::read_to_string(site.path("store/journal")).unwrap(), "secret\n");
        assert_eq!(fs::read_to_string(site.path("shared/token")).unwrap(), "key\n");
    }
}

#[test]
fn temporary_folders_are_private() {
    for user in users() {
        let site = Site::new(user);
        let lines = site.lines(
            "ls -A /tmp /dev/shm; for d in /tmp /var/tmp /dev/shm; do echo x > $d/mine && stat -c '%a %n' $d; done; \
             cat \"$SITE/engine\" | wc -c",
        );
        assert!(lines.ends_with(&["1777 /dev/shm".to_owned(), "0".to_owned()]), "{lines:?}");
        for (own, real) in [("tmp", "/tmp"), ("vartmp", "/var/tmp"), ("shm", "/dev/shm")] {
            assert_eq!(fs::read_to_string(site.path("layers/own").join(own).join("mine")).unwrap(), "x\n");
            assert!(!Path::new(real).join("mine").exists());
        }
    }
}

#[test]
fn paths_may_have_any_name_and_lie_anywhere() {
    let names: [&[u8]; 7] = [
        b"two words",
        b"comma,comma",
        b"colon:colon",
        b"line\nend",
        b"back\\slash\\040",
        "\u{fc}ber\u{2603}".as_bytes(),
        b"not \xff UTF-8",
    ];
    for user in users() {
        for name in names {
            let site = Site::in_base(user, Path::new("/var/tmp"), OsStr::from_bytes(name));
            site.lines("echo two > tracked; cat sub/file > copy");
            assert_eq!(fs::read_to_string(site.path("layers/upper/copy")).unwrap(), "deep\n");
            assert_eq!(fs::read_to_string(site.workspace.join("tracked")).unwrap(), "one\n");
        }
        for base in ["/tmp", "/dev/shm"] {
            let site = Site::in_base(user, Path::new(base), OsStr::new("workspace"));
            // Of the layers the private folders alone are seen, which the list of mounts names.
            site.lines(
                "echo two > tracked; test \"$(cd \"$SITE\" && echo * layers/* layers/own/*)\" = 'layers shared store \
                 workspace layers/own layers/own/shm layers/own/tmp layers/own/vartmp'",
            );
            assert_eq!(fs::read_to_string(site.path("layers/upper/tracked")).unwrap(), "two\n");
            assert_eq!(fs::read_to_string(site.workspace.join("tracked")).unwrap(), "one\n");
        }
    }
}

/// Sandboxes that programs make inside look for a folder under the name that the list of mounts gives it, and cover it
/// there too.
#[test]
fn private_folders_are_where_the_list_of_mounts_says() {
    for user in users() {
        let site = Site::new(user);
        let found = site.lines(
            r#"while read -r _ _ _ root point _; do case "$point" in /tmp|/var/tmp|/dev/shm)
               [ "$root" = / ] || { echo x >"$point/mine"; rm "$root/mine" && echo "$point"; } ;; esac; done </proc/self/mountinfo
               ! ls -A /tmp /var/tmp /dev/shm | grep mine"#,
        );
        assert_eq!(found, ["/tmp", "/var/tmp", "/dev/shm"]);
    }
}

#[test]
fn layers_between_lie_over_each_other_in_their_order() {
    for user in users() {
        let site = Site::new(user);
        for (layer, files) in [("top", &["a"][..]), ("low", &["a", "b"])] {
            fs::create_dir(site.path("layers").join(layer)).unwrap();
            for file in files {
                fs::write(site.path("layers").join(layer).join(file), layer).unwrap();
            }
        }
        site.hand_over();
        let mut plan = site.plan();
        plan.covers[0].lowers = vec![site.path("layers/top"), site.path("layers/low")];
        let text = "cat a; echo; cat b; echo; cat tracked; echo changed > b";
        let outcome = site.run(&Spawn { world: Some(plan), ..site.script(text) });
        assert_eq!(outcome.lines, ["top", "low", "one"], "{}", outcome.ended().stderr);
        assert_eq!(fs::read_to_string(site.path("layers/low/b")).unwrap(), "low");
        assert_eq!(fs::read_to_string(site.path("layers/upper/b")).unwrap(), "changed\n");
    }
}

#[test]
fn input_is_never_a_real_file() {
    for user in users() {
        let site = Site::new(user);
        fs::write(site.path("store/brief"), "do it\n").unwrap();
        site.hand_over();
        let spawn = site.script("readlink /proc/self/fd/0; cat");
        let file = site.run(&Spawn { stdin: Input::File(site.path("store/brief")), ..spawn.clone() });
        assert!(file.lines[0].starts_with("/memfd:"), "{:?}", file.lines);
        assert_eq!(file.lines[1], "do it");
        let nothing = site.run(&spawn);
        assert_eq!(nothing.lines, ["/dev/null"]);
        let large = Input::Bytes(vec![b'x'; 3 << 20]);
        let bytes = site.run(&Spawn { stdin: large, ..site.script("wc -c") });
        assert_eq!(bytes.lines, ["3145728"]);
    }
}

#[test]
fn without_network_there_is_loopback_and_nothing_else() {
    for user in users() {
        let site = Site::new(user);
        let plan = WorldPlan { network: Network::None, ..site.plan() };
        let text = "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; grep -c 127.0.0.1 /proc/net/fib_trie; \
             tail -n +2 /proc/net/route";
        let outcome = site.run(&Spawn { world: Some(plan), ..site.script(text) });
        let (names, rest) = outcome.lines.split_first().unwrap();
        assert_eq!(names, "lo", "{:?}", outcome.lines);
        assert!(rest.iter().any(|line| line.parse::<u32>().is_ok_and(|count| count > 0)), "{rest:?}");
        // Interfaces for tunnels that some kernels make everywhere have no address and no route.
        assert!(rest.iter().all(|line| !line.contains("eth")), "{rest:?}");
    }
}

#[test]
fn the_working_folder_is_the_one_of_the_view() {
    for user in users() {
        let site = Site::new(user);
        let spawn =
            Spawn { cwd: site.workspace.join("sub"), ..site.script("pwd -P; echo x > here; echo $$ $PPID") };
        let outcome = site.run(&spawn);
        assert_eq!(outcome.ended().how, How::Exited(0));
        assert_eq!(outcome.lines[0], site.workspace.join("sub").display().to_string());
        assert!(outcome.lines[1].ends_with(" 1"), "its parent is the first process of the world");
        assert!(!site.workspace.join("sub/here").exists());
        assert!(site.path("layers/upper/sub/here").exists());
    }
}

#[test]
fn covers_may_lie_inside_of_each_other() {
    for user in users() {
        let site = Site::new(user);
        let home = site.path("shared/home");
        let project = home.join("project");
        fs::create_dir_all(&project).unwrap();
        fs::write(home.join("rc"), "rc\n").unwrap();
        fs::write(project.join("file"), "one\n").unwrap();
        for name in ["upper2", "work2"] {
            fs::create_dir(site.path("layers").join(name)).unwrap();
        }
        site.hand_over();
        let mut plan = site.plan();
        plan.share.clear();
        plan.covers[0].at = project.clone();
        let (upper, work) = (site.path("layers/upper2"), site.path("layers/work2"));
        // The outer one comes last: the order in the plan does not matter.
        plan.covers.push(Cover { at: home.clone(), lowers: vec![], upper, work });
        let text = "echo two > file; echo x > ../new; cat ../rc file";
        let outcome = site.run(&Spawn { world: Some(plan), cwd: project, ..site.script(text) });
        assert_eq!(outcome.lines, ["rc", "two"], "{user:?} {}", outcome.ended().stderr);
        assert_eq!(fs::read_to_string(site.path("layers/upper/file")).unwrap(), "two\n");
        assert_eq!(fs::read_to_string(site.path("layers/upper2/new")).unwrap(), "x\n");
        assert_eq!(fs::read_to_string(home.join("project/file")).unwrap(), "one\n");
        assert!(!home.join("new").exists());
    }
}

#[test]
fn a_socket_that_is_shared_can_be_used() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("not tried: it needs python3");
        return;
    }
    for user in users() {
        let site = Site::new(user);
        let listener = UnixListener::bind(site.path("store/socket")).unwrap();
        site.hand_over();
        let mut plan = site.plan();
        plan.share.push(site.path("store/socket"));
        let text = "python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); \
             s.sendall(b\"phase\")' \"$STORE/socket\"";
        let outcome = site.run(&Spawn { world: Some(plan), ..site.script(text) });
        assert!(outcome.ended().success(), "{user:?} {}", outcome.ended().stderr);
        let mut told = String::new();
        listener.accept().unwrap().0.read_to_string(&mut told).unwrap();
        assert_eq!(told, "phase");
    }
}
