//! What a test still checks: its statements, and how many of them compare something.
//!
//! A test that keeps its name and loses its checks runs and passes like before, and proves nothing.

use std::collections::BTreeMap;

use super::Scenario;
use super::list;
use super::mask::Syntax;
use super::mask::mask;

/// How much a test does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Substance {
    statements: usize,
    /// Statements that compare something; those that hold whatever the code does are none.
    checks: usize,
}

/// Returns the tests of `before` that `after` still holds by name, and that check nothing any more.
pub fn emptied_tests(before: &str, after: &str, path: &str) -> Vec<Scenario> {
    let mut known: BTreeMap<String, Vec<Substance>> = BTreeMap::new();
    for (test, substance) in weighed(before, path).into_iter().rev() {
        known.entry(test.name).or_default().push(substance);
    }
    let is_emptied = |(test, now): &(Scenario, Substance)| {
        let then = known.get_mut(&test.name).and_then(Vec::pop);
        then.is_some_and(|then| {
            (then.checks > 0 && now.checks == 0) || (then.statements > 0 && now.statements == 0)
        })
    };
    let mut is_emptied = is_emptied;
    weighed(after, path).into_iter().filter(|one| is_emptied(one)).map(|(test, _)| test).collect()
}

fn weighed(text: &str, path: &str) -> Vec<(Scenario, Substance)> {
    let end = path.rsplit('.').next().unwrap_or_default();
    let syntax = match end {
        "py" | "pyi" => Syntax::Python,
        "rs" => Syntax::Rust,
        "go" => Syntax::Go,
        "feature" => return of_feature(text, path),
        _ => Syntax::Script,
    };
    let masked = mask(text, syntax);
    let starts: Vec<usize> =
        std::iter::once(0).chain(masked.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let of = |test: Scenario| {
        let at = starts.get(test.line.saturating_sub(1) as usize).copied().unwrap_or(masked.len());
        let rest = masked.get(at..).unwrap_or_default();
        let substance = match syntax {
            Syntax::Python => weigh(&python_body(rest), true),
            Syntax::Rust | Syntax::Go => weigh(braced(rest), false),
            Syntax::Script => weigh(script_body(rest), false),
        };
        (test, substance)
    };
    list(text, path).into_iter().map(of).collect()
}

/// The steps of a scenario are its checks.
fn of_feature(text: &str, path: &str) -> Vec<(Scenario, Substance)> {
    let tests = list(text, path);
    let until: Vec<usize> = tests.iter().skip(1).map(|next| next.line as usize).chain([usize::MAX]).collect();
    let of = |(test, until): (Scenario, usize)| {
        let from = test.line as usize;
        let lines = text.lines().take(until.saturating_sub(1)).skip(from).map(str::trim);
        let steps = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '@'])).count();
        (test, Substance { statements: steps, checks: steps })
    };
    tests.into_iter().zip(until).map(of).collect()
}

/// The lines of a function that are further in than its head, and what stands behind the colon of the head.
fn python_body(rest: &str) -> String {
    let mut lines = rest.lines();
    let first = lines.next().unwrap_or_default();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(first);
    let mut body = String::new();
    let mut depth = depth_after(first, 0);
    let mut in_head = depth > 0;
    if !in_head {
        body.push_str(first.rsplit_once(':').map_or("", |(_, behind)| behind).trim());
        body.push('\n');
    }
    for line in lines {
        if in_head {
            depth = depth_after(line, depth);
            in_head = depth > 0;
            continue;
        }
        if !line.trim().is_empty() && depth == 0 && indent(line) <= own {
            break;
        }
        depth = depth_after(line, depth);
        body.push_str(line);
        body.push('\n');
    }
    body
}

fn depth_after(line: &str, depth: usize) -> usize {
    line.bytes().fold(depth, |depth, byte| match byte {
        b'(' | b'[' | b'{' => depth + 1,
        b')' | b']' | b'}' => depth.saturating_sub(1),
        _ => depth,
    })
}

/// What stands in the first braces.
fn braced(rest: &str) -> &str {
    let Some(open) = rest.find('{') else { return "" };
    let inside = rest.get(open + 1..).unwrap_or_default();
    inside.get(..closing(inside)).unwrap_or(inside)
}

