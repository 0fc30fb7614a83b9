//! The configuration of a run: what was recorded, how another one differs, and what people decided about it.

use serde_json::Value;
use serde_json::json;
use seriatim_core::choices::Choices;
use seriatim_core::config::Difference;
use seriatim_core::question::Choice;
use seriatim_core::question::Question;
use seriatim_engine::drive::ConfigChoice;
use seriatim_engine::drive::ConfigDecision;
use seriatim_engine::drive::History;
use seriatim_engine::drive::Undecided;

use crate::ui::Tone;
use crate::ui::Ui;
use crate::ui::tone;
use crate::workers::Worker;

/// Says on stderr in what the configuration differs.
pub(crate) fn tell(ui: &Ui, run_name: &str, differences: &[Difference]) {
    ui.note(format!("The configuration differs from the one that run {run_name} recorded:"));
    differences.iter().for_each(|difference| ui.note(format!("  {}", difference.line())));
}

/// The sentence for people when nobody has decided: what happened, and the commands that go on.
pub(crate) fn message(run_name: &str, matter: &Undecided) -> String {
    let keep = format!("keep the recorded one with `seriatim resume {run_name} --config old`");
    let adopt = format!("use the new one with `seriatim resume {run_name} --config new`");
    let ways = match (&matter.only_new, matter.only_old) {
        (None, false) => format!("{keep}, or {adopt}"),
        (Some(why), _) => format!("{adopt} ({why})"),
        (None, true) => keep,
    };
    let number = matter.differences.len();
    let points = if number == 1 { "1 point".to_owned() } else { format!("{number} points") };
    format!(
        "Nothing was done: the configuration differs from the recorded one in {points}. To go on, {ways}."
    )
}

/// What a person is asked on a terminal.
pub(crate) fn question(run_name: &str, matter: &Undecided) -> Question {
    let old = Choice::new(
        ConfigChoice::Old.id(),
        "Keep the recorded configuration",
        "The run goes on as it began; the file is left as it is.",
    );
    let new = Choice::new(
        ConfigChoice::New.id(),
        "Use the new configuration",
        "The run goes on with the file as it is now, which is recorded from here on.",
    );
    let mut options = vec![];
    options.extend((matter.only_new.is_none()).then_some(old));
    options.extend((!matter.only_old).then_some(new));
    Question {
        header: "Configuration".to_owned(),
        question: format!("Which configuration shall run {run_name} go on with?"),
        why: "Who works and what is checked was recorded when the run began.".to_owned(),
        tried: vec![],
        details: matter.differences.iter().map(Difference::line).collect::<Vec<_>>().join("\n"),
        options,
        free_text: false,
        about: vec![],
    }
}

/// The configuration of a run for machines.
pub(crate) fn document(history: &History) -> Value {
    let decisions: Vec<Value> = history.decisions.iter().map(decision).collect();
    json!({"recorded": history.config, "decisions": decisions})
}

fn decision(decision: &ConfigDecision) -> Value {
    json!({
        "choice": decision.choice, "by": decision.by, "at": decision.at.to_string(),
        "differences": decision.differences,
    })
}

/// The same for people: who works by which program, which gates there are, and what was decided.
pub(crate) fn tell_recorded(ui: &Ui, history: &History, workers: &[Worker]) {
    let Some(recorded) = &history.config else { return };
    ui.say(format!("\n{}", tone(Tone::Strong, "Configuration")));
    workers.iter().for_each(|worker| ui.say(format!("  {}", worker.line())));
    for (name, gate) in &recorded.config.gates {
        let words: Vec<&str> = gate.within.iter().chain(&gate.command).map(String::as_str).collect();
        ui.say(format!("  gate {name}: `{}`", words.join(" ")));
    }
    for decision in &history.decisions {
        let kept = match decision.choice {
            ConfigChoice::Old => "kept the recorded configuration",
            ConfigChoice::New => "put a new configuration in its place",
        };
        ui.say(format!("  {} {} {kept}:", decision.at.seconds(), decision.by));
        decision.differences.iter().for_each(|difference| ui.say(format!("    {}", difference.line())));
    }
}
