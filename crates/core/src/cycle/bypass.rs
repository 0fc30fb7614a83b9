//! Tell-tale changes by which authorization is got around: checks that went, and protection switched off (CY-61).

use std::sync::LazyLock;

use regex::Regex;

use super::limits::is_doc;
use crate::diff;
use crate::diff::DiffLine;
use crate::diff::Side;
use crate::evidence::lost::is_test_path;

/// A change that the Judge should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bypass {
    pub file: String,
    /// In the new file, or in the old one for a line that went.
    pub line: u32,
    /// A sentence.
    pub why: String,
}

/// Names of permission checks. One that is removed and not put anywhere else is worth a look.
const CHECKS: &str = concat!(
    r"(?x) \b(?: requires?_?(?:auth\w*|login|permissions?|role|admin)",
    r"| requires?(?:Auth\w*|Login|Permissions?|Role|Admin)",
    r"| (?:login|permission|auth|staff_member|user_passes_test)_required",
    r"| permission_classes | authentication_classes",
    r"| (?:is|ensure)_?authenticated | (?:is|ensure)Authenticated",
    r"| (?:check|has|verify)_?(?:permissions?|access|role|csrf\w*) | (?:check|has|verify)(?:Permissions?|Access|Role|Csrf\w*)",
    r"| verify_?(?:token|jwt|signature) | verify(?:Token|Jwt|Signature)",
    r"| authenticate_\w+! | authorize! | authorize_\w+ | csrf_protect | canActivate",
    r") | @(?:PreAuthorize|Secured|RolesAllowed|UseGuards|login_required|requires_auth)\b | \[Authorize\b",
    r"| \b(?:authorize|authenticate)\s*\( | :authenticate_\w+!?",
);

/// Settings that switch protection off, and what is said about each.
const SWITCHES: &[(&str, &str)] = &[
    (
        r#"(?i)\b(?:enable_?|require_?|use_?)?auth(?:entication|orization)?(?:_?(?:enabled|required))?["']?\s*[:=]\s*["']?(?:false|off|none|disabled|no|0)\b"#,
        "Authentication is switched off.",
    ),
    (
        r#"(?i)\b(?:disable|skip|no|bypass|without)[_-]?auth\w*["']?\s*[:=]\s*["']?(?:true|1|yes|on)\b"#,
        "Authentication is switched off.",
    ),
    (
        r"\bskip_before_action\s+:(?:authenticate|authorize|require|verify)",
        "A check before the action is skipped.",
    ),
    (r"\b(?:AllowAny|AllowAnonymous|permitAll|csrf_exempt)\b", "Access is opened to everybody."),
    (
        r"(?i)\bcsrf\w*\(?\)?\s*[.:=]\s*(?:disable|false)",
        "Protection against forged requests is switched off.",
    ),
    (
        r#"(?i)\b(?:verify(?:_?ssl|_?tls|_?certs?)?|ssl_?verify(?:peer)?|check_hostname|rejectUnauthorized|strict_?ssl)["']?\s*[:=]\s*["']?(?:false|0|off)\b"#,
        "Certificates are not verified.",
    ),
    (
        r#"\bInsecureSkipVerify\s*[:=]\s*true\b|\bCERT_NONE\b|_create_unverified_context|danger_accept_invalid_(?:certs|hostnames)\(true\)|NODE_TLS_REJECT_UNAUTHORIZED["']?\s*[:=]\s*["']?0|(?i:CURLOPT_SSL_VERIFY(?:PEER|HOST))\s*(?:,|=>)\s*(?i:false|0)|StrictHostKeyChecking[= ]no\b"#,
        "Certificates or host keys are not verified.",
    ),
    (r"(?:^|\s)--no-verify\b|(?:^|\s)--no-gpg-sign\b", "Checks before a commit are skipped."),
];

struct Patterns {
    checks: Regex,
    switches: Vec<(Regex, &'static str)>,
}

/// Always there: the tests hold that all patterns are valid.
static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let switch = |(pattern, why): &(&str, &'static str)| Some((Regex::new(pattern).ok()?, *why));
    Some(Patterns {
        checks: Regex::new(CHECKS).ok()?,
        switches: SWITCHES.iter().map(switch).collect::<Option<_>>()?,
    })
});

/// The tell-tale changes of a unified diff. Documents and tests protect nothing, so they are left out.
pub fn find(diff: &str) -> Vec<Bypass> {
    let Some(patterns) = PATTERNS.as_ref() else { return vec![] };
    let lines: Vec<DiffLine<'_>> = diff::lines(diff)
        .into_iter()
        .filter(|line| !is_doc(line.file) && !is_test_path(line.file) && !is_comment(line.text))
        .collect();
    let mut found = removed_checks(&lines, &patterns.checks);
    for line in lines.iter().filter(|line| line.side == Side::Added) {
        let switch = patterns.switches.iter().find(|(pattern, _)| pattern.is_match(line.text));
        found.extend(switch.map(|(_, why)| bypass(line, (*why).to_owned())));
    }
    found.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    found
}

