//! Walls: what a process may reach where there is no world.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;

use seriatim_engine::hands::process::How;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::SpawnError;
use seriatim_engine::hands::walls::ABI_MIN;
use seriatim_engine::hands::walls::Walls;
use seriatim_engine::hands::walls::landlock_abi;
use seriatim_engine::hands::world::Network;

use crate::world_site::Site;
use crate::world_site::User;

fn sites() -> Vec<Site> {
    if landlock_abi() < Some(ABI_MIN) {
        println!("not tried: this kernel has version {:?} of Landlock", landlock_abi());
        return vec![];
    }
    let mut users = vec![User::Current];
    if rustix::process::geteuid().is_root() {
        users.push(User::Other);
    } else {
        println!("not tried as another user: only root can become one");
    }
    users.into_iter().map(Site::new).collect()
}

fn walls(site: &Site) -> Walls {
    let system = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", "/no/such/place"];
    Walls {
        read_write: vec![site.workspace.clone(), site.path("shared")],
        read_only: system.iter().map(PathBuf::from).chain([site.path("store/journal")]).collect(),
        network: Network::Host,
    }
}

#[test]
fn walls_allow_and_deny() {
    for site in sites() {
        fs::write(site.path("store/other"), "hidden\n").unwrap();
        site.hand_over();
        let text = "echo two > tracked; echo x > \"$SHARED/new\"; mkdir a; mv tracked a/moved; echo n > /dev/null; \
             cat a/moved \"$STORE/journal\"; \
             cat \"$STORE/other\" && echo read; ls \"$STORE\" && echo listed; (echo x > \"$STORE/journal\") && echo wrote; \
             (: > \"$STORE/other\") && echo truncated; rm \"$STORE/other\" && echo removed; touch /etc/x && echo made; \
             ln \"$STORE/journal\" link && echo linked; true";
        let outcome = site.run(&site.walled(text, walls(&site)));
        assert_eq!(outcome.lines, ["two", "secret"], "{:?} {}", site.user, outcome.ended().stderr);
        assert_eq!(outcome.ended().how, How::Exited(0));
        assert_eq!(fs::read_to_string(site.path("store/other")).unwrap(), "hidden\n");
        assert_eq!(fs::read_to_string(site.workspace.join("a/moved")).unwrap(), "two\n");
    }
}

#[test]
fn walls_hold_for_descendants_and_the_supervisor_still_ends_them() {
    for site in sites() {
        let alive = site.fifo("alive");
        let text = "mkfifo ready; (setsid sh -c 'cat \"$STORE/other\"; exec 3> \"$SHARED/alive\"; echo go > ready; \
             echo here >&3; while :; do sleep 1; done' escapee &); read -r word < ready; exit 3";
        let outcome = site.run(&site.walled(text, walls(&site)));
        assert_eq!(outcome.ended().how, How::Exited(3), "{}", outcome.ended().stderr);
        alive.assert_over(0);
        assert!(!outcome.ended().killed.is_empty());
    }
}

#[test]
fn without_network_there_is_no_tcp() {
    if landlock_abi() < Some(4) {
        println!("not tried: this kernel has version {:?} of Landlock", landlock_abi());
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for site in sites() {
        let connect = format!("bash -c 'exec 3<> /dev/tcp/127.0.0.1/{port} && echo connected'; true");
        let host = site.run(&site.walled(&connect, walls(&site)));
        assert_eq!(host.lines, ["connected"], "{}", host.ended().stderr);
        let none = Walls { network: Network::None, ..walls(&site) };
        assert_eq!(site.run(&site.walled(&connect, none)).lines, Vec::<String>::new());
    }
}

#[test]
fn errors_are_judged_within_the_walls() {
    for site in sites() {
        let start = |program: &str| {
            let spawn = Spawn { argv: vec![program.to_owned()], ..site.walled("", walls(&site)) };
            site.run(&spawn).refused().clone()
        };
        assert_eq!(start("no-such-program"), SpawnError::NotFound { program: "no-such-program".to_owned() });
        assert_eq!(start("./neither").exit_code(), Some(127));
        assert_eq!(start(site.path("store/journal").to_str().unwrap()).exit_code(), Some(126));
    }
}

#[test]
fn walls_inside_of_a_world_hold_as_well() {
    for user in crate::world_site::users() {
        let site = Site::new(user);
        if sites().is_empty() {
            return;
        }
        let spawn = Spawn {
            world: Some(site.plan()),
            ..site.walled("echo x > new; ls /tmp && echo listed; true", walls(&site))
        };
        let outcome = site.run(&spawn);
        assert_eq!(outcome.lines, Vec::<String>::new(), "{}", outcome.ended().stderr);
        assert!(site.path("layers/upper/new").exists());
        assert!(!site.workspace.join("new").exists());
    }
}
