//! The configuration of a run, recorded at its start, and how another one differs from it.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde::Serialize;

use super::Actions;
use super::Agent;
use super::Budget;
use super::Config;
use super::Cycle;
use super::Gate;
use super::Guard;
use super::Kind;
use super::Process;
use super::Roadmap;
use super::Worlds;
use crate::hash::Hash;
use crate::time::span_in_words;

/// The version of the recorded form. Fields that a later version adds are ignored by an earlier one.
const VERSION: u32 = 1;

/// A configuration as a run records it: everything that decides who works and what is checked. Redaction patterns are
/// no part of it: they belong to the process that writes, not to the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PinnedConfig {
    pub version: u32,
    pub config: Config,
    /// The scripts of scripted agents, by agent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scripts: BTreeMap<String, PinnedScript>,
    /// Agents whose recorded command lacks a secret that the configuration file holds.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub withheld: BTreeSet<String>,
}

/// The script of a scripted agent as it was when the run started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedScript {
    pub path: String,
    /// The hash of its content; absent where it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
    /// Its content, unless it is long or holds a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// One point in which two configurations differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What it is about: `agent judge`, `gate tests`, `[roadmap]`.
    pub about: String,
    /// Which setting of it; empty where the whole is new or gone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub setting: String,
    /// The recorded value; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The value of the moment; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

impl Difference {
    /// Returns the difference as one line.
    pub fn line(&self) -> String {
        let Difference { about, setting, old, new } = self;
        let setting = if setting.is_empty() { String::new() } else { format!("{setting} ") };
        match (old, new) {
            (Some(old), Some(new)) => format!("{about}: {setting}was {old}, is now {new}"),
            (Some(old), None) => format!("{about}: {setting}was {old}, is now removed"),
            (None, Some(new)) => format!("{about}: {setting}is new, {new}"),
            (None, None) => format!("{about}: {setting}changed"),
        }
    }
}

impl PinnedConfig {
    /// Records `config`, which holds what a run of one dialect depends on.
    pub fn new(config: Config) -> PinnedConfig {
        let config = Config { redact: vec![], ..config };
        PinnedConfig { version: VERSION, config, scripts: BTreeMap::new(), withheld: BTreeSet::new() }
    }

    /// Lists every point in which `new` differs from this one, agents first.
    pub fn differences(&self, new: &PinnedConfig) -> Vec<Difference> {
        let mut found = vec![];
        let agents = |pinned: &PinnedConfig| {
            let described = pinned.config.agents.iter();
            described
                .map(|(name, agent)| (name.clone(), agent_settings(agent, pinned.scripts.get(name))))
                .collect()
        };
        compare_all("agent", &agents(self), &agents(new), &mut found);
        let gates = |pinned: &PinnedConfig| {
            pinned.config.gates.iter().map(|(name, gate)| (name.clone(), gate_settings(gate))).collect()
        };
        compare_all("gate", &gates(self), &gates(new), &mut found);
        for ((about, old), (_, new)) in sections(&self.config).iter().zip(&sections(&new.config)) {
            compare(about, old, new, &mut found);
        }
        found
    }
}

/// The settings of one table, each with its value in words; absent where it is not set.
type Settings = Vec<(&'static str, Option<String>)>;

fn compare_all(
    sort: &str,
    old: &BTreeMap<String, Settings>,
    new: &BTreeMap<String, Settings>,
    found: &mut Vec<Difference>,
) {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let about = format!("{sort} {name}");
        match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => compare(&about, old, new, found),
            (old, new) => found.push(Difference {
                about,
                setting: String::new(),
                old: old.map(first_value),
                new: new.map(first_value),
            }),
        }
    }
}

/// What a table is known by: its command, script or kind.
fn first_value(settings: &Settings) -> String {
    settings.iter().find_map(|(_, value)| value.clone()).unwrap_or_default()
}

fn compare(about: &str, old: &Settings, new: &Settings, found: &mut Vec<Difference>) {
    for ((setting, old), (_, new)) in old.iter().zip(new).filter(|(old, new)| old.1 != new.1) {
        let not_set = || Some("not set".to_owned());
        found.push(Difference {
            about: about.to_owned(),
            setting: (*setting).to_owned(),
            old: old.clone().or_else(not_set),
            new: new.clone().or_else(not_set),
        });
    }
}

