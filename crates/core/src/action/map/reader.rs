//! Reads maps and front matter. Everything that is wrong is said at once, with its place.

use super::AgentMap;
use super::GateEntry;
use super::Part;
use super::RoleEntry;
use super::Step;
use super::Terms;
use super::Wiring;
use super::find;
use crate::action::gate::GateKind;
use crate::action::gate::Limit;
use crate::action::paths;
use crate::action::roles;
use crate::closest::closest;
use crate::doc::At;
use crate::doc::Fields;
use crate::doc::Key;
use crate::doc::Node;
use crate::doc::Sink;
use crate::finding::Finding;
use crate::time::parse_span;

/// Fields of maps that are known and not needed.
const HEAD: [&str; 4] = ["version", "name", "description", "framework"];

pub(super) fn map(root: &Node, sink: &Sink) -> AgentMap {
    let mut map = AgentMap::default();
    let Some(mut fields) = Fields::of(root, "an agent map", sink) else { return map };
    let agents = fields.node("agents").or_else(|| fields.node("roles"));
    let actions = fields.node("actions");
    if agents.is_none() {
        fields.missing("agents");
    }
    if actions.is_none() {
        fields.missing("actions");
    }
    if let Some(mut boundary) = fields.map("boundary", "`boundary`") {
        map.boundary = boundary.lines("rules").into_iter().map(|rule| rule.value).collect();
    }
    if let Some(mut lifecycle) = fields.map("lifecycle", "`lifecycle`") {
        map.lifecycle = lifecycle.text("config").map(|path| path.value);
    }
    fields.ignore(&HEAD);
    fields.finish();
    map.roles = role_entries(agents, sink);
    for (key, node) in entries(actions, "actions", sink) {
        let known = map.actions.iter().any(|wiring| wiring.name.value == key.text);
        if let Some(wiring) = wiring(At::new(key.text.clone(), key.place), node, sink).filter(|_| !known) {
            check(&wiring, &map.roles, sink);
            map.actions.push(wiring);
        }
    }
    map
}

pub(super) fn front_matter(root: &Node, name: &str, sink: &Sink) -> Option<Wiring> {
    root.get("steps")?;
    let said = root.get("name").or_else(|| root.get("action"));
    let name = match said.and_then(|node| node.scalar_text().map(|text| (text, node.place))) {
        Some((text, place)) => At::new(text, place),
        None => At::new(name.to_owned(), root.place),
    };
    wiring(name, root, sink)
}

fn entries<'n>(node: Option<&'n Node>, name: &str, sink: &Sink) -> Vec<(&'n Key, &'n Node)> {
    let Some(node) = node else { return vec![] };
    match node.as_map() {
        Some(map) => map.iter().map(|(key, node)| (key, node)).collect(),
        None => {
            let message = format!("`{name}` must be a mapping, but this is {}", node.in_words());
            sink.push(Finding::error("type", node.place, message).help("write each entry under its name"));
            vec![]
        }
    }
}

fn role_entries(node: Option<&Node>, sink: &Sink) -> Vec<RoleEntry> {
    let mut found = vec![];
    for (key, node) in entries(node, "agents", sink) {
        let name = At::new(key.text.clone(), key.place);
        let mut entry = RoleEntry { name, skill: None, terms: Terms::default() };
        if !node.is_null()
            && let Some(mut fields) = Fields::of(node, "a role", sink)
        {
            entry.skill = fields.text("skill").map(|path| path.value);
            entry.terms = terms(&mut fields);
            fields.ignore(&["description", "title"]);
            fields.finish();
        }
        found.push(entry);
    }
    found
}

/// What may stand with a role and with a part of it alike.
fn terms(fields: &mut Fields<'_>) -> Terms {
    let given = |fields: &mut Fields<'_>, name| fields.node(name).is_some();
    let reads =
        given(fields, "reads").then(|| fields.lines("reads").into_iter().map(|at| at.value).collect());
    let writes = given(fields, "writes").then(|| fields.lines("writes"));
    for path in writes.iter().flatten() {
        if let Err(problem) = paths::Promise::parse(path) {
            let message = format!("`{path}` cannot be written: {problem}");
            fields.sink().push(Finding::error("outside", path.place, message));
        } else if paths::is_framework(path) {
            let message = format!("`{path}` lies in the framework, which is no place for a solution");
            let finding = Finding::warning("boundary", path.place, message);
            fields.sink().push(finding.help("write to `planning-mds/` or to the folders of the product"));
        }
    }
    Terms {
        reads,
        writes,
        sections: sections(fields),
        condition: fields.text("condition").map(|text| text.value),
        optional: fields.flag("optional").map(|flag| flag.value),
        review: fields.flag("review").map(|flag| flag.value),
        timeout_ms: timeout(fields),
    }
}

