//! The shapes of secrets that everybody knows.
//!
//! Each shape is one named group of a single expression, so that a text is searched once. No shape reaches
//! over a quote or into an escape: what is found in a JSON document lies within one string.

use std::sync::OnceLock;

use regex::bytes::Regex;

use super::Hit;

/// Every shape needs one of these. They are looked for by hand: an expression for them takes longer to make than a
/// short-lived process lives.
const HINTS: &[&str] = &[
    "://",
    ":AA",
    "AIza",
    "AKIA",
    "ASIA",
    "EARER",
    "PRIVATE KEY",
    "SECRET_ACCESS_KEY",
    "SG.",
    "UTHORIZATION",
    "doo_v1_",
    "dop_v1_",
    "dor_v1_",
    "earer",
    "ecretA",
    "ecret_A",
    "ecret_a",
    "ecreta",
    "eyJ",
    "gho_",
    "ghp_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glcbt-",
    "gldt-",
    "glpat-",
    "glptt-",
    "glrt-",
    "hf_",
    "hooks.slack.com",
    "npm_",
    "pypi-",
    "rk_live_",
    "sk-",
    "sk_live_",
    "uthorization",
    "xox",
];

/// For each byte, where the hints begin that begin with it, and how many there are. They are sorted.
const BY_FIRST: [(u8, u8); 256] = {
    let mut table = [(0, 0); 256];
    let mut at = 0;
    while at < HINTS.len() {
        let first = HINTS[at].as_bytes()[0] as usize;
        if table[first].1 == 0 {
            table[first].0 = at as u8;
        }
        table[first].1 += 1;
        at += 1;
    }
    table
};

fn gives_a_hint(text: &[u8]) -> bool {
    text.iter().enumerate().any(|(at, byte)| {
        let (from, count) = BY_FIRST[usize::from(*byte)];
        count > 0 && {
            let (rest, from) = (&text[at..], usize::from(from));
            // The second byte is compared in place: it rules out nearly all that is left.
            HINTS[from..from + usize::from(count)]
                .iter()
                .map(|hint| hint.as_bytes())
                .any(|hint| rest.get(1) == hint.get(1) && rest.starts_with(hint))
        }
    })
}

/// The names become labels, with `-` for `_`.
const SHAPES: &[&str] = &[
    r"(?<github_token>gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})",
    r"(?<gitlab_token>gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{20,})",
    // What comes before must not make it a part of a longer word of capitals, such as base32 text.
    r"(?:^|[^A-Z0-9])(?<aws_access_key>(?:AKIA|ASIA)[A-Z0-9]{16})\b",
    r#"(?i:secret_?access_?key)(?:\\?["'])?\s*[:=]\s*(?:\\?["'])?(?<aws_secret_key>[A-Za-z0-9/+]{40})"#,
    r"(?<anthropic_key>sk-ant-[A-Za-z0-9_-]{16,})",
    r"(?<openai_key>sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{16,})",
    // `task-...` and `risk-...` are words; a line break of a JSON string ends in a letter.
    r"(?:^|[^A-Za-z0-9]|\\[nrt])(?<sk_key>sk-[A-Za-z0-9]{20,})",
    r"(?<slack_token>xox[abeprs]-[A-Za-z0-9-]{10,})",
    r"hooks\.slack\.com/(?<slack_webhook>(?:services|workflows|triggers)/[A-Za-z0-9_/+-]{16,})",
    r"(?<google_key>AIza[A-Za-z0-9_-]{35})",
    r"(?<stripe_key>[sr]k_live_[A-Za-z0-9]{16,})",
    r"(?<npm_token>npm_[A-Za-z0-9]{36})",
    r"(?<pypi_token>pypi-[A-Za-z0-9_-]{40,})",
    r"(?<jwt>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})",
    concat!(
        r"(?<private_key>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        r#"(?:[^"]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|(?:\\[nrt]|[A-Za-z0-9+/=\s])*))"#,
    ),
    concat!(
        r#"(?i:authorization)(?:\\?["'])?\s*[:=]\s*(?:\\?["'])?"#,
        r#"(?i:bearer|basic|token)\s+(?<authorization>[^\s"'\\,;\[\]]{4,})"#,
    ),
    r"(?i:bearer)\s+(?<bearer_token>[A-Za-z0-9._~+/=-]{20,})",
    r#"://[^\s/?\#:@"'\\<>\[\]]*:(?<url_password>[^\s/?\#"'\\<>\[\]]+)@"#,
    r"(?<hugging_face_token>hf_[A-Za-z0-9]{30,})",
    r"(?<digitalocean_token>do[opr]_v1_[a-f0-9]{64})",
    r"(?<sendgrid_key>SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
    r"(?:^|[^0-9])(?<telegram_token>[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34})",
];

#[derive(Debug)]
pub(super) struct Shapes {
    /// Made when a text first gives a hint: most processes live shorter than it takes.
    known: OnceLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Always there: a test holds that the shapes are a valid expression.
    shapes: Option<Regex>,
    /// By number of the group; the whole match has none.
    labels: Vec<String>,
}

impl Known {
    fn new() -> Known {
        let shapes = Regex::new(&format!("(?-u){}", SHAPES.join("|"))).ok();
        let names = shapes.iter().flat_map(Regex::capture_names);
        let labels = names.map(|name| name.unwrap_or_default().replace('_', "-")).collect();
        Known { shapes, labels }
    }
}

impl Shapes {
    pub(super) fn new() -> Shapes {
        Shapes { known: OnceLock::new() }
    }

    pub(super) fn may_match(&self, text: &[u8]) -> bool {
        gives_a_hint(text)
    }

    pub(super) fn hits(&self, text: &[u8]) -> Vec<Hit<'_>> {
        let mut hits = Vec::new();
        if !self.may_match(text) {
            return hits;
        }
        let Known { shapes, labels } = self.known.get_or_init(Known::new);
        for captures in shapes.iter().flat_map(|shapes| shapes.captures_iter(text)) {
            let group = captures.iter().enumerate().skip(1).find_map(|(i, group)| Some((i, group?)));
            if let Some((i, group)) = group {
                hits.push(Hit { range: group.range(), label: &labels[i] });
            }
        }
        hits
    }
}
