//! `bench`: the form of its document, what can be counted, and that nothing stays behind. No times: they are the
//! machine's.

use serde_json::Value;

use crate::support::Env;

fn is_positive(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number > 0.0)
}

#[test]
fn small_works_of_all_kinds_are_measured_and_leave_nothing_behind() {
    let env = Env::new();
    let (document, exit) = env.json(&["bench", "-n", "8", "-m", "3"]);
    assert_eq!(exit, Some(0), "{document}");
    let measured = [
        ("limit", "sqlite_full_per_s"),
        ("limit", "fdatasync_per_s"),
        ("w1", "steps_per_s"),
        ("w1", "ratio"),
        ("w1", "peak_rss_bytes"),
        ("w2", "steps_per_s"),
        ("w2", "runs_per_s"),
        ("w2", "ratio"),
        ("w2", "peak_rss_bytes"),
        ("w3", "resume_s"),
        ("w4", "resume_s"),
        ("w4", "bytes_per_run"),
    ];
    for (work, figure) in measured {
        assert!(is_positive(&document[work][figure]), "{work}.{figure} in {document}");
    }
    // One for the beginning, one for the first request, and one per step; shared by all runs of w2.
    assert_eq!(document["w1"]["syncs_per_step"], 1.25, "10 commits for 8 steps");
    assert_eq!(document["w2"]["syncs_per_step"], 0.4167, "10 commits for 24 steps");
    // What was finished when the process was killed is not done again.
    assert_eq!(document["w3"]["repeated"], 0);
    assert!(document["w3"]["in_flight_repeated"].as_u64().unwrap() <= 1, "{document}");
    assert_eq!(document["w4"]["processes"], 0);
    assert_eq!(document.get("size"), None);
    assert!(env.files_below("").is_empty(), "{:?}", env.files_below(""));
    assert!(!env.store().exists());
}

#[test]
fn works_not_asked_for_are_absent_and_the_store_is_where_it_was_wanted() {
    let env = Env::new();
    let (document, exit) = env.json(&["bench", "--work", "w4", "-m", "2", "--store", "elsewhere"]);
    assert_eq!(exit, Some(0), "{document}");
    let names: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(names, ["disk", "w4"]);
    assert!(!env.path("elsewhere").exists() && !env.store().exists());
    let output = env.run(&["bench", "--work", "w4", "-m", "2"]).exits(0).says("at most 200 ms");
    assert!(output.stderr.is_empty(), "{}", output.snapshot());
}

#[test]
fn words_that_mean_nothing_are_refused_and_nothing_is_made() {
    let env = Env::new();
    for args in [["bench", "--work", "w9"], ["bench", "-n", "0"], ["bench", "-m", "many"]] {
        env.run(&args).exits(2);
    }
    env.file("taken", "a file");
    env.run(&["bench", "--work", "w4", "--store", "taken"]).exits(2);
    assert!(!env.store().exists());
}

#[test]
fn attempts_in_worlds_are_measured_beside_those_without_and_leave_nothing_behind() {
    let env = Env::new();
    let (document, exit) = env.json(&["bench", "--work", "w5", "-n", "2", "-m", "400"]);
    assert_eq!(exit, Some(0), "{document}");
    for figure in ["spawn_s", "bare_s", "world_s", "many_ratio", "read_empty_s", "read_s"] {
        assert!(is_positive(&document["w5"][figure]), "{figure} in {document}");
    }
    // Two folders of a hundred files are removed, and fifty files are changed.
    assert_eq!(document["w5"]["changed"], 250, "{document}");
    assert!(env.files_below("").is_empty() && !env.store().exists());
}
