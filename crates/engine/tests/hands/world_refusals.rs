//! Worlds that cannot be made, and what is said about them.

use std::fs;
use std::process::Command;

use rustix::fs::FlockOperation;
use rustix::fs::flock;
use seriatim_engine::hands::process::Spawn;
use seriatim_engine::hands::process::SpawnError;
use seriatim_engine::hands::world::WorldFault;
use seriatim_engine::hands::world::WorldPlan;
use seriatim_engine::hands::world::WorldStep;
use seriatim_engine::hands::world::mounts_below;

use crate::world_site::Site;
use crate::world_site::User;
use crate::world_site::run_engine;
use crate::world_site::users;

#[track_caller]
fn fault(error: &SpawnError) -> &WorldFault {
    match error {
        SpawnError::World(fault) => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn a_probe_tries_everything_and_leaves_nothing() {
    for user in users() {
        let site = Site::new(user);
        let layers = site.path("layers");
        let before = Site::content(&layers);
        let output = site.engine(&["probe", layers.to_str().unwrap()]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(Site::content(&layers), before);
        let output = site.engine(&["probe", "/no/such/folder"]).output().unwrap();
        assert!(!output.status.success());
    }
}

#[test]
fn a_probe_says_what_would_help_where_namespaces_are_switched_off() {
    for user in users() {
        let site = Site::new(user);
        let program = site.path("engine").display().to_string();
        let layers = site.path("layers").display().to_string();
        let mut shell = Command::new("unshare");
        let text = "echo 0 > /proc/sys/user/max_user_namespaces; echo 0 > /proc/sys/user/max_pid_namespaces; \
             exec \"$0\" probe \"$1\"";
        if user == User::Other {
            shell = Command::new("setpriv");
            shell.args(["--reuid", "12345", "--regid", "12345", "--clear-groups", "--", "unshare"]);
        }
        let output = shell.args(["-Ur", "sh", "-c", text, &program, &layers]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("could not create a PID namespace"), "{said}");
        assert!(said.contains("sysctl user.max_user_namespaces"), "{said}");
    }
}

#[test]
fn layers_that_another_world_uses_are_refused() {
    for user in users() {
        let site = Site::new(user);
        let upper = fs::File::open(site.path("layers/upper")).unwrap();
        flock(&upper, FlockOperation::LockExclusive).unwrap();
        let outcome = site.run(&site.script("true"));
        assert_eq!(fault(outcome.refused()).step, WorldStep::Layers);
        drop(upper);
        site.lines("true");
    }
}

#[test]
fn layers_inside_of_what_they_cover_are_refused() {
    for user in users() {
        let site = Site::new(user);
        let mut plan = site.plan();
        plan.covers[0].at = site.path("");
        let outcome = site.run(&Spawn { world: Some(plan), ..site.script("true") });
        let fault = fault(outcome.refused());
        assert_eq!((fault.step, fault.errno), (WorldStep::Layers, None));
        assert!(fault.reason.contains("lies inside of"), "{fault}");
    }
}

#[test]
fn what_is_not_there_or_not_absolute_is_refused_by_its_name() {
    for user in users() {
        let site = Site::new(user);
        let refuse = |change: &dyn Fn(&mut WorldPlan)| {
            let mut plan = site.plan();
            change(&mut plan);
            fault(site.run(&Spawn { world: Some(plan), ..site.script("true") }).refused()).clone()
        };
        let missing = refuse(&|plan| plan.share.push("/no/such/place".into()));
        assert_eq!((missing.step, missing.errno), (WorldStep::Share, Some(2)));
        assert!(missing.reason.contains("/no/such/place"), "{missing}");
        assert_eq!(refuse(&|plan| plan.show.push("relative".into())).step, WorldStep::Show);
        assert_eq!(refuse(&|plan| plan.covers[0].at = "/".into()).step, WorldStep::Layers);
        assert_eq!(refuse(&|plan| plan.share.push("/".into())).step, WorldStep::Layers);
        if user == User::Other {
            let foreign = refuse(&|plan| plan.covers[0].work = "/var/tmp".into());
            assert!(foreign.reason.contains("another user"), "{foreign}");
        }
        assert_eq!(refuse(&|plan| plan.own = "/no/such/place".into()).step, WorldStep::Temporary);
        assert_eq!(refuse(&|plan| plan.covers[0].upper = "/no/such/place".into()).step, WorldStep::Layers);
    }
}

#[test]
fn a_mount_point_inside_of_the_workspace_is_refused() {
    if !rustix::process::geteuid().is_root() {
        println!("not tried: only root can mount something there");
        return;
    }
    for user in users() {
        let site = Site::new(user);
        let inside = site.workspace.join("sub").display().to_string();
        let refuse = |spawn: &Spawn| {
            let file = site.describe(spawn);
            let engine = site.engine(&["spawn", &file]);
            let mut shell = Command::new("unshare");
            shell.args(["-m", "sh", "-c", "mount -t tmpfs x \"$0\" && exec \"$@\"", &inside]);
            shell.arg(engine.get_program()).args(engine.get_args()).current_dir("/");
            run_engine(&mut shell)
        };
        let outcome = refuse(&site.script("true"));
        let found = fault(outcome.refused());
        assert_eq!(found.step, WorldStep::Overlay);
        assert!(found.reason.contains("mount point"), "{found}");
        if user == User::Current {
            let mut plan = site.plan();
            plan.share.push(site.workspace.join("sub"));
            let outcome = refuse(&Spawn { world: Some(plan), ..site.script("echo x > sub/new && ls sub") });
            assert_eq!(outcome.lines, ["new"]);
        }
    }
    assert!(mounts_below("/proc/self".as_ref()).is_empty());
}

#[test]
fn layers_on_an_overlay_are_refused() {
    if !rustix::process::geteuid().is_root() {
        println!("not tried: only root can mount an overlay there");
        return;
    }
    let site = Site::new(User::Current);
    if users().is_empty() {
        return;
    }
    let file = site.describe(&site.script("true"));
    let layers = site.path("layers").display().to_string();
    let text = "mkdir /dev/shm/o && mount -t tmpfs x /dev/shm/o && cd /dev/shm/o && mkdir u w && \
         mount -t overlay x -o lowerdir=\"$0\",upperdir=u,workdir=w \"$0\" && rmdir /dev/shm/o 2>/dev/null; exec \"$@\"";
    let mut shell = Command::new("unshare");
    shell.args(["-m", "sh", "-c", text, &layers]).arg(site.path("engine")).args(["spawn", &file]);
    let outcome = run_engine(&mut shell);
    let _ = fs::remove_dir("/dev/shm/o");
    let found = fault(outcome.refused());
    assert_eq!(found.step, WorldStep::Layers);
    assert!(found.reason.contains("overlay"), "{found}");
}
