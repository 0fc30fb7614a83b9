//! What is redacted, what is not, and that JSON and repetition change nothing.

use std::sync::OnceLock;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn plain() -> Redactor {
    Redactor::new(&[], &[]).unwrap()
}

fn with_secrets(secrets: &[&str]) -> Redactor {
    Redactor::new(&[], &secrets.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>()).unwrap()
}

/// Tokens are put together here, so that no scanner takes this file for a leak.
fn tokens() -> Vec<(&'static str, String)> {
    let letters = |n: usize| "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z".chars().cycle().take(n).collect::<String>();
    let capitals = |n: usize| "ABCDEFGH23456789".chars().cycle().take(n).collect::<String>();
    let hex = |n: usize| "0123456789abcdef".chars().cycle().take(n).collect::<String>();
    let join = |prefix: &str, rest: String| format!("{prefix}{rest}");
    vec![
        ("github-token", join("ghp_", letters(36))),
        ("github-token", join("gho_", letters(36))),
        ("github-token", join("ghs_", letters(36))),
        ("github-token", join("github_pat_", letters(82))),
        ("gitlab-token", join("glpat-", letters(20))),
        ("aws-access-key", join("AKIA", capitals(16))),
        ("aws-access-key", join("ASIA", capitals(16))),
        ("anthropic-key", join("sk-ant-api03-", letters(90))),
        ("openai-key", join("sk-proj-", letters(60))),
        ("sk-key", join("sk-", letters(48))),
        ("slack-token", join("xoxb-", format!("123456789012-{}", letters(24)))),
        ("google-key", join("AIza", letters(35))),
        ("stripe-key", join("sk_live_", letters(24))),
        ("stripe-key", join("rk_live_", letters(24))),
        ("npm-token", join("npm_", letters(36))),
        ("pypi-token", join("pypi-AgEIcHlwaS5vcmc", letters(60))),
        ("jwt", format!("eyJ{}.eyJ{}.{}", letters(20), letters(40), letters(43))),
        ("hugging-face-token", join("hf_", letters(34))),
        ("digitalocean-token", join("dop_v1_", hex(64))),
        ("sendgrid-key", format!("SG.{}.{}", letters(22), letters(43))),
        ("telegram-token", format!("123456789:AA{}", letters(33))),
    ]
}

#[test]
fn every_known_shape_goes_wherever_it_stands() {
    let redactor = plain();
    for (label, token) in tokens() {
        let mark = format!("[redacted:{label}]");
        for (before, after) in
            [("", ""), ("token=", ""), ("'", "'"), ("say ", " twice"), ("line\\n", "\\nline"), ("(", ").")]
        {
            let text = format!("{before}{token}{after}");
            assert_eq!(redactor.clean(&text), format!("{before}{mark}{after}"), "{text}");
        }
        let json = serde_json::json!({ "output": format!("first\n{token}\n"), token.as_str(): [token] });
        let cleaned = redactor.clean_bytes(json.to_string().as_bytes()).into_owned();
        let cleaned: Value = serde_json::from_slice(&cleaned).unwrap();
        assert_eq!(
            cleaned,
            serde_json::json!({ "output": format!("first\n{mark}\n"), mark.as_str(): [mark] })
        );
    }
}