/// Required sections: a list for all Markdown that the role writes, or lists by path.
fn sections(fields: &mut Fields<'_>) -> Vec<(String, Vec<String>)> {
    let Some(node) = fields.node("sections") else { return vec![] };
    if node.as_map().is_none() {
        let all = fields.lines("sections").into_iter().map(|at| at.value).collect();
        return vec![(String::new(), all)];
    }
    let texts = |node: &Node| match node.as_seq() {
        Some(items) => items.iter().filter_map(Node::scalar_text).collect(),
        None => node.scalar_text().into_iter().collect::<Vec<_>>(),
    };
    let map = node.as_map().unwrap_or_default();
    map.iter().map(|(path, node)| (path.text.clone(), texts(node))).collect()
}

/// A span such as `20m`. A bare number counts minutes, as the contract's table does.
fn timeout(fields: &mut Fields<'_>) -> Option<u64> {
    let node = fields.node("timeout")?;
    let ms = match node.as_int() {
        Some(minutes) => u64::try_from(minutes).ok().and_then(|minutes| minutes.checked_mul(60_000)),
        None => node.scalar_text().as_deref().and_then(parse_span),
    };
    let ms = ms.filter(|ms| *ms > 0);
    if ms.is_none() {
        let message = format!("`timeout` must be a span of time, but this is {}", node.in_words());
        fields
            .sink()
            .push(Finding::error("type", node.place, message).help("write it like 90s, 20m or 1h30m"));
    }
    ms
}

fn wiring(name: At<String>, node: &Node, sink: &Sink) -> Option<Wiring> {
    let mut fields = Fields::of(node, "an action", sink)?;
    let roles = fields.node("agents").or_else(|| fields.node("roles"));
    let wiring = Wiring {
        doc: fields.text("doc").map(|path| path.value),
        description: fields.text("description").map(|text| text.value).unwrap_or_default(),
        prerequisites: fields.lines("prerequisites"),
        outputs: fields.lines("outputs").into_iter().map(|at| at.value).collect(),
        roles: role_entries(roles, sink),
        steps: steps(&mut fields),
        name,
    };
    fields.ignore(&["name", "action", "title", "version", "tags", "user_intent", "intent"]);
    fields.finish();
    Some(wiring)
}

fn steps(fields: &mut Fields<'_>) -> Vec<Step> {
    if fields.node("steps").is_none() {
        fields.missing("steps");
        return vec![];
    }
    let place = fields.place();
    let nodes = fields.list("steps");
    let sink = fields.sink();
    let steps: Vec<Step> = nodes.iter().filter_map(|node| step(node, sink)).collect();
    let works = steps.iter().any(|step| matches!(step, Step::Work { .. }));
    if !works && steps.len() == nodes.len() {
        let place = nodes.first().map_or(place, |node| node.place);
        sink.push(Finding::error("no-work", place, "the action has no step in which a role works"));
    }
    steps
}

fn step(node: &Node, sink: &Sink) -> Option<Step> {
    // `- product-manager` is short for a step of one role.
    if let Some(name) = node.as_str() {
        return Some(Step::Work { parts: vec![bare(name, node)], place: node.place });
    }
    let fields = Fields::of(node, "a step", sink)?;
    let has = |key: &str| node.get(key).is_some();
    match (has("agent"), has("parallel"), has("gate")) {
        (true, false, false) => part(fields).map(|part| Step::Work { parts: vec![part], place: node.place }),
        (false, true, false) => parallel(fields, node),
        (false, false, true) => gate(fields, node),
        (false, false, false) => {
            let finding =
                Finding::error("step", node.place, "a step needs one of `agent`, `parallel` and `gate`");
            sink.push(finding.help("name a role: `agent: architect`"));
            None
        }
        _ => {
            let message = "a step has only one of `agent`, `parallel` and `gate`";
            sink.push(Finding::error("step", node.place, message).help("make it several steps"));
            None
        }
    }
}

fn bare(name: &str, node: &Node) -> Part {
    Part { role: At::new(name.to_owned(), node.place), purpose: String::new(), terms: Terms::default() }
}

fn part(mut fields: Fields<'_>) -> Option<Part> {
    let role = fields.required_text("agent");
    let said: Vec<String> = ["phase", "role", "mode"]
        .into_iter()
        .filter_map(|name| {
            fields.text(name).map(|text| if name == "phase" { format!("phase {text}") } else { text.value })
        })
        .collect();
    let terms = terms(&mut fields);
    fields.ignore(&["name", "description"]);
    fields.finish();
    (!role.trim().is_empty()).then(|| Part { role, purpose: said.join(", "), terms })
}

