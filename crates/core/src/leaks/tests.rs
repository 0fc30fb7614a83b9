//! Tests of the search for credentials. The tokens are put together here, so that no scanner takes this file for a
//! leak.

use super::*;

/// Random to the eye, and the same each time.
fn noise(len: usize) -> String {
    "q7Rk2ZpX9vT4bN8mW3cY6dF1hJ5gL0sA".chars().cycle().take(len).collect()
}

fn diff(lines: &[&str]) -> String {
    let body: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    format!("--- a/src/a.py\n+++ b/src/a.py\n@@ -0,0 +5,{} @@\n{body}", lines.len())
}

fn kinds(line: &str) -> Vec<String> {
    find(&diff(&[line]), &[]).into_iter().map(|leak| leak.kind.to_string()).collect()
}

#[test]
fn cy_61_tokens_of_known_shapes_are_found() {
    let github = format!("ghp_{}", noise(36));
    let aws = format!("AKIA{}", "Q7RK2ZPX9VT4BN8M");
    for (line, kind) in [
        (format!("token = \"{github}\""), "github-token"),
        (format!("aws_access_key_id = {aws}"), "aws-access-key"),
        (format!("-----BEGIN {} KEY-----", "RSA PRIVATE"), "private-key"),
        (format!("url = 'postgres://app:{}@db/x'", noise(14)), "url-password"),
    ] {
        assert_eq!(kinds(&line), [kind], "{line}");
    }
}

#[test]
fn cy_61_random_values_under_names_of_secrets_are_found() {
    let value = noise(24);
    for (line, name) in [
        (format!("API_KEY = \"{value}\""), "API_KEY"),
        (format!("  client_secret: {value}"), "client_secret"),
        (format!("const dbPassword = '{value}';"), "dbPassword"),
        (format!("export AUTH_TOKEN={value}"), "AUTH_TOKEN"),
        (format!("{{\"signing_key\": \"{value}\"}}"), "signing_key"),
        (format!("const TOKEN: &str = \"{value}\";"), "TOKEN"),
        (format!("config['api_key'] = '{value}'"), "api_key"),
    ] {
        assert_eq!(kinds(&line), [format!("value of `{name}`")], "{line}");
    }
}

#[test]
fn what_only_stands_for_a_secret_is_not_found() {
    for line in [
        "API_KEY = \"xxxxxxxxxxxxxxxxxxxx1\"",
        "API_KEY = \"your_api_key_goes_here_1\"",
        "password: changeme12345",
        "password = \"${DB_PASSWORD_2}\"",
        "token = os.environ[\"TOKEN_2_PRODUCTION\"]",
        "token = get_token_from_store_2()",
        "secret_key = settings.SECRET_KEY_V2",
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        "token_url = \"abc1def2ghi3jkl4mno5\"",
        "let tokens = tokenizer::tokenize2(input_text);",
        "password = \"correct horse battery 9 staple\"",
        "url = postgres://user:password@localhost/db",
        "token: \"short1\"",
        "colour = \"q7Rk2ZpX9vT4bN8mW3cY\"",
    ] {
        assert_eq!(kinds(line), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn the_allow_list_lets_lines_pass_and_what_passes_by_comment_can_be_seen() {
    let line = format!("API_KEY = \"{}\"", noise(24));
    let commented = format!("{line} # {ALLOW}");
    let text = diff(&[&line, &commented]);
    assert_eq!(find(&text, &[]).len(), 1);
    assert_eq!(find(&text, &["^API_KEY".to_owned(), "[".to_owned()]), []);
    let waived = waived(&text);
    assert_eq!(waived.len(), 1);
    assert_eq!(waived[0].line, 6);
}

#[test]
fn only_added_lines_count_and_no_secret_is_told() {
    let secret = noise(24);
    let text = format!(
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-API_KEY = \"{secret}\"\n token = \"{secret}\"\n+client_secret = \"{secret}\"\n"
    );
    let leaks = find(&text, &[]);
    assert_eq!(leaks.len(), 1);
    assert_eq!(leaks[0].to_string(), "x:2 holds what looks like a secret (value of `client_secret`)");
    assert!(!format!("{leaks:?}").contains(&secret));
}
