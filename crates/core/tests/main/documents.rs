//! Reading documents: what is accepted, and the exact words and places of what is not.

use serde_json::json;
use seriatim_core::doc;
use seriatim_core::doc::Limits;
use seriatim_core::doc::Node;
use seriatim_core::finding::Finding;

/// A finding as `rule line:column message | help`.
pub(crate) fn line(finding: &Finding) -> String {
    let help = finding.help.as_ref().map(|help| format!(" | {help}")).unwrap_or_default();
    let Finding { rule, message, place, .. } = finding;
    format!("{rule} {}:{} {message}{help}", place.line, place.column)
}

fn read(text: impl AsRef<[u8]>) -> Result<Node, Vec<String>> {
    match doc::read(text.as_ref(), &Limits::default()) {
        Ok(document) => Ok(document.root),
        Err(findings) => Err(findings.iter().map(line).collect()),
    }
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(read(text).err(), Some(vec![expected.to_owned()]));
}

#[test]
fn real_framing_with_a_trailing_empty_document_is_accepted() {
    for text in [
        "# c\n---\na: 1\n---\n",
        "---\na: 1\n---",
        "a: 1\n...\n",
        "---\r\na: 1\r\n---\r\n",
        "---\n---\na: 1\n",
    ] {
        assert_eq!(read(text).unwrap().to_json(), json!({"a": 1}), "{text:?}");
    }
    refused(
        "a: 1\n---\nb: 2\n",
        "yaml 3:1 the file holds a second document, and only one is expected | remove the line `---` above it, or put it into a file of its own",
    );
}

#[test]
fn scalars_follow_yaml_1_2() {
    let text = "a: no\nb: 5.1.1\nc: 007\nd: 0x1F\ne: ~\nf: TRUE\ng: 1.10\nh: 2026-01-18\ni: !!str 5\nj: \"5\"\nk: 1e3\n";
    let root = read(text).unwrap();
    assert_eq!(
        root.to_json(),
        json!({"a": "no", "b": "5.1.1", "c": 7, "d": 31, "e": null, "f": true, "g": 1.1, "h": "2026-01-18", "i": "5", "j": "5", "k": 1000.0})
    );
    assert_eq!(root.get("g").unwrap().scalar_text().unwrap(), "1.10");
}

#[test]
fn json_is_read_too_also_when_indented_with_tabs() {
    let text = "{\n\t\"a\": [1, 2.5, null, true],\n\t\"b\": {\"c\": \"\\ud83d\\ude00\"}\n}\n";
    assert_eq!(read(text).unwrap().to_json(), json!({"a": [1, 2.5, null, true], "b": {"c": "😀"}}));
}

#[test]
fn places_count_characters_and_bytes() {
    let text = "é: ñandú\r\nb:\r\n  - x\r\n";
    for (prefix, shift) in [("", 0), ("\u{FEFF}", 3)] {
        let root = read(format!("{prefix}{text}")).unwrap();
        let first = root.get("é").unwrap().place;
        assert_eq!((first.line, first.column, first.start, first.end), (1, 4, 4 + shift, 11 + shift));
        let item = root.get("b").unwrap().as_seq().unwrap()[0].place;
        assert_eq!((item.line, item.column, item.start, item.end), (3, 5, 21 + shift, 22 + shift));
    }
}

#[test]
fn a_block_scalar_begins_at_its_header_and_ends_with_its_text() {
    let text = "a: # why\n  |\n  one\n\n  two\n\n# c\nb: &x >-\n   three\n";
    let root = read(text).unwrap();
    let slice = |key: &str| {
        let place = root.get(key).unwrap().place;
        (place.line, place.column, &text[place.start as usize..place.end as usize])
    };
    assert_eq!(slice("a"), (2, 3, "|\n  one\n\n  two"));
    assert_eq!(slice("b"), (8, 7, ">-\n   three"));
    assert_eq!(root.to_json(), json!({"a": "one\n\ntwo\n", "b": "three"}));
}

#[test]
fn duplicate_keys_are_all_named_with_the_line_of_the_first() {
    let found = read("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n").unwrap_err();
    assert_eq!(
        found,
        [
            "duplicate-key 4:3 the key `c` is here twice | the first is on line 3; remove or rename one of them",
            "duplicate-key 5:1 the key `a` is here twice | the first is on line 1; remove or rename one of them",
        ]
    );
}