fn agent_settings(agent: &Agent, script: Option<&PinnedScript>) -> Settings {
    let Agent {
        kind,
        timeout_ms,
        has_timeout: _,
        grace_ms,
        env,
        model,
        fallback,
        budget,
        isolation,
        network,
    } = agent;
    let Budget { usd, tokens, turns } = budget;
    let (command, path, word) = match kind {
        Kind::Command { argv } => (words(argv), None, "command"),
        Kind::Scripted { script } => (None, Some(quoted(script)), "scripted"),
        Kind::Human => (None, None, "human"),
    };
    let content = script.map(|script| match script.hash {
        Some(hash) => format!("content {}", hash.short()),
        None => "missing".to_owned(),
    });
    vec![
        ("command", command),
        ("script", path),
        ("kind", Some(word.to_owned())),
        ("script content", content),
        ("timeout", Some(span_in_words(*timeout_ms))),
        ("grace", Some(span_in_words(*grace_ms))),
        ("environment", names(env)),
        ("model", model.clone()),
        ("fallback", fallback.clone()),
        ("budget in USD", usd.map(|usd| usd.to_string())),
        ("budget in tokens", tokens.map(|tokens| tokens.to_string())),
        ("budget in turns", turns.map(|turns| turns.to_string())),
        ("isolation", isolation.map(|isolation| isolation.word().to_owned())),
        ("network", Some(network.word().to_owned())),
    ]
}

fn gate_settings(gate: &Gate) -> Settings {
    let Gate {
        command,
        subset,
        timeout_ms,
        ok_exit,
        expect,
        within,
        env,
        value,
        threshold,
        comparator,
        isolation,
        network,
        setup,
    } = gate;
    vec![
        ("command", words(command)),
        ("subset", words(subset)),
        ("within", words(within)),
        ("timeout", timeout_ms.map(span_in_words)),
        ("good exit codes", exit_codes(ok_exit)),
        ("expect", expect.as_deref().map(quoted)),
        ("environment", names(env)),
        ("value", value.as_deref().map(quoted)),
        ("threshold", threshold.map(|threshold| threshold.to_string())),
        ("comparator", comparator.map(|comparator| comparator.sign().to_owned())),
        ("isolation", isolation.map(|isolation| isolation.word().to_owned())),
        ("network", Some(network.word().to_owned())),
        ("setup", words(setup)),
    ]
}

fn exit_codes(exits: &[i32]) -> Option<String> {
    let codes: Vec<String> = exits.iter().map(i32::to_string).collect();
    (!codes.is_empty()).then(|| codes.join(", "))
}

fn sections(config: &Config) -> Vec<(&'static str, Settings)> {
    let Process { principles, progress_every, actor } = &config.process;
    let Cycle { alert } = &config.cycle;
    let Guard { phases, templates, stale_ms } = &config.guard;
    let Actions { syntax, solution, pii_off } = &config.actions;
    let Worlds { share, dir } = &config.worlds;
    let by_ending = |(ending, argv): (&String, &Vec<String>)| {
        format!("{ending}: {}", words(argv).unwrap_or_else(|| "nothing".to_owned()))
    };
    let syntax: Vec<String> = syntax.iter().map(by_ending).collect();
    vec![
        (
            "[process]",
            vec![
                ("principles", principles.clone()),
                ("progress_every", Some(progress_every.to_string())),
                ("actor", Some(actor.clone())),
            ],
        ),
        ("[cycle]", vec![("alert", words(alert))]),
        (
            "[guard]",
            vec![
                ("phases", phases.clone()),
                ("templates", templates.clone()),
                ("stale", stale_ms.map(span_in_words)),
            ],
        ),
        ("[worlds]", vec![("share", names(share)), ("dir", dir.clone())]),
        ("[roadmap]", roadmap_settings(&config.roadmap)),
        (
            "[actions]",
            vec![("syntax", names(&syntax)), ("solution", names(solution)), ("pii_off", names(pii_off))],
        ),
    ]
}

