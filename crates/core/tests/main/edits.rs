//! Edits that keep every other byte.

use proptest::prelude::*;
use serde_json::Value as Json;
use serde_json::json;

use seriatim_core::doc::Limits;
use seriatim_core::doc::edit;
use seriatim_core::doc::read;

#[track_caller]
fn becomes(text: &str, path: &[&str], value: Json, expected: &str) {
    let edited = edit::set(text, path, &value).map_err(|error| error.to_string());
    assert_eq!(edited, Ok(expected.to_owned()));
}

const FILE: &str = "\u{FEFF}# head\r\n---\r\ninstance:   # the run\r\n  id: 'PINST-1'  # its id\r\n  status: PLANNED # now\r\n\r\n  # about the approval\r\n  approval:\r\n    by: null\r\n  unknown: {a: 1}\r\n# tail\r\n---\r\n";

#[test]
fn e_57_scalars_are_replaced_and_nothing_else_changes() {
    becomes(FILE, &["instance", "status"], json!("IN_PROGRESS"), &FILE.replace("PLANNED", "IN_PROGRESS"));
    becomes(FILE, &["instance", "id"], json!("5.1"), &FILE.replace("'PINST-1'", "\"5.1\""));
    becomes(FILE, &["instance", "approval", "by"], json!(true), &FILE.replace("null", "true"));
    becomes(FILE, &["instance", "unknown", "a"], json!(2), &FILE.replace("a: 1", "a: 2"));
}

#[test]
fn new_keys_go_to_the_end_of_their_mapping() {
    let unknown = "  unknown: {a: 1}\r\n";
    becomes(
        FILE,
        &["instance", "run_count"],
        json!(3),
        &FILE.replace(unknown, &format!("{unknown}  run_count: 3\r\n")),
    );
    becomes(
        FILE,
        &["instance", "approval", "at"],
        json!("now"),
        &FILE.replace("    by: null\r\n", "    by: null\r\n    at: now\r\n"),
    );
    becomes(
        FILE,
        &["instance", "unknown", "b"],
        json!({"c": [1]}),
        &FILE.replace("{a: 1}", "{a: 1, \"b\": {\"c\": [1]}}"),
    );
    becomes(
        FILE,
        &["instance", "outcome", "ok"],
        json!(true),
        &FILE.replace(unknown, &format!("{unknown}  outcome:\r\n    ok: true\r\n")),
    );
    becomes(FILE, &["extra"], json!(1), &FILE.replace(unknown, &format!("{unknown}extra: 1\r\n")));
    becomes("a: 1", &["b"], json!([1, 2]), "a: 1\nb:\n  - 1\n  - 2");
    becomes("{}", &["b"], json!("x"), "{\"b\": \"x\"}");
    becomes("a:\nb: 1\n", &["a", "c"], json!(1), "a:\n  c: 1\nb: 1\n");
}

#[test]
fn collections_and_blocks_change_places() {
    becomes("a:  # why\n  - 1\n  - 2 # two\nb: 1\n", &["a"], json!("x"), "a: x  # why\nb: 1\n");
    becomes("a:  # why\n- 1\n- 2\nb: 1\n", &["a"], json!({"k": "v"}), "a:  # why\n  k: v\nb: 1\n");
    becomes("a: old # why\nb: 1\n", &["a"], json!(["x"]), "a: # why\n  - x\nb: 1\n");
    becomes("a: |\n  one\n  two\n\n# c\nb: 1\n", &["a"], json!("three"), "a: three\n\n# c\nb: 1\n");
    becomes("a: one\nb: 1\n", &["a"], json!("x\ny\n"), "a: |\n  x\n  y\nb: 1\n");
    // A comment on the line would become part of a block.
    becomes("a: one # why\nb: 1\n", &["a"], json!("x\ny\n"), "a: \"x\\ny\\n\" # why\nb: 1\n");
    becomes("a: [1,\n  2]\nb: 1\n", &["a"], json!([]), "a: []\nb: 1\n");
    becomes("a:\nb: 1\n", &["a"], json!(5), "a: 5\nb: 1\n");
    becomes("- a: 1\n  b: 2\n- c\n", &["0", "b"], json!(3), "- a: 1\n  b: 3\n- c\n");
    becomes("- a: 1\n  b: 2\n- c\n", &["0", "d"], json!(3), "- a: 1\n  b: 2\n  d: 3\n- c\n");
    becomes("- a: 1\n  b: 2\n- c\n", &["1"], json!({"x": 1, "z": 2}), "- a: 1\n  b: 2\n- x: 1\n  z: 2\n");
}

