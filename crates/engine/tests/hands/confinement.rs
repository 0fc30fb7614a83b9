//! What a process in a world tries in order to get out of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use seriatim_engine::hands::process::Spawn;

use crate::world_site::Site;
use crate::world_site::User;
use crate::world_site::run_engine;
use crate::world_site::users;

#[test]
fn the_first_process_cannot_be_killed_or_looked_into() {
    for user in users() {
        let site = Site::new(user);
        let lines = site.lines(
            "for s in KILL TERM STOP INT HUP; do kill -$s 1; done; \
             for f in environ fd/0 root/etc/passwd cwd/etc/passwd maps; do head -c 1 /proc/1/$f > /dev/null 2>&1 && echo readable $f; done; \
             ls /proc | grep -c '^[0-9]'; echo alive",
        );
        assert_eq!(lines.last().unwrap(), "alive", "{user:?}");
        let count: u32 = lines[lines.len() - 2].parse().unwrap();
        assert!(count < 8, "processes of the machine are seen: {lines:?}");
        assert_eq!(lines.len(), 2, "{user:?} {lines:?}");
    }
}

#[test]
fn no_privilege_is_left() {
    for user in users() {
        let site = Site::new(user);
        let lines = site.lines("grep -E '^(Cap|NoNewPrivs)' /proc/self/status; ls /proc/self/fd");
        for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            assert!(lines.contains(&format!("{name}:\t0000000000000000")), "{user:?} {lines:?}");
        }
        assert!(lines.contains(&"NoNewPrivs:\t1".to_owned()));
        // Input, two outputs, and the folder that `ls` reads.
        assert_eq!(lines[6..], ["0", "1", "2", "3"], "{user:?}");
    }
}

#[test]
fn only_what_was_granted_is_mounted_writable() {
    for user in users() {
        let site = Site::new(user);
        let lines = site.lines("cut -d' ' -f5,6 /proc/self/mountinfo");
        let writable: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.split_once(' '))
            .filter(|(_, options)| options.split(',').any(|option| option == "rw"))
            .map(|(point, _)| point)
            .collect();
        let granted = [site.workspace.display().to_string(), site.path("shared").display().to_string()];
        for point in &writable {
            // The private folders have their name on disk besides, for sandboxes that look for it.
            let private = point.contains("/layers/own/");
            let known = ["/tmp", "/var/tmp", "/dev/shm", "/dev/pts", "/proc"].contains(point) || private;
            // Below another mount, and so out of reach: checked by the attempts to write.
            let shadowed = lines.iter().filter(|line| line.split(' ').next() == Some(point)).count() > 1;
            assert!(known || shadowed || granted.iter().any(|it| it == point), "{user:?} {point} {lines:#?}");
        }
        assert!(writable.contains(&granted[0].as_str()));
    }
}

