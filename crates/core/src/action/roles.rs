//! The roles that the contract knows: what they are called, how long they may take, and what they touch where no map
//! says so (OC-23 to OC-30, K-54).

use super::words::kebab;
use crate::config::AGENT_TIMEOUT_MS;

const MINUTE_MS: u64 = 60_000;

/// A role of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    pub name: &'static str,
    /// How people write it.
    pub title: &'static str,
    pub timeout_minutes: u64,
    /// What it looks at, as patterns.
    pub reads: &'static [&'static str],
    /// What it may change, as patterns. A pattern with a wildcard promises no particular file.
    pub writes: &'static [&'static str],
    /// It judges the work of others and owes findings.
    pub review: bool,
    /// When it is needed at all.
    pub condition: &'static str,
}

const PLANS: &[&str] = &["planning-mds/**"];
const CODE: &[&str] =
    &["planning-mds/**", "engine/**", "services/**", "experience/**", "neuron/**", "src/**"];

/// The roles, in the order in which work goes through them.
pub const KNOWN: [Known; 11] = [
    Known { writes: PLANS, ..role("product-manager", "Product Manager", 10) },
    Known { writes: PLANS, ..role("architect", "Architect", 15) },
    Known {
        writes: &["engine/**", "services/**", "src/**"],
        ..role("backend-developer", "Backend Developer", 30)
    },
    Known { writes: &["experience/**"], ..role("frontend-developer", "Frontend Developer", 30) },
    Known {
        writes: &["neuron/**"],
        condition: "the scope includes AI, language models or tools for them",
        ..role("ai-engineer", "AI Engineer", 30)
    },
    Known {
        reads: CODE,
        writes: &[
            "tests/**",
            "engine/tests/**",
            "services/**/tests/**",
            "experience/tests/**",
            "neuron/tests/**",
            "planning-mds/testing/**",
        ],
        ..role("quality-engineer", "Quality Engineer", 20)
    },
    Known {
        reads: CODE,
        writes: &["docker-compose*.yml", "**/Dockerfile", "scripts/**", ".github/workflows/**", "deploy/**"],
        ..role("devops", "DevOps", 15)
    },
    Known {
        reads: CODE,
        writes: &["planning-mds/reviews/**"],
        review: true,
        ..role("code-reviewer", "Code Reviewer", 10)
    },
    Known {
        reads: CODE,
        writes: &["planning-mds/security/**"],
        review: true,
        ..role("security", "Security", 10)
    },
    Known {
        reads: CODE,
        writes: &["docs/**", "**/README.md"],
        ..role("technical-writer", "Technical Writer", 10)
    },
    Known { reads: CODE, writes: &["docs/blog/**", "blog/**"], ..role("blogger", "Blogger", 10) },
];

const fn role(name: &'static str, title: &'static str, timeout_minutes: u64) -> Known {
    Known { name, title, timeout_minutes, reads: PLANS, writes: &[], review: false, condition: "" }
}

/// Other words for the same roles (K-54).
const ALIASES: [(&str, &str); 15] = [
    ("ai-developer", "ai-engineer"),
    ("ai", "ai-engineer"),
    ("backend", "backend-developer"),
    ("backend-engineer", "backend-developer"),
    ("frontend", "frontend-developer"),
    ("frontend-engineer", "frontend-developer"),
    ("dev-ops", "devops"),
    ("devops-engineer", "devops"),
    ("pm", "product-manager"),
    ("qa", "quality-engineer"),
    ("quality-assurance", "quality-engineer"),
    ("security-engineer", "security"),
    ("security-reviewer", "security"),
    ("tech-writer", "technical-writer"),
    ("reviewer", "code-reviewer"),
];

/// The name that the contract has for a role; a role that it does not know keeps its own.
pub fn canonical(name: &str) -> String {
    let plain = kebab(name);
    match ALIASES.iter().find(|(alias, _)| *alias == plain) {
        Some((_, meant)) => (*meant).to_owned(),
        None => plain,
    }
}

/// The role of the contract that goes by this name.
pub fn known(name: &str) -> Option<&'static Known> {
    let name = canonical(name);
    KNOWN.iter().find(|role| role.name == name)
}

/// How people write a role: `backend-developer` is a Backend Developer.
pub fn title(name: &str) -> String {
    if let Some(role) = known(name) {
        return role.title.to_owned();
    }
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    };
    words.filter_map(capital).collect::<Vec<_>>().join(" ")
}

/// How long a role may take where nothing else is said.
pub fn default_timeout_ms(name: &str) -> u64 {
    known(name).map_or(AGENT_TIMEOUT_MS, |role| role.timeout_minutes * MINUTE_MS)
}

/// Where the guide of a role lies (OC-07).
pub fn guide_path(name: &str) -> String {
    format!("agents/{name}/SKILL.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    // OC-23, OC-24, OC-25, OC-26, OC-27, OC-28, OC-29, OC-30
    #[test]
    fn oc_23_every_role_has_its_default_time() {
        for (name, minutes) in [
            ("Product Manager", 10),
            ("Architect", 15),
            ("Backend Developer", 30),
            ("Frontend Developer", 30),
            ("AI Developer", 30),
            ("Quality Engineer", 20),
            ("Code Reviewer", 10),
            ("Security", 10),
            ("DevOps", 15),
            ("Technical Writer", 10),
        ] {
            assert_eq!(default_timeout_ms(name), minutes * MINUTE_MS, "{name}");
        }
        assert_eq!(default_timeout_ms("gardener"), AGENT_TIMEOUT_MS);
    }

    #[test]
    fn k_54_roles_have_aliases() {
        assert_eq!(canonical("AI Developer"), "ai-engineer");
        assert_eq!(canonical("ai_engineer"), "ai-engineer");
        assert_eq!(canonical("QA"), "quality-engineer");
        assert_eq!(canonical("Chief Gardener"), "chief-gardener");
        for (_, meant) in ALIASES {
            assert!(KNOWN.iter().any(|role| role.name == meant), "{meant}");
        }
    }

    #[test]
    fn a_role_has_a_title_for_people() {
        assert_eq!(title("devops"), "DevOps");
        assert_eq!(title("ai-engineer"), "AI Engineer");
        assert_eq!(title("release-manager"), "Release Manager");
        assert_eq!(guide_path("security"), "agents/security/SKILL.md");
    }
}