/// The function that a call declares as its test: in braces, or an expression up to the end of the call.
fn script_body(rest: &str) -> &str {
    let arrow = rest.find("=>").map(|at| at + 2);
    let function = rest.find("function");
    match (arrow, function) {
        (Some(arrow), function) if function.is_none_or(|function| arrow < function) => {
            let behind = rest.get(arrow..).unwrap_or_default();
            match behind.trim_start().starts_with('{') {
                true => braced(behind),
                false => behind.get(..closing(behind)).unwrap_or(behind),
            }
        }
        (_, Some(function)) => braced(rest.get(function..).unwrap_or_default()),
        (_, None) => "",
    }
}

/// Where the bracket is closed that was open before this text.
fn closing(inside: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return at,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    inside.len()
}

/// Weighs the statements of a body, up to one that leaves it in any case.
fn weigh(body: &str, by_indent: bool) -> Substance {
    let mut substance = Substance::default();
    let (mut parens, mut braces) = (0_usize, 0_usize);
    let mut statement = String::new();
    let own =
        body.lines().filter(|line| !line.trim().is_empty()).map(|line| line.len() - line.trim_start().len());
    let own = own.min().unwrap_or(0);
    for line in body.split_inclusive('\n') {
        let outermost = match by_indent {
            true => line.len() - line.trim_start().len() <= own,
            false => braces == 0,
        };
        for c in line.chars() {
            match c {
                '(' | '[' => parens += 1,
                ')' | ']' => parens = parens.saturating_sub(1),
                '{' => braces += 1,
                '}' => braces = braces.saturating_sub(1),
                _ => {}
            }
            if parens > 0 || !matches!(c, '\n' | ';') {
                statement.push(c);
                continue;
            }
            let said = std::mem::take(&mut statement);
            if outermost && braces == 0 && parens == 0 && matches!(said.trim(), "return" | "return None") {
                return substance;
            }
            substance.count(&said);
        }
    }
    substance.count(&statement);
    substance
}

impl Substance {
    fn count(&mut self, statement: &str) {
        let words: Vec<&str> = words(statement).collect();
        let real = words.iter().filter(|word| !is_empty_word(word) && !is_of_tool(word)).count();
        self.statements += usize::from(real > 0);
        self.checks += usize::from(real > 0 && words.iter().any(|word| is_check(word)));
    }
}

fn words(statement: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let words = statement.split(move |c: char| !is_word(c)).filter(|word| !word.is_empty());
    words.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
}

/// Words without which a statement says the same: constants, and what stands around every comparison.
fn is_empty_word(word: &str) -> bool {
    const EMPTY: [&str; 31] = [
        "pass",
        "true",
        "True",
        "false",
        "False",
        "None",
        "null",
        "nil",
        "undefined",
        "not",
        "is",
        "and",
        "or",
        "self",
        "return",
        "Ok",
        "t",
        "async",
        "await",
        "ok",
        "toBe",
        "toEqual",
        "toStrictEqual",
        "toBeTruthy",
        "toBeDefined",
        "equal",
        "strictEqual",
        "deepEqual",
        "be",
        "to",
        "eq",
    ];
    EMPTY.contains(&word)
}

/// Names of tools that compare what they are given, and nothing else: with constants alone they say nothing.
fn is_of_tool(word: &str) -> bool {
    const NAMES: [&str; 18] = [
        "assert",
        "assertTrue",
        "assertFalse",
        "assertEqual",
        "assertEquals",
        "assertNotEqual",
        "assertIs",
        "assertIsNone",
        "assertIsNotNone",
        "assertThat",
        "assert_eq",
        "assert_ne",
        "debug_assert",
        "debug_assert_eq",
        "assert_true",
        "assert_equal",
        "expect",
        "should",
    ];
    NAMES.contains(&word)
}