/// Checks that went and did not come back: neither the same check in the same file nor the same line elsewhere.
fn removed_checks(lines: &[DiffLine<'_>], checks: &Regex) -> Vec<Bypass> {
    let check_of = |line: &DiffLine<'_>| checks.find(line.text).map(|found| found.as_str().trim().to_owned());
    let mut added: Vec<(&DiffLine<'_>, String)> = lines
        .iter()
        .filter(|line| line.side == Side::Added)
        .filter_map(|line| Some((line, check_of(line)?)))
        .collect();
    let mut found = vec![];
    for line in lines.iter().filter(|line| line.side == Side::Removed) {
        let Some(check) = check_of(line) else { continue };
        let again = added.iter().position(|(other, known)| {
            (other.file == line.file && *known == check) || other.text.trim() == line.text.trim()
        });
        match again {
            Some(i) => {
                added.swap_remove(i);
            }
            None => found.push(bypass(line, format!("The check `{check}` was removed."))),
        }
    }
    found
}

fn bypass(line: &DiffLine<'_>, why: String) -> Bypass {
    Bypass { file: line.file.to_owned(), line: line.line, why }
}

fn is_comment(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("//") || text.starts_with("/*") || text.starts_with("* ") || text.starts_with("# ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(file: &str, lines: &[&str]) -> String {
        let count = |sign: char| lines.iter().filter(|line| line.starts_with(sign)).count();
        let (old, new) = (count('-'), count('+'));
        format!(
            "--- a/{file}\n+++ b/{file}\n@@ -7,{old} +7,{new} @@\n{}\n",
            lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>().join("\n")
        )
    }

    fn said(file: &str, lines: &[&str]) -> Vec<String> {
        find(&diff(file, lines)).into_iter().map(|b| format!("{}:{} {}", b.file, b.line, b.why)).collect()
    }

    #[test]
    fn cy_61_a_removed_check_is_told() {
        for (line, check) in [
            ("    require_auth(request)", "require_auth"),
            ("@login_required", "@login_required"),
            ("  authorize! :update, post", "authorize!"),
            ("if (!req.isAuthenticated()) return;", "isAuthenticated"),
            ("  checkPermission(user, 'admin');", "checkPermission"),
            ("  @PreAuthorize(\"hasRole('ADMIN')\")", "@PreAuthorize"),
            ("    [Authorize(Roles = \"Admin\")]", "[Authorize"),
            ("    permission_classes = [IsAdmin]", "permission_classes"),
            ("  before_action :authenticate_user!", ":authenticate_user!"),
            ("    claims = verify_jwt(token)", "verify_jwt"),
        ] {
            let expected = format!("src/a.py:7 The check `{check}` was removed.");
            assert_eq!(said("src/a.py", &[&format!("-{line}")]), [expected], "{line}");
            assert_eq!(said("src/a.py", &[&format!("+{line}")]), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn a_check_that_moved_or_changed_is_not_told() {
        let lines = ["-@login_required", "+@login_required(login_url='/in')"];
        assert_eq!(said("src/a.py", &lines), Vec::<String>::new());
        let both = diff("src/a.py", &["-    require_auth(r)"]) + &diff("src/b.py", &["+  require_auth(r)"]);
        assert_eq!(find(&both), []);
        // One that comes back stands for one that went.
        assert_eq!(said("a.py", &["-require_auth(x)", "-require_auth(y)", "+require_auth(z)"]).len(), 1);
    }

    #[test]
    fn cy_61_protection_switched_off_is_told() {
        for line in [
            "auth: false",
            "  authentication_enabled = False",
            "export DISABLE_AUTH=1",
            "requests.get(url, verify=False)",
            "    permission_classes = [AllowAny]",
            "  http.authorizeRequests().anyRequest().permitAll()",
            "git commit --no-verify -m x",
            "tls.Config{InsecureSkipVerify: true}",
            "  rejectUnauthorized: false,",
            "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'",
            "ctx.check_hostname = False",
            ".danger_accept_invalid_certs(true)",
            "  skip_before_action :authenticate_user!",
            "  http.csrf().disable()",
        ] {
            assert_eq!(said("config/app.yaml", &[&format!("+{line}")]).len(), 1, "{line}");
        }
        // To switch it on again is fine.
        assert_eq!(said("config/app.yaml", &["-auth: false", "-verify=False"]), Vec::<String>::new());
    }

    #[test]
    fn ordinary_lines_documents_tests_and_comments_are_quiet() {
        for line in
            ["author: none", "verify = true", "auth: required", "let authored = false;", "notify=False"]
        {
            assert_eq!(said("src/a.py", &[&format!("+{line}")]), Vec::<String>::new(), "{line}");
        }
        for file in ["docs/a.md", "tests/a.py", "src/a_test.go", "src/a.spec.ts"] {
            assert_eq!(said(file, &["+verify=False", "-require_auth()"]), Vec::<String>::new(), "{file}");
        }
        assert_eq!(
            said("a.py", &["-# require_auth is called above", "+// auth: false"]),
            Vec::<String>::new()
        );
    }
}