#[test]
fn where_the_surroundings_say_it_only_the_secret_part_goes() {
    let key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    for (text, cleaned) in [
        ("postgres://app:hunter2@db.local/main", "postgres://app:[redacted:url-password]@db.local/main"),
        ("https://:p%40ss@host", "https://:[redacted:url-password]@host"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted:authorization]"),
        ("authorization: basic dXNlcjpwYXNz", "authorization: basic [redacted:authorization]"),
        ("-H 'Bearer 0123456789abcdef0123'", "-H 'Bearer [redacted:bearer-token]'"),
        (
            "https://hooks.slack.com/services/T0001/B0001/xyzxyzxyz",
            "https://hooks.slack.com/[redacted:slack-webhook]",
        ),
    ] {
        assert_eq!(plain().clean(text), cleaned);
    }
    let json = format!(r#"{{"aws_secret_access_key": "{key}", "other": 1}}"#);
    assert_eq!(
        plain().clean_bytes(json.as_bytes()),
        br#"{"aws_secret_access_key": "[redacted:aws-secret-key]", "other": 1}"#.as_slice()
    );
    assert_eq!(
        plain().clean(&format!("AWS_SECRET_ACCESS_KEY={key}\n")),
        "AWS_SECRET_ACCESS_KEY=[redacted:aws-secret-key]\n"
    );
}

#[test]
fn a_private_key_goes_as_a_whole_also_inside_json() {
    let block = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/=\nabc\n-----END RSA PRIVATE KEY-----";
    assert_eq!(plain().clean(&format!("a\n{block}\nb")), "a\n[redacted:private-key]\nb");
    let json = serde_json::json!({ "file": block, "n": 1 }).to_string();
    assert_eq!(
        plain().clean_bytes(json.as_bytes()),
        br#"{"file":"[redacted:private-key]","n":1}"#.as_slice()
    );
    let nested = serde_json::json!({ "line": json }).to_string();
    let cleaned: Value = serde_json::from_slice(&plain().clean_bytes(nested.as_bytes())).unwrap();
    assert_eq!(cleaned["line"], r#"{"file":"[redacted:private-key]","n":1}"#);
    let torn = "-----BEGIN PRIVATE KEY-----\nMIIEow\nabc";
    assert_eq!(plain().clean(torn), "[redacted:private-key]");
}

#[test]
fn ordinary_text_stays_as_it_is_without_a_copy() {
    for text in [
        "a3f5c9d2e1b4a3f5c9d2e1b4a3f5c9d2e1b4a3f5c9d2e1b4a3f5c9d2e1b4aabb",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "550e8400-e29b-41d4-a716-446655440000",
        "The task-force of the risk-assessment met at http://localhost:8080/a and wrote to mail@example.com.",
        "the bearer of bad news; bearer authentication is described below",
        "eyJ is how tokens begin, sk- is how keys begin, AKIA too, ghp_ also",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "SHA256:AAAA 12:30:AA see https://example.com/a:b@c",
        "[redacted:github-token] and [redacted:secret]",
    ] {
        assert!(matches!(plain().clean(text), Cow::Borrowed(_)), "{text}");
        assert!(matches!(plain().clean_bytes(text.as_bytes()), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn literal_secrets_go_longest_first_and_in_every_form() {
    let redactor =
        with_secrets(&["hunter22", "hunter22-and-more", "tiny", "quo\"te\\back\nslash", "pässwörter"]);
    assert_eq!(
        redactor.clean("x hunter22-and-more hunter22 tiny"),
        "x [redacted:secret] [redacted:secret] tiny"
    );
    let json = serde_json::json!({ "a": "quo\"te\\back\nslash", "b": "pässwörter" }).to_string();
    let mark = br#"{"a":"[redacted:secret]","b":"[redacted:secret]"}"#.as_slice();
    assert_eq!(redactor.clean_bytes(json.as_bytes()), mark);
    let ascii = json.replace('ä', "\\u00e4").replace('ö', "\\u00F6");
    assert_eq!(redactor.clean_bytes(ascii.as_bytes()), mark);
    // A log line that holds JSON is no JSON, and the secret stands there escaped.
    let line = format!("got {json}");
    assert_eq!(redactor.clean(&line), r#"got {"a":"[redacted:secret]","b":"[redacted:secret]"}"#);
}

#[test]
fn an_escape_is_never_cut_in_two() {
    let redactor = with_secrets(&["nopassword", "00e9abcdef", "endswith\\"]);
    for json in [r#"{"a":"\nopassword"}"#, r#"{"a":"\u00e9abcdef"}"#, r#"{"a":"endswith\"x"}"#] {
        let nested = serde_json::json!({ "log": json }).to_string();
        for text in [json, &nested] {
            let cleaned = redactor.clean_bytes(text.as_bytes()).into_owned();
            let value: Value = serde_json::from_slice(&cleaned).unwrap();
            if let Some(inner) = value.get("log").and_then(Value::as_str) {
                assert!(serde_json::from_str::<Value>(inner).is_ok(), "{inner}");
            }
        }
    }
}

#[test]
fn a_number_that_is_a_secret_becomes_a_string() {
    let redactor = with_secrets(&["1234567890"]);
    let cleaned = redactor.clean_bytes(br#"{"pin":1234567890,"n":12,"s":"x1234567890"}"#).into_owned();
    assert_eq!(cleaned, br#"{"pin":"[redacted:secret]","n":12,"s":"x[redacted:secret]"}"#);
}

#[test]
fn configured_patterns_stay_within_their_string() {
    let redactor = Redactor::new(&["password=\\S+".into(), "^top .*$".into()], &[]).unwrap();
    let cleaned =
        redactor.clean_bytes(br#"{"a":"password=abc","b":"top secret","c":"not top"}"#).into_owned();
    assert_eq!(cleaned, br#"{"a":"[redacted:pattern]","b":"[redacted:pattern]","c":"not top"}"#);
    let error = Redactor::new(&["(".into()], &[]).unwrap_err();
    assert_eq!(error.pattern, "(");
    assert!(error.to_string().starts_with("the redaction pattern `(` is not a valid regular expression"));
}

#[test]
fn names_of_variables_that_say_secret() {
    for name in [
        "API_KEY",
        "APIKEY",
        "apiKey",
        "GITHUB_TOKEN",
        "DB_PASSWORD",
        "db_passwd",
        "CLIENT_SECRET_2",
        "SSH_KEYS",
        "KEY",
        "ACCESS_KEY_ID",
    ] {
        assert!(names_a_secret(name), "{name}");
    }
    for name in ["PATH", "KEYBOARD", "HOME", "XKB_KEYMAP", "PASS_THROUGH", "LANG", ""] {
        assert!(!names_a_secret(name), "{name}");
    }
}

/// Made once: that takes longer than a case does.
fn configured() -> &'static Redactor {
    static REDACTOR: OnceLock<Redactor> = OnceLock::new();
    let patterns = ["password=\\S+".to_owned(), "[{}\":,]{3,}".to_owned()];
    let secrets = ["hunter2hunter2".to_owned(), "12345678".to_owned()];
    REDACTOR.get_or_init(|| Redactor::new(&patterns, &secrets).unwrap())
}

fn pieces() -> impl Strategy<Value = String> {
    let known = tokens().into_iter().map(|(_, token)| token).collect::<Vec<_>>();
    prop_oneof![
        proptest::sample::select(known),
        proptest::sample::select(vec![
            "hunter2hunter2",
            "hunter2",
            "[redacted:secret]",
            "[redacted:",
            "]",
            "\\",
            "\\\\n",
            "\"",
            "\n",
            " ",
            "://",
            ":",
            "@",
            "Bearer ",
            "authorization: ",
            "sk-",
            "ghp_",
            "eyJ",
            "-----BEGIN PRIVATE KEY-----",
            "secret_access_key=",
            "password=",
            "ä",
            "\u{1F600}",
            "AKIA",
            "12345678"
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9/+=_.-]{0,50}",
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn cleaning_twice_is_cleaning_once(parts in proptest::collection::vec(pieces(), 0..8)) {
        let redactor = configured();
        let text = parts.concat();
        let once = redactor.clean(&text).into_owned();
        prop_assert_eq!(redactor.clean(&once), once.as_str());
        prop_assert!(!once.contains("hunter2hunter2"));
        let once = redactor.clean_bytes(text.as_bytes()).into_owned();
        let twice = redactor.clean_bytes(&once).into_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn valid_json_stays_valid_json(parts in proptest::collection::vec(pieces(), 1..8), pretty in any::<bool>()) {
        let redactor = configured();
        let half = parts.len() / 2;
        let value = serde_json::json!({ parts[0].as_str(): parts[..half].concat(), "b": [parts.concat(), 12.5, null] });
        let text = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }.unwrap();
        let cleaned = redactor.clean_bytes(&text).into_owned();
        let parsed = serde_json::from_slice::<Value>(&cleaned);
        prop_assert!(parsed.is_ok());
        prop_assert!(!String::from_utf8_lossy(&cleaned).contains("hunter2hunter2"));
        prop_assert_eq!(redactor.clean_bytes(&cleaned), cleaned.as_slice());
    }

    // The search by hand finds what an expression with the longest literals first would find.
    #[test]
    fn literals_are_found_as_an_expression_finds_them(
        secrets in proptest::collection::vec("[ab]{8,10}", 0..4),
        text in "[ab]{0,60}",
    ) {
        let mut longest_first = secrets.clone();
        longest_first.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let expected: Vec<_> = match longest_first.is_empty() {
            true => vec![],
            false => {
                let expression = regex::Regex::new(&longest_first.join("|")).unwrap();
                expression.find_iter(&text).map(|found| found.range()).collect()
            }
        };
        let literals = Literals::new(&secrets);
        prop_assert_eq!(literals.find_in(text.as_bytes()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let redactor = configured();
        let once = redactor.clean_bytes(&bytes).into_owned();
        prop_assert_eq!(redactor.clean_bytes(&once), once.as_slice());
    }
}