fn roadmap_settings(roadmap: &Roadmap) -> Settings {
    let Roadmap { whole_steps, push, entry_point, mutation, finalize, step_files, concurrency } = roadmap;
    vec![
        ("call", Some(if *whole_steps { "step" } else { "phase" }.to_owned())),
        ("push", Some(push.to_string())),
        ("entry_point", entry_point.clone()),
        ("mutation", words(mutation)),
        ("finalize", Some(finalize.to_string())),
        ("step_files", Some(step_files.to_string())),
        ("concurrency", concurrency.map(|number| number.to_string())),
    ]
}

/// A command as one would type it.
fn words(argv: &[String]) -> Option<String> {
    let word = |word: &String| match word.is_empty() || word.contains([' ', '\t', '\n', '"', '`']) {
        true => format!("{word:?}"),
        false => word.clone(),
    };
    let line = argv.iter().map(word).collect::<Vec<_>>().join(" ");
    Some(format!("`{line}`")).filter(|_| !argv.is_empty())
}

fn quoted(text: &str) -> String {
    format!("`{text}`")
}

fn names(list: &[String]) -> Option<String> {
    Some(list.join(", ")).filter(|_| !list.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(text: &str) -> PinnedConfig {
        PinnedConfig::new(Config::read(text).0)
    }

    fn lines(old: &str, new: &str) -> Vec<String> {
        pinned(old).differences(&pinned(new)).iter().map(Difference::line).collect()
    }

    const OLD: &str = "[agents.default]\nkind = \"command\"\nargv = [\"sh\", \"agent.sh\"]\n\n[gates.tests]\n\
                       command = [\"make\", \"test\"]\n";

    #[test]
    fn the_same_configuration_has_no_differences_whatever_its_layout_and_its_patterns() {
        let new = format!("[redact]\npatterns = [\"x\"]\n\n{OLD}# a remark\n");
        assert_eq!(lines(OLD, &new), Vec::<String>::new());
        assert_eq!(pinned(OLD), pinned(&new));
    }

    #[test]
    fn each_difference_is_one_line_with_both_values() {
        let new = "[agents.default]\nkind = \"command\"\nargv = [\"sh\", \"my agent.sh\"]\ntimeout = \"1m\"\nenv = [\"PATH\"]\n\n\
                   [agents.judge]\nkind = \"human\"\n\n[gates.lint]\ncommand = [\"make\", \"lint\"]\n\n[roadmap]\npush = true\n";
        assert_eq!(
            lines(OLD, new),
            [
                "agent default: command was `sh agent.sh`, is now `sh \"my agent.sh\"`",
                "agent default: timeout was 30 min, is now 1 min",
                "agent default: environment was not set, is now PATH",
                "agent judge: is new, human",
                "gate lint: is new, `make lint`",
                "gate tests: was `make test`, is now removed",
                "[roadmap]: push was false, is now true",
            ]
        );
    }

    #[test]
    fn the_content_of_a_script_counts() {
        let text = "[agents.default]\nkind = \"scripted\"\nscript = \"a.yaml\"\n";
        let script = |content: &[u8]| {
            let mut pinned = pinned(text);
            let script =
                PinnedScript { path: "a.yaml".to_owned(), hash: Some(Hash::of(content)), text: None };
            pinned.scripts.insert("default".to_owned(), script);
            pinned
        };
        let found = script(b"one").differences(&script(b"two"));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].setting, "script content");
    }

    #[test]
    fn a_record_of_a_later_version_is_read_without_what_is_not_known_here() {
        let mut value = serde_json::to_value(pinned(OLD)).unwrap();
        value["version"] = 2.into();
        value["heavens"] = serde_json::json!({"share": ["target/"]});
        value["config"]["agents"]["default"]["temper"] = "mild".into();
        value["config"]["gates"]["tests"]["weight"] = serde_json::json!(["heavy"]);
        value["config"]["gates"]["tests"].as_object_mut().unwrap().remove("subset");
        let read: PinnedConfig = serde_json::from_value(value).unwrap();
        assert_eq!(read.config, pinned(OLD).config);
    }
}
