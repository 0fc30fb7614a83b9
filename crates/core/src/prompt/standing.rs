//! Whether a prompt is validated at all, and as what. In doubt it is: a half-written marker block is a mistake to be
//! mended, not a way around the rules.

use super::origin::Head;
use super::origin::Marker;
use super::origin::Reading;
use super::registry::Command;
use super::registry::Level;
use super::registry::Registry;
use super::sections::METADATA;
use super::validate::Report;
use super::validate::SKIPPED;
use super::validate::Sender;
use crate::finding::Place;

/// What is done with a prompt.
pub(super) enum Standing<'r> {
    Skipped,
    Held { command: Option<&'r Command>, level: Level },
}

pub(super) fn of<'r>(
    head: &Head,
    sender: Sender<'_>,
    registry: &'r Registry,
    report: &mut Report,
) -> Standing<'r> {
    match sender {
        Sender::Command(name) => sent_by(name, head, registry, report),
        Sender::Foreign => foreign(head, registry, report),
    }
}

/// The registry decides; the prompt must agree.
fn sent_by<'r>(name: &str, head: &Head, registry: &'r Registry, report: &mut Report) -> Standing<'r> {
    let Some(command) = registry.get(name) else {
        unregistered(name, registry, report);
        return Standing::Held { command: None, level: Level::Full };
    };
    if command.level == Level::None {
        not_validated(&command.name, report);
        return Standing::Skipped;
    }
    if let Some(origin) = head.value(Marker::Origin)
        && head.command() != Some(name)
    {
        let message =
            format!("MISMATCH: The prompt says it comes from '{origin}', but it is sent by '{name}'");
        let help = format!("write {}", Marker::Origin.line(&format!("command:{name}")));
        report.error(
            METADATA,
            head.all(Marker::Origin).next().map_or(Place::TOP, |m| m.place),
            message,
            help,
        );
    }
    Standing::Held { command: Some(command), level: command.level }
}

/// The markers decide.
fn foreign<'r>(head: &Head, registry: &'r Registry, report: &mut Report) -> Standing<'r> {
    let misspelt = head.found.iter().any(|found| matches!(found.reading, Reading::Misspelt(_)));
    // Of several origins the strictest counts, so that a mild one in front hides nothing.
    let command =
        head.commands().filter_map(|name| registry.get(name)).max_by_key(|command| strictness(command));
    match (head.command(), command) {
        (_, Some(command)) if command.level == Level::None => {
            not_validated(&command.name, report);
            Standing::Skipped
        }
        (_, Some(command)) => Standing::Held { command: Some(command), level: command.level },
        (Some(name), None) => {
            let near = registry.closest(name).is_some_and(|near| near.level != Level::None);
            if head.requires_validation() || near || misspelt {
                unregistered(name, registry, report);
                return Standing::Held { command: None, level: Level::Full };
            }
            let message = format!("UNKNOWN: Command '{name}' is not registered - validation skipped");
            report.warning(METADATA, Place::TOP, message, registered(registry));
            Standing::Skipped
        }
        (None, None) if head.requires_validation() || misspelt => {
            Standing::Held { command: None, level: Level::Full }
        }
        (None, None) => {
            let help = "nothing has to be done; a prompt that should be validated begins with the markers";
            report.warning("ad-hoc", Place::TOP, SKIPPED, help);
            Standing::Skipped
        }
    }
}

fn strictness(command: &Command) -> u8 {
    match command.level {
        Level::None => 0,
        Level::Partial => 1,
        Level::Full => 2,
    }
}

fn unregistered(name: &str, registry: &Registry, report: &mut Report) {
    let help = match registry.closest(name) {
        Some(near) => format!("did you mean `{}`?", near.name),
        None => registered(registry),
    };
    report.error(METADATA, Place::TOP, format!("UNKNOWN: Command '{name}' is not registered"), help);
}

fn registered(registry: &Registry) -> String {
    let names: Vec<&str> = registry.iter().map(|command| command.name.as_str()).collect();
    format!("registered are {}", names.join(", "))
}

fn not_validated(name: &str, report: &mut Report) {
    let message = format!("Prompts of '{name}' are not validated");
    report.warning("ad-hoc", Place::TOP, message, "nothing has to be done");
}