fn parallel(mut fields: Fields<'_>, node: &Node) -> Option<Step> {
    let sink = fields.sink();
    let mut parts: Vec<Part> = vec![];
    for item in fields.list("parallel") {
        let part = match item.as_str() {
            Some(name) => Some(bare(name, item)),
            None => Fields::of(item, "a role of a parallel step", sink).and_then(part),
        };
        let Some(part) = part else { continue };
        if parts.iter().any(|known| known.role.value == part.role.value) {
            let message = format!("`{}` stands twice in one parallel step", part.role);
            sink.push(Finding::error("duplicate-role", part.role.place, message));
            continue;
        }
        parts.push(part);
    }
    fields.ignore(&["name", "description"]);
    fields.finish();
    if parts.is_empty() {
        sink.push(Finding::error("step", node.place, "a parallel step needs at least one role"));
        return None;
    }
    Some(Step::Work { parts, place: node.place })
}

fn gate(mut fields: Fields<'_>, node: &Node) -> Option<Step> {
    let word = fields.required_text("gate");
    let script = fields.node("script");
    let mut command: Vec<String> = fields.lines("command").into_iter().map(|at| at.value).collect();
    if let Some(script) = script.and_then(Node::scalar_text).filter(|_| command.is_empty()) {
        command = GateKind::script_command(&script);
    }
    // A gate of an unknown sort with a command is a script; without one nobody knows what it asks for.
    let kind = GateKind::of_word(&word).unwrap_or_else(|| {
        if command.is_empty() {
            let known = GateKind::WORDS.map(|(word, _)| word);
            let finding =
                Finding::error("unknown-value", word.place, format!("`{word}` is not a known sort of gate"));
            fields.sink().push(match closest(&word, known) {
                Some(meant) => finding.help(format!("did you mean `{meant}`?")),
                None => finding.help(format!("known are {}; or give it a `command`", known.join(", "))),
            });
        }
        GateKind::Script
    });
    let gate = GateEntry {
        kind,
        word: word.value,
        name: fields.text("name").map(|name| name.value),
        command,
        limits: limits(&mut fields),
        checklist: fields.lines("checklist").into_iter().map(|at| at.value).collect(),
    };
    fields.ignore(&["description"]);
    fields.finish();
    Some(Step::Gate { gate, place: node.place })
}

/// Thresholds by what they measure: a number, which is the least that will do, or a comparison such as `"> 80"`.
fn limits(fields: &mut Fields<'_>) -> Vec<Limit> {
    let mut limits = vec![];
    let sink = fields.sink();
    for (key, node) in entries(fields.node("thresholds"), "thresholds", sink) {
        match node.scalar_text().as_deref().map(|text| Limit::parse(&key.text, text)) {
            Some(Ok(limit)) => limits.push(limit),
            Some(Err(problem)) => {
                let message = format!("the threshold `{}` cannot be used: {problem}", key.text);
                sink.push(
                    Finding::error("bad-value", node.place, message).help("write it like 80 or \"> 79.5\""),
                );
            }
            None => {
                let message = format!("`{}` must be a number, but this is {}", key.text, node.in_words());
                sink.push(Finding::error("type", node.place, message));
            }
        }
    }
    limits
}

/// What can only be said of an action and the roles together.
fn check(wiring: &Wiring, declared: &[RoleEntry], sink: &Sink) {
    for step in &wiring.steps {
        let Step::Work { parts, .. } = step else { continue };
        for part in parts {
            unknown_role(part, declared, sink);
        }
        overlap(parts, declared, sink);
    }
}

fn unknown_role(part: &Part, declared: &[RoleEntry], sink: &Sink) {
    if find(declared, &part.role).is_some() || roles::known(&part.role).is_some() {
        return;
    }
    let message = format!("the role `{}` is not declared under `agents`", part.role);
    let finding = Finding::error("unknown-role", part.role.place, message);
    let known = declared.iter().map(|entry| entry.name.as_str());
    sink.push(match closest(&part.role, known.chain(roles::KNOWN.iter().map(|role| role.name))) {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")),
        None => finding.help("declare it with what it reads and writes"),
    });
}

/// Two roles that work at the same time must not owe the very same file.
fn overlap(parts: &[Part], declared: &[RoleEntry], sink: &Sink) {
    let mut owed: Vec<(&str, &str)> = vec![];
    for part in parts {
        let of_role = || find(declared, &part.role).and_then(|entry| entry.terms.writes.as_ref());
        for path in part.terms.writes.as_ref().or_else(of_role).into_iter().flatten() {
            if !paths::names_one_file(path) {
                continue;
            }
            match owed.iter().find(|(known, _)| *known == path.value) {
                Some((_, other)) => {
                    let message = format!("`{}` and `{other}` write `{path}` at the same time", part.role);
                    let finding = Finding::warning("overlap", part.role.place, message);
                    sink.push(finding.help("let one of them write it, or let them work one after the other"));
                }
                None => owed.push((&path.value, &part.role.value)),
            }
        }
    }
}
