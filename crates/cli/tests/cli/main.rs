//! The built program, driven as people and scripts drive it. One binary, so that it links once.

#[cfg(test)]
mod action_approval;
#[cfg(test)]
mod action_beside;
#[cfg(test)]
mod action_build;
#[cfg(test)]
mod action_evidence;
#[cfg(test)]
mod action_kinds;
#[cfg(test)]
mod action_lifecycle;
#[cfg(test)]
mod action_output;
#[cfg(test)]
mod action_quality;
#[cfg(test)]
mod action_review;
#[cfg(test)]
mod action_rollback;
#[cfg(test)]
mod action_start;
#[cfg(test)]
mod action_support;
#[cfg(test)]
mod action_trouble;
#[cfg(test)]
mod answers;
#[cfg(test)]
mod cancel;
#[cfg(test)]
mod check;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod commit_exact;
#[cfg(test)]
mod configuration;
#[cfg(test)]
mod conform_command;
#[cfg(test)]
mod copy_isolation;
#[cfg(test)]
mod cycle;
#[cfg(test)]
mod cycle_approval;
#[cfg(test)]
mod cycle_course;
#[cfg(test)]
mod cycle_limits;
#[cfg(test)]
mod cycle_roles;
#[cfg(test)]
mod deadlines;
#[cfg(test)]
mod doctor_isolation;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod guard_apart;
#[cfg(test)]
mod guard_broken;
#[cfg(test)]
mod guard_commit;
#[cfg(test)]
mod guard_commit_gates;
#[cfg(test)]
mod guard_doctor;
#[cfg(test)]
mod guard_doors;
#[cfg(test)]
mod guard_ends;
#[cfg(test)]
mod guard_engine;
#[cfg(test)]
mod guard_gates;
#[cfg(test)]
mod guard_hooks;
#[cfg(test)]
mod guard_live;
#[cfg(test)]
mod guard_phases;
#[cfg(test)]
mod guard_review;
#[cfg(test)]
mod guard_scope;
#[cfg(test)]
mod guard_setup;
#[cfg(test)]
mod guard_stage;
#[cfg(test)]
mod guard_stops;
#[cfg(test)]
mod guard_summary;
#[cfg(test)]
mod inside_attempt;
#[cfg(test)]
mod kept_output;
#[cfg(test)]
mod log_command;
#[cfg(test)]
#[path = "../shared/phases.rs"]
mod phases;
#[cfg(test)]
mod pinned_config;
#[cfg(test)]
mod process;
#[cfg(test)]
mod promise_action;
#[cfg(test)]
mod promise_cycle;
#[cfg(test)]
mod promise_process;
#[cfg(test)]
mod promise_reading;
#[cfg(test)]
mod promise_roadmap;
#[cfg(test)]
mod prompt;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod reports;
#[cfg(test)]
mod roadmap_cheating;
#[cfg(test)]
mod roadmap_commands;
#[cfg(test)]
mod roadmap_finalize;
#[cfg(test)]
mod roadmap_gate;
#[cfg(test)]
mod roadmap_generations;
#[cfg(test)]
mod roadmap_kinds;
#[cfg(test)]
mod roadmap_messages;
#[cfg(test)]
mod roadmap_moves;
#[cfg(test)]
mod roadmap_parallel;
#[cfg(test)]
mod roadmap_parallel_kept;
#[cfg(test)]
mod roadmap_prompts;
#[cfg(test)]
mod roadmap_refused;
#[cfg(test)]
mod roadmap_resume;
#[cfg(test)]
mod roadmap_rollback;
#[cfg(test)]
mod roadmap_support;
#[cfg(test)]
mod roadmap_user_files;
#[cfg(test)]
mod roadmap_whole;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod sharing;
#[cfg(test)]
mod sixth_dialect;
#[cfg(test)]
mod snapshot_command;
#[cfg(test)]
mod storage;
#[cfg(test)]
mod store_lost;
#[cfg(test)]
mod store_place;
#[cfg(test)]
mod store_private;
#[cfg(test)]
mod support;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod test_bench_command;
#[cfg(test)]
mod test_decide_command;
#[cfg(test)]
mod test_gates_command;
#[cfg(test)]
mod test_observe_command;
#[cfg(test)]
mod test_process_command;
#[cfg(test)]
mod verify;
#[cfg(test)]
mod world_command;
#[cfg(test)]
mod world_crashes;
#[cfg(test)]
mod world_dialects;
#[cfg(test)]
mod world_hostile;
#[cfg(test)]
mod world_people;
mod world_steering;
#[cfg(test)]
mod world_support;
#[cfg(test)]
mod world_workspaces;

#[test]
fn no_test_file_is_forgotten() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || listed.contains(&format!("mod {module};")), "{name} is not listed");
    }
}