#[test]
fn what_would_change_more_is_refused() {
    let refused = |text: &str, path: &[&str]| edit::set(text, path, &json!(9)).unwrap_err().to_string();
    assert_eq!(
        refused("a: &x {k: 1}\nb: *x\n", &["a", "k"]),
        "`a.k` cannot be changed without changing more than that; edit the file by hand"
    );
    assert_eq!(
        refused("a: &x {k: 1}\nb: *x\n", &["b", "k"]),
        "`b.k` cannot be changed without changing more than that; edit the file by hand"
    );
    assert_eq!(refused("a: 1\n", &["a", "k"]), "`k` cannot be set, since what is above it is `1`");
    assert_eq!(refused("a: [1]\n", &["a", "4"]), "`4` cannot be set, since the list there has 1 entries");
    assert_eq!(refused("a: [1\n", &["a"]), "the file cannot be read: the `[` opened here is not closed");
    // An alias itself can give way, and a merged key can be overridden.
    becomes("a: &x {k: 1}\nb: *x\n", &["b"], json!(9), "a: &x {k: 1}\nb: 9\n");
    becomes("a: &x {k: 1}\nb:\n  <<: *x\n", &["b", "k"], json!(9), "a: &x {k: 1}\nb:\n  <<: *x\n  k: 9\n");
}

/// Texts of files in several styles, with comments, and a path in each.
fn sample() -> impl Strategy<Value = (String, Vec<&'static str>)> {
    let value = prop::sample::select(vec![
        "1",
        "plain words",
        "\"q # x\"",
        "'s: t'",
        "[1, {a: b}]",
        "{x: 1, y: [2]}",
        "|\n    one\n\n    two",
        ">-\n    folded\n    text",
        "~",
        "",
        "\n    - 1\n    - k: v",
        "\n    k: v\n    l: w",
        "&anchor word",
    ]);
    let comment = prop::sample::select(vec!["", "  # note", " # a: b"]);
    let newline = prop::sample::select(vec!["\n", "\r\n"]);
    let path = prop::sample::select(vec![
        vec!["m", "a"],
        vec!["m", "b"],
        vec!["m", "new"],
        vec!["top"],
        vec!["fresh"],
        vec!["l", "1"],
        vec!["m", "new", "deep"],
    ]);
    (value.clone(), value, comment.clone(), comment, newline, path, any::<bool>()).prop_map(
        |(a, b, c1, c2, newline, path, tail)| {
            // A comment after a value of several lines would be part of the value.
            let note = |value: &str, comment: &'static str| if value.contains('\n') { "" } else { comment };
            let text = format!(
                "# head\n---\nm:{c1}\n  a: {a}{}\n\n  # between\n  b: {b}{}\nl:\n- x\n- y # why\ntop: 'z'{}",
                note(a, c2),
                note(b, c1),
                if tail { "\n# tail\n---\n" } else { "" }
            );
            (text.replace('\n', newline), path)
        },
    )
}

fn new_value() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(json!(null)),
        any::<i64>().prop_map(Json::from),
        "[ -~]{0,8}".prop_map(Json::from),
        "([a-z ]{0,4}\n){0,3}[a-z]{0,3}".prop_map(Json::from),
        Just(json!([])),
        Just(json!({"k": [1, {"x": "a\nb"}], "l": {}})),
        Just(json!(["one", "two: three"])),
    ]
}

/// The same change on plain data.
fn put(target: &mut Json, path: &[&str], value: Json) {
    let [key, rest @ ..] = path else {
        *target = value;
        return;
    };
    if let (Json::Array(items), Ok(index)) = (&mut *target, key.parse::<usize>()) {
        put(&mut items[index], rest, value);
        return;
    }
    let mut map = target.as_object().cloned().unwrap_or_default();
    put(map.entry((*key).to_owned()).or_insert(Json::Null), rest, value);
    *target = Json::Object(map);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e_57_after_an_edit_just_that_value_differs((text, path) in sample(), value in new_value()) {
        let before = read(text.as_bytes(), &Limits::default()).map(|d| d.root.to_json());
        prop_assert!(before.is_ok(), "{text}\n{before:?}");
        let mut expected = before.unwrap();
        put(&mut expected, &path, value.clone());
        let edited = edit::set(&text, &path, &value);
        prop_assert!(edited.is_ok(), "{path:?} {value}\n{text}");
        let edited = edited.unwrap();
        prop_assert_eq!(read(edited.as_bytes(), &Limits::default()).unwrap().root.to_json(), expected);
        // The lines before and after the edit are the same, to the byte, and all comments are still there.
        let (old, new): (Vec<&str>, Vec<&str>) = (text.split('\n').collect(), edited.split('\n').collect());
        let same_head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let same_tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        let document = read(text.as_bytes(), &Limits::default()).unwrap();
        let node = path.iter().try_fold(&document.root, |node, key| match node.as_seq() {
            Some(items) => items.get(key.parse::<usize>().ok()?),
            None => node.get(key),
        });
        let lines = node.map_or(0, |n| text[n.place.start as usize..n.place.end as usize].matches('\n').count());
        prop_assert!(same_head + same_tail + lines + 2 >= old.len(), "{path:?}\n{text}\n=>\n{edited}");
        for comment in ["# head", "# between", "# tail"] {
            prop_assert_eq!(text.contains(comment), edited.contains(comment));
        }
    }
}
