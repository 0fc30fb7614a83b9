//! The command line of `run`, made from what the dialects declare.

use std::collections::BTreeMap;

use clap::Arg;
use clap::ArgAction;
use clap::ArgMatches;
use clap::Args;
use clap::Command;
use clap::FromArgMatches;
use clap::builder::RangedI64ValueParser;
use clap::error::ErrorKind;
use seriatim_flows::entrance::Argument;
use seriatim_flows::entrance::Entrance;
use seriatim_flows::entrance::Shape;
use seriatim_flows::registry::Registry;

use super::Asking;

/// What was typed after `run`.
#[derive(Debug)]
pub(crate) struct Run {
    pub(super) word: String,
    pub(super) words: BTreeMap<String, Vec<String>>,
    pub(super) asking: Asking,
}

/// The subcommands come from the registry, so that deriving knows nothing of them: see [`with_entrances`].
impl Args for Run {
    fn augment_args(command: Command) -> Command {
        command.about("Start work and carry it as far as it goes").subcommand_required(true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Run::augment_args(command)
    }
}

impl FromArgMatches for Run {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Run, clap::Error> {
        let Some((word, given)) = matches.subcommand() else {
            return Err(clap::Error::raw(ErrorKind::MissingSubcommand, "name what to run"));
        };
        let asking = Asking::from_arg_matches(given)?;
        let mut words = BTreeMap::new();
        for id in given.ids().map(clap::Id::as_str) {
            if let Some(values) = values(given, id) {
                words.insert(id.to_owned(), values);
            }
        }
        Ok(Run { word: word.to_owned(), words, asking })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Run::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The values of an argument of an entrance; nothing for a flag that was not given and for what is not ours.
fn values(given: &ArgMatches, id: &str) -> Option<Vec<String>> {
    if let Ok(Some(texts)) = given.try_get_many::<String>(id) {
        return Some(texts.cloned().collect());
    }
    if let Ok(Some(number)) = given.try_get_one::<i64>(id) {
        return Some(vec![number.to_string()]);
    }
    match given.try_get_one::<bool>(id) {
        Ok(Some(true)) => Some(vec![]),
        _ => None,
    }
}

/// Adds the ways to begin work to the command `run`.
pub(crate) fn with_entrances(program: Command, registry: &Registry) -> Command {
    program.mut_subcommand("run", |run| {
        registry.entrances().fold(run, |run, (_, entrance)| run.subcommand(subcommand(entrance)))
    })
}

fn subcommand(entrance: &'static Entrance) -> Command {
    // The help of the shared arguments would take the place of that of the command, so it comes first.
    let command = Command::new(entrance.word);
    let command = entrance.arguments.iter().fold(command, |command, given| command.arg(argument(given)));
    let mut command = Asking::augment_args(command).about(entrance.about);
    if !entrance.more.is_empty() {
        command = command.long_about(format!("{}\n\n{}", entrance.about, entrance.more));
    }
    if !entrance.usage.is_empty() {
        command = command.override_usage(format!("seriatim run {} {}", entrance.word, entrance.usage));
    }
    command
}

fn argument(declared: &'static Argument) -> Arg {
    let arg = Arg::new(declared.name).help(declared.help);
    match declared.shape {
        Shape::Place { value } => arg.value_name(value).required(true),
        Shape::Places { value } => {
            arg.value_name(value).required(true).num_args(0..).action(ArgAction::Append)
        }
        Shape::Text { value } => arg.value_name(value).long(declared.name),
        Shape::Texts { value } => arg.value_name(value).long(declared.name).action(ArgAction::Append),
        Shape::Number { value, least, most, default } => arg
            .value_name(value)
            .long(declared.name)
            .value_parser(RangedI64ValueParser::<i64>::new().range(i64::from(least)..=i64::from(most)))
            .default_value(default),
        Shape::Flag => arg.long(declared.name).action(ArgAction::SetTrue),
    }
}
