//! Principles: the reference document that a run consults before it begins (PX-29).

use super::Purpose;

/// One principle of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principle {
    pub id: String,
    pub title: String,
    pub body: String,
}

/// The principle of starting small: quick by default, full when complexity emerges (PX-30).
pub const PROGRESSIVE: &str = "PRI-001";

/// Reads the principles of a Markdown document: each heading that carries an id such as `PRI-001` begins one.
pub fn parse(text: &str) -> Vec<Principle> {
    let mut found: Vec<Principle> = Vec::new();
    for line in text.lines() {
        let heading = line.starts_with('#').then(|| line.trim_start_matches('#').trim());
        match heading.map(|h| (h, id_in(h))) {
            Some((heading, Some(id))) => {
                let title = heading.replacen(&id, "", 1);
                let title = title.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
                found.push(Principle { id, title, body: String::new() });
            }
            _ => {
                if let Some(last) = found.last_mut() {
                    last.body.push_str(line);
                    last.body.push('\n');
                }
            }
        }
    }
    for principle in &mut found {
        principle.body = principle.body.trim().to_owned();
    }
    found
}

fn id_in(heading: &str) -> Option<String> {
    let from = heading.find("PRI-")?;
    let id: String = heading[from..].chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect();
    let id = id.trim_end_matches('-').to_owned();
    (id.len() > 4).then_some(id)
}

/// Those that apply: they name this phase or this type of process, or no phase and no type at all.
pub fn relevant(all: &[Principle], phase: Option<u32>, purpose: Purpose) -> Vec<Principle> {
    let types = ["validation", "review", "analysis", "generation", "elicitation"];
    all.iter()
        .filter(|p| {
            let text = format!("{} {}", p.title, p.body).to_lowercase();
            let phases: Vec<u32> = phases_in(&text);
            let named: Vec<&&str> = types.iter().filter(|t| text.contains(**t)).collect();
            let by_phase = phase.is_some_and(|n| phases.contains(&n)) || text.contains("all phases");
            let by_type = named.iter().any(|t| **t == purpose.word());
            by_phase || by_type || (phases.is_empty() && named.is_empty())
        })
        .cloned()
        .collect()
}

fn phases_in(text: &str) -> Vec<u32> {
    text.match_indices("phase")
        .filter_map(|(i, word)| {
            let rest = text[i + word.len()..].trim_start_matches('s').trim_start();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Principles\n\n## PRI-001: Progressive value delivery\nPhase 1 and phase 5.\n\
                        ### PRI-002 Evidence\nFor validation processes.\n## PRI-003 - Plain words\nAlways.\n\
                        ## PRI-004 Elsewhere\nPhase 3 only.\n";

    #[test]
    fn px_29_principles_are_selected_by_phase_and_type() {
        let all = parse(TEXT);
        let ids: Vec<_> = all.iter().map(|p| (p.id.as_str(), p.title.as_str())).collect();
        assert_eq!(
            ids,
            [
                ("PRI-001", "Progressive value delivery"),
                ("PRI-002", "Evidence"),
                ("PRI-003", "Plain words"),
                ("PRI-004", "Elsewhere")
            ]
        );
        let pick = |phase, purpose| {
            relevant(&all, phase, purpose).into_iter().map(|p| p.id).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(pick(Some(1), Purpose::Review), "PRI-001 PRI-003");
        assert_eq!(pick(Some(2), Purpose::Validation), "PRI-002 PRI-003");
        assert_eq!(pick(Some(3), Purpose::Analysis), "PRI-003 PRI-004");
    }
}
