//! Merging while somebody saves, and what reading a change costs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use seriatim_engine::hands::disk::Disk;
use seriatim_engine::hands::files::Files;
use seriatim_engine::hands::files::MERGE_PREFIX;
use seriatim_engine::hands::files::TEMPORARY_PREFIX;
use seriatim_engine::hands::layers::HomeStep;

use crate::support::Layers;
use crate::support::nodes;

/// Saves as editors do.
fn save(path: &Path, text: &str) {
    let beside = path.with_file_name(".editor");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

fn texts(root: &Path) -> Vec<String> {
    if !root.exists() {
        return vec![];
    }
    nodes(root).keys().filter_map(|path| fs::read_to_string(root.join(path)).ok()).collect()
}

#[test]
fn an_editor_that_saves_in_a_loop_and_a_merge_lose_nothing() {
    let (mut merged, mut conflicts) = (0, 0);
    for round in 0..150u64 {
        let layers = Layers::new();
        for name in ["busy", "calm"] {
            layers.put(&format!("real/{name}"), "0");
            layers.put(&format!("upper/{name}"), "agent");
        }
        layers.put("upper/added", "agent");
        layers.begin();
        let stack = layers.stack(&["upper"]);
        let steps: Vec<HomeStep> = stack.change(&|_| false).unwrap().iter().map(HomeStep::from).collect();
        let (stop, last, busy) = (AtomicBool::new(false), AtomicU64::new(0), layers.at("real/busy"));
        let home = thread::scope(|scope| {
            scope.spawn(|| {
                // From round to round the editor begins at another moment of the merge.
                let start = Instant::now();
                while start.elapsed() < Duration::from_micros((round % 50) * 200) {
                    std::hint::spin_loop();
                }
                let mut number = 0;
                while !stop.load(Ordering::Relaxed) && number < 1 + round % 5 {
                    number += 1;
                    save(&busy, &number.to_string());
                    last.store(number, Ordering::Relaxed);
                }
            });
            let home = stack.home(&steps, &layers.at("kept")).unwrap();
            stop.store(true, Ordering::Relaxed);
            home
        });
        let (last, now) = (last.into_inner(), fs::read_to_string(&busy).unwrap());
        let kept = texts(&layers.at("kept"));
        let (calm, added) =
            (fs::read_to_string(layers.at("real/calm")).unwrap(), layers.at("real/added").exists());
        if home.conflicts.is_empty() {
            merged += 1;
            assert_eq!((calm.as_str(), added), ("agent", true), "{round}");
            // The editor saved before the end of the merge and was displaced, or after it, or never.
            assert!(now == "agent" && last == 0 || now == last.to_string(), "{round}: {now} {last} {kept:?}");
        } else {
            conflicts += 1;
            assert_eq!(
                (home.conflicts, calm.as_str(), added),
                (vec!["busy".to_owned()], "0", false),
                "{round}"
            );
            assert_eq!(now, last.to_string(), "{round}: {kept:?}");
        }
        let left: Vec<String> =
            nodes(&layers.at("real")).into_keys().filter(|name| name.starts_with('.')).collect();
        assert!(left.iter().all(|name| name == ".editor"), "{round}: {left:?}");
    }
    println!("{merged} merged, {conflicts} conflicts");
}

#[test]
fn displaced_files_are_kept_on_another_file_system_too() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped, there is no /dev/shm");
        return;
    };
    let layers = Layers::new();
    layers.put("real/edited", "old");
    layers.put("real/gone", "old");
    symlink("old", layers.at("real/link")).unwrap();
    layers.put("upper/edited", "new");
    symlink("new", layers.at("upper/link")).unwrap();
    layers.whiteout("upper/gone");
    layers.begin();
    let stack = layers.stack(&["upper"]);
    let before = nodes(&layers.at("real"));
    let steps: Vec<HomeStep> = stack.change(&|_| false).unwrap().iter().map(HomeStep::from).collect();
    let kept = memory.path().join("kept");
    assert_eq!(stack.home(&steps, &kept).unwrap().brought, ["edited", "gone", "link"]);
    assert_eq!(nodes(&kept.join("displaced")), before);
    assert_eq!(nodes(&layers.at("real")).into_keys().collect::<Vec<_>>(), ["edited", "link"]);
}

#[test]
fn others_do_not_clear_what_a_merge_put_aside() {
    let layers = Layers::new();
    let name = format!("{MERGE_PREFIX}0123456789ab-0");
    layers.put(&format!("real/{name}"), "somebody's file, after a crash");
    assert!(name.starts_with(TEMPORARY_PREFIX));
    assert_eq!(Disk.clear_temporary(&layers.at("real")), Ok(vec![]));
    assert!(layers.at("real").join(name).exists());
}

#[test]
fn reading_a_change_costs_what_the_change_is_large() {
    let layers = Layers::new();
    for number in 0..20_000 {
        layers.put(&format!("real/many/{}/{number}", number % 100), "untouched");
    }
    for number in 0..3_200 {
        layers.put(&format!("real/removed/{}/{number}", number % 40), &"line of a file\n".repeat(100));
    }
    for number in 0..50 {
        layers.put(&format!("real/edited/{number}"), &"old line\n".repeat(500));
        layers.put(&format!("upper/edited/{number}"), &"new line\n".repeat(500));
    }
    layers.whiteout("upper/removed");
    layers.begin();
    let stack = layers.stack(&["upper"]);
    let start = Instant::now();
    let changes = stack.change(&|_| false).unwrap();
    let read = start.elapsed();
    assert_eq!(changes.len(), 50 + 3_200 + 41);
    let steps: Vec<HomeStep> = changes.iter().map(HomeStep::from).collect();
    let start = Instant::now();
    stack.gate_layer(&steps, &layers.at("gate")).unwrap();
    let gate = start.elapsed();
    let start = Instant::now();
    assert_eq!(stack.home(&steps, &layers.at("kept")).unwrap().conflicts, Vec::<String>::new());
    println!("change {read:?}, gate layer {gate:?}, merge {:?}", start.elapsed());
    assert_eq!(stack.change(&|_| false).unwrap(), []);
}