#[test]
fn broken_syntax_is_one_finding_in_plain_words() {
    refused(
        "a: [1, 2\nb: 3\n",
        "yaml 1:4 the `[` opened here is not closed | add the closing `]`; it seems to reach as far as line 2, column 2",
    );
    refused(
        "a: {x: 1\n",
        "yaml 1:4 the `{` opened here is not closed | add the closing `}`; it seems to reach as far as line 1, column 4",
    );
    refused(
        "a: \"abc\ndef: 1\n",
        "yaml 1:4 the quote \" opened here is not closed | add the closing \"; it seems to reach as far as line 2, column 1",
    );
    refused(
        "x:\n  - 'abc\n",
        "yaml 2:5 the quote ' opened here is not closed | add the closing '; it seems to reach as far as line 3, column 1",
    );
    refused("a:\n\tb: 1\n", "yaml 2:1 a tab is used for indentation | use spaces");
    refused("a:\n  b: 1\n\tc: 2\n", "yaml 3:1 a tab is used for indentation | use spaces");
    refused(
        "a: b: c\n",
        "yaml 1:5 a key with `:` is not allowed here | indent the line like its neighbours, or put quotes around a text that contains `: `",
    );
    refused("a: @x\n", "yaml 1:4 a value cannot begin with `@` | put quotes around the value");
    refused(
        "a: 'it's'\n",
        "yaml 1:8 text follows the closing quote | write an apostrophe inside single quotes twice, as in 'it''s'",
    );
    refused(
        "- a\nb: 1\n",
        "yaml 2:1 another entry of the list is expected here | begin it with `- `, or indent the line as the mapping it belongs to",
    );
    refused(
        "a:\n  - b\n c: 1\n",
        "yaml 3:2 a line of the form `key: value` is expected here | check the indentation, and that the line above is complete",
    );
    refused(
        "a: *nope\n",
        "yaml 1:4 this alias refers to an anchor that does not exist | write `&name` at the value it should repeat, further up",
    );
    refused(
        "? [a]\n: b\n",
        "yaml 1:3 a list or a mapping cannot be a key | use a text as the key; put quotes around it when it contains brackets or braces",
    );
}

#[test]
fn what_is_no_text_says_where() {
    refused(
        b"a: 1\nb: \xFFx\n",
        "encoding 2:4 the file is not valid UTF-8: byte 8 (0xFF) is at line 2, column 4 | save the file as UTF-8",
    );
    refused(b"\xFF\xFEa\0", "encoding 1:1 the file is encoded as UTF-16, not as UTF-8 | save it as UTF-8");
    refused(
        "a: \0\n",
        "yaml 1:4 a NUL character is not allowed in a text file | remove it, or write it as an escape such as \"\\x07\" inside double quotes",
    );
    refused(
        "é: \u{7}\n",
        "yaml 1:4 the control character U+0007 is not allowed in a text file | remove it, or write it as an escape such as \"\\x07\" inside double quotes",
    );
    for text in ["", "\n\n", "# only a comment\n", "---\n", "---\n---\n", "~\n"] {
        refused(
            text,
            "empty 1:1 the file is empty | a comment alone is no content; see `seriatim init` for files to start from",
        );
    }
}

#[test]
fn the_size_limit_is_exact() {
    let limits = Limits { bytes: 8, ..Limits::default() };
    assert!(doc::read(b"a: 1234\n", &limits).is_ok());
    let found = doc::read(b"a: 12345\n", &limits).unwrap_err();
    assert_eq!(
        line(&found[0]),
        "size 1:1 the file has 9 bytes, which is more than the limit of 8 | split it into several files"
    );
}

#[test]
fn a_bomb_of_aliases_is_refused_at_the_alias_without_being_built() {
    let mut text = "a0: &a0 [lol,lol,lol,lol,lol,lol,lol,lol,lol,lol]\n".to_owned();
    for i in 1..40 {
        let aliases = vec![format!("*a{}", i - 1); 10].join(",");
        text.push_str(&format!("a{i}: &a{i} [{aliases}]\n"));
    }
    let found = read(&text).unwrap_err();
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("alias-limit 5:"), "{found:?}");
    let wide = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 20].join(","));
    assert!(read(&wide).unwrap_err()[0].starts_with("alias-limit 2:"));
    refused(
        "a: &a [*a]\n",
        "yaml 1:8 this alias refers to something that contains it | write the content out instead",
    );
}

#[test]
fn aliases_and_merges_are_expanded() {
    let text = "base: &b {x: 1, y: 2}\none:\n  <<: *b\n  y: 3\ntwo: *b\nthree:\n  <<: [*b, {z: 9, x: 8}]\n";
    assert_eq!(
        read(text).unwrap().to_json(),
        json!({"base": {"x": 1, "y": 2}, "one": {"y": 3, "x": 1}, "two": {"x": 1, "y": 2}, "three": {"x": 1, "y": 2, "z": 9}})
    );
    refused("a:\n  <<: 5\n", "merge 2:7 `<<` merges mappings, but this is the number 5");
    assert_eq!(read("\"<<\": 5\n").unwrap().to_json(), json!({"<<": 5}));
}

#[test]
fn depth_is_limited_and_no_stack_overflows() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(read(nested(100)).is_ok());
    let help = "flatten the structure; a stray `[` or `{` can be the cause";
    refused(
        nested(101),
        &format!("yaml 1:101 lists and mappings are nested deeper than 100 levels | {help}"),
    );
    assert!(read(nested(200_000)).unwrap_err()[0].contains("nested deeper than 100"));
    let block: String = (0..300).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    refused(block, &format!("yaml 101:101 lists and mappings are nested deeper than 100 levels | {help}"));
    let dashes = "- ".repeat(5000);
    assert!(read(dashes).unwrap_err()[0].contains("nested deeper than 100"));
}

#[test]
fn foreign_tags_are_ignored_with_a_warning() {
    let document = doc::read(b"a: !shop {b: 1}\n", &Limits::default()).unwrap();
    assert_eq!(
        document.findings.iter().map(line).collect::<Vec<_>>(),
        ["tag 1:10 the tag `!shop` has no meaning here and is ignored"]
    );
    refused(
        "a: !!int x\n",
        "yaml 1:10 the tag promises a whole number, but the value is not that | remove the tag, or correct the value",
    );
}