/// Whether a name is one by which tests compare: of a tool, or of a helper that says so.
fn is_check(word: &str) -> bool {
    const PARTS: [&str; 17] = [
        "assert", "expect", "verif", "check", "should", "must", "require", "ensure", "raises", "throws",
        "fail", "error", "fatal", "snapshot", "match", "validat", "panic",
    ];
    let word = word.to_lowercase();
    PARTS.iter().any(|part| word.contains(part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn emptied(before: &str, after: &str, path: &str) -> Vec<String> {
        emptied_tests(before, after, path).into_iter().map(|test| test.name).collect()
    }

    const PYTHON: &str =
        "def test_a():\n    got = greet('x')\n    assert got == 'hi x'\n\n\ndef test_b():\n    assert b()\n";

    fn python(body: &str) -> String {
        format!("def test_a():\n{body}\n\n\ndef test_b():\n    assert b()\n")
    }

    #[test]
    fn a_python_test_that_checks_nothing_any_more_is_named() {
        for body in [
            "    pass",
            "    ...",
            "    assert True",
            "    assert 1 == 1",
            "    \"\"\"assert greet('x')\"\"\"",
            "    # assert greet('x') == 'hi'\n    pass",
            "    got = greet('x')",
            "    return\n    assert greet('x') == 'hi x'",
            "    got = greet('x')\n    assert True",
        ] {
            assert_eq!(emptied(PYTHON, &python(body), "test_x.py"), ["test_a"], "{body}");
        }
        assert_eq!(emptied(PYTHON, "def test_a(): pass\n\ndef test_b(): assert b()\n", "a.py"), ["test_a"]);
    }

    #[test]
    fn a_python_test_that_checks_in_another_way_is_left_alone() {
        for body in [
            "    assert greet('y') == 'hi y'",
            "    assert (\n        greet('x')\n        == 'hi x'\n    )",
            "    with pytest.raises(ValueError):\n        greet(None)",
            "    check_greeting('x')",
            "    if slow:\n        return\n    assert greet('x')",
            "    self.assertEqual(greet('x'), 'hi x')",
        ] {
            assert_eq!(emptied(PYTHON, &python(body), "test_x.py"), Vec::<String>::new(), "{body}");
        }
        // What never checked anything loses nothing.
        assert_eq!(
            emptied("def test_a():\n    pass\n", "def test_a():\n    ...\n", "a.py"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn rust_go_scripts_and_features_are_read_too() {
        let rust = |body: &str| {
            format!("#[test]\nfn adds() {{\n{body}\n}}\n\n#[test]\nfn b() {{ assert!(b()); }}\n")
        };
        for body in [
            "",
            "// assert_eq!(add(1), 2);",
            "assert!(true);",
            "assert_eq!(1, 1);",
            "let _ = add(1);",
            "return;\nassert_eq!(add(1), 2);",
        ] {
            assert_eq!(
                emptied(&rust("    assert_eq!(add(1), 2);"), &rust(body), "tests/a.rs"),
                ["adds"],
                "{body}"
            );
        }
        assert!(emptied(&rust("assert_eq!(add(1), 2);"), &rust("check_sum(1, 2)"), "tests/a.rs").is_empty());

        let go = |body: &str| format!("package a\n\nfunc TestA(t *testing.T) {{\n{body}\n}}\n");
        let full = go("\tif add(1) != 2 {\n\t\tt.Fatal(\"no\")\n\t}");
        assert_eq!(emptied(&full, &go(""), "a_test.go"), ["TestA"]);
        assert_eq!(emptied(&full, &go("\tadd(1)"), "a_test.go"), ["TestA"]);

        let script = |body: &str| {
            format!(
                "describe('a', () => {{\n  it('adds', () => {body});\n  it('b', () => {{ expect(b()).toBe(1); }});\n}});\n"
            )
        };
        let full = script("{\n    expect(add(1)).toBe(2);\n  }");
        for body in ["{}", "{ expect(true).toBe(true); }", "{ add(1); }", "{ /* expect(add(1)) */ }"] {
            assert_eq!(emptied(&full, &script(body), "a.test.ts"), ["a > adds"], "{body}");
        }
        assert!(emptied(&full, &script("expect(add(1)).toBe(2)"), "a.test.ts").is_empty());

        let feature =
            |steps: &str| format!("Feature: a\n  Scenario: adds\n{steps}\n  Scenario: b\n    Then b\n");
        assert_eq!(
            emptied(&feature("    Then it is 2"), &feature("    # Then it is 2"), "a.feature"),
            ["adds"]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A source that did not change lost nothing, and no source makes the reader fail.
        #[test]
        fn nothing_is_emptied_by_no_change(text in "[a-z(){}\\[\\]:;=>'\"#\n ]{0,200}", at in 0_usize..5) {
            let path = ["a.py", "a.rs", "a.js", "a_test.go", "a.feature"][at];
            let text = format!("def test_a():\n  assert x\n#[test]\nfn a() {{ assert!(x) }}\nfunc TestA() {{\nit('a', () => {{\n{text}");
            prop_assert_eq!(emptied_tests(&text, &text, path), vec![]);
        }
    }
}