#[test]
fn no_place_outside_can_be_written() {
    for user in users() {
        let site = Site::new(user);
        // As another user most of these are closed anyway, so that user gets a folder of its own as well.
        fs::create_dir(site.path("shared/../open")).unwrap();
        fs::set_permissions(site.path("open"), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let mut spawn = site.script(
            "for d in / /etc /usr /usr/local /var /var/lib /opt /root /home /mnt /dev /run /sys /sys/kernel /proc/sys \
             /proc/sys/kernel \"$SITE/open\" \"$STORE\"; do \
             touch \"$d/seriatim-test\" 2>/dev/null && echo \"made a file in $d\"; \
             chmod 777 \"$d\" 2>/dev/null && echo \"changed $d\"; done; \
             for f in /proc/sys/kernel/hostname /proc/sysrq-trigger /proc/sys/vm/drop_caches; do \
             (echo x > $f) 2>/dev/null && echo \"wrote $f\"; done; \
             find / -xdev -maxdepth 4 \\( -path /tmp -o -path /var/tmp \\) -prune -o -writable -not -type l -not -type c -print 2>/dev/null \
             | head -n 3; true",
        );
        spawn.deadline_ms = Some(120_000);
        let mut plan = site.plan();
        plan.show.push(site.path("open"));
        let outcome = site.run(&Spawn { world: Some(plan), ..spawn });
        assert_eq!(outcome.lines, Vec::<String>::new(), "{user:?} {}", outcome.ended().stderr);
        assert!(outcome.ended().success());
        assert!(!Path::new("/etc/seriatim-test").exists());
    }
}

#[test]
fn mounting_and_new_namespaces_undo_nothing() {
    for user in users() {
        let site = Site::new(user);
        let nested = "umount \"$WS\"; umount \"$STORE\"; umount -l \"$WS\"; umount /run; mount -o remount,rw,bind /; \
             mount -o remount,rw,bind \"$STORE\"; mount -o remount,rw /proc/sys; cat \"$STORE/journal\"; \
             echo leaked > \"$WS/tracked\"; echo leaked > /etc/seriatim-test; mount -t overlay x /mnt; \
             mount -t proc proc /mnt && cat \"/mnt/1/root$STORE/journal\"; true";
        let text = format!(
            "try() {{ {nested}; }}; try; mount -t tmpfs x /mnt && echo mounted; \
             export WS STORE; unshare -Urm sh -c '{}'; unshare -Ur --pid --fork --mount-proc sh -c '{}'; \
             nsenter --target 1 --mount true && echo entered; chroot / true && echo rooted; \
             cat \"$STORE\"/* ; true",
            nested.replace('\'', "'\\''"),
            nested.replace('\'', "'\\''")
        );
        let outcome = site.run(&site.script(&text));
        assert!(outcome.ended().success());
        assert_eq!(outcome.lines, Vec::<String>::new(), "{user:?}");
        assert_eq!(fs::read_to_string(site.workspace.join("tracked")).unwrap(), "one\n");
        assert!(!Path::new("/etc/seriatim-test").exists());
        assert_eq!(fs::read_to_string(site.path("layers/upper/tracked")).unwrap(), "leaked\n");
    }
}

#[test]
fn descriptors_that_the_engine_inherited_do_not_lead_out() {
    for user in users() {
        let site = Site::new(user);
        let file = site.describe(&site.script("ls /proc/self/fd; ls /proc/self/fd/7/ && echo leaked; true"));
        let engine = site.engine(&["spawn", &file]);
        let mut words: Vec<_> = vec![engine.get_program().to_owned()];
        words.extend(engine.get_args().map(ToOwned::to_owned));
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec 7</; exec \"$@\"", "sh"]).args(words).current_dir("/");
        let outcome = run_engine(&mut shell);
        assert_eq!(outcome.lines, ["0", "1", "2", "3"], "{user:?}");
    }
}

#[test]
fn a_link_in_a_layer_does_not_move_a_mount() {
    for user in users() {
        let site = Site::new(user);
        fs::create_dir(site.workspace.join("target")).unwrap();
        fs::create_dir(site.path("layers/earlier")).unwrap();
        std::os::unix::fs::symlink("/etc", site.path("layers/earlier/target")).unwrap();
        site.hand_over();
        let mut plan = site.plan();
        plan.covers[0].lowers = vec![site.path("layers/earlier")];
        plan.share.push(site.workspace.join("target"));
        let outcome = site.run(&Spawn { world: Some(plan), ..site.script("true") });
        assert!(outcome.refused().to_string().contains("target"), "{}", outcome.refused());
    }
}

#[test]
fn abstract_sockets_of_the_machine_are_out_of_reach() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;
    use std::os::unix::net::UnixListener;

    if seriatim_engine::hands::walls::landlock_abi() < Some(6) {
        println!("not tried: this kernel cannot scope abstract sockets");
        return;
    }
    if Command::new("python3").arg("--version").output().is_err() {
        println!("not tried: it needs python3");
        return;
    }
    let name = format!("seriatim-test-{}", std::process::id());
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let text = format!(
        "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"\\0{name}\"); print(\"connected\")'"
    );
    assert!(Command::new("sh").args(["-c", &text]).output().unwrap().status.success());
    for user in users() {
        let site = Site::new(user);
        let outcome = site.run(&site.script(&text));
        assert_eq!(outcome.lines, Vec::<String>::new(), "{user:?}");
        assert!(outcome.ended().stderr.contains("not permitted"), "{}", outcome.ended().stderr);
    }
}

#[test]
fn a_user_who_is_not_root_is_itself_inside() {
    for user in users() {
        let site = Site::new(user);
        let expected = if user == User::Other { "12345 12345" } else { "" };
        let lines = site.lines("echo $(id -u) $(id -g); stat -c '%u %g' \"$WS\"");
        assert!(expected.is_empty() || lines == [expected, expected], "{lines:?}");
        assert_eq!(lines[0], lines[1]);
    }
}
