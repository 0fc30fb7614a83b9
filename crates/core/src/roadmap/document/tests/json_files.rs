//! The tree of a JSON text, and edits of it.

use proptest::prelude::*;
use serde_json::Value as Json;
use serde_json::json;

use crate::roadmap::document::Syntax;
use crate::roadmap::document::edit::Draft;
use crate::roadmap::document::json::tree;

#[track_caller]
fn set(text: &str, path: &[&str], value: Json) -> String {
    let mut draft = Draft { syntax: Syntax::Json, text: text.to_owned() };
    let path: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
    draft.set(&path, &value).unwrap();
    draft.text
}

#[track_caller]
fn append(text: &str, path: &[&str], value: Json) -> String {
    let mut draft = Draft { syntax: Syntax::Json, text: text.to_owned() };
    let path: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
    draft.append(&path, &value).unwrap();
    draft.text
}

#[test]
fn places_are_those_of_the_text() {
    let (root, findings) =
        tree("{\n  \"ä\": [1, {\"b\": \"\\ud83d\\ude00\"}],\n  \"a\": 1,\n  \"a\": 2\n}\n").unwrap();
    assert_eq!(root.to_json(), json!({"ä": [1, {"b": "😀"}], "a": 2}));
    let inner = root.get("ä").and_then(|list| list.as_seq()).unwrap()[1].get("b").unwrap();
    assert_eq!((inner.place.line, inner.place.column), (2, 18));
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].place.line, 4);
    assert!(tree("{\"a\": }").is_err());
}

#[test]
fn e_57_an_edit_keeps_order_indentation_and_everything_else() {
    let text = "{\n    \"a\": 1.10,\n    \"b\": {\"x\": [1, 2]},\n    \"c\": {},\n    \"d\": null\n}\n";
    assert_eq!(set(text, &["a"], json!("x")), text.replace("1.10", "\"x\""));
    assert_eq!(set(text, &["b", "y"], json!(3)), text.replace("[1, 2]}", "[1, 2], \"y\": 3}"));
    assert_eq!(set(text, &["c", "k"], json!(1)), text.replace("{},", "{\n        \"k\": 1\n    },"));
    assert_eq!(set(text, &["d", "k"], json!([])), text.replace("null", "{\n        \"k\": []\n    }"));
    assert_eq!(
        set(text, &["e"], json!({"k": ["v"]})),
        text.replace(
            "null\n",
            "null,\n    \"e\": {\n        \"k\": [\n            \"v\"\n        ]\n    }\n"
        )
    );
    assert_eq!(set("{\"a\":1}", &["b"], json!([1])), "{\"a\":1, \"b\": [1]}");
    assert_eq!(set("{}", &["b"], json!(1)), "{\"b\": 1}");
    assert_eq!(append(text, &["b", "x"], json!(3)), text.replace("[1, 2]", "[1, 2, 3]"));
    let crlf = "{\r\n\t\"a\": [\r\n\t\t1\r\n\t]\r\n}\r\n";
    assert_eq!(
        append(crlf, &["a"], json!({"k": 2})),
        crlf.replace("\t\t1", "\t\t1,\r\n\t\t{\r\n\t\t\t\"k\": 2\r\n\t\t}")
    );
    let mut refused = Draft { syntax: Syntax::Json, text: text.to_owned() };
    assert!(refused.set(&["a".to_owned(), "k".to_owned()], &json!(1)).is_err());
    assert_eq!(refused.text, text);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec(("[a-c\"\\\\é]{1,3}", inner), 0..5)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_has_the_tree_that_it_means(value in any_json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let (root, findings) = tree(&text).unwrap();
        prop_assert_eq!(root.to_json(), value);
        prop_assert_eq!(findings, vec![]);
    }

    #[test]
    fn any_value_can_be_set_in_any_mapping(value in any_json(), new in any_json(), pretty in any::<bool>()) {
        let file = json!({"first": value, "map": {"k": 1}});
        let text = if pretty { serde_json::to_string_pretty(&file).unwrap() } else { file.to_string() };
        let edited = set(&text, &["map", "new"], new.clone());
        prop_assert_eq!(tree(&edited).unwrap().0.to_json(), json!({"first": value, "map": {"k": 1, "new": new}}));
        let replaced = set(&text, &["first"], new.clone());
        prop_assert_eq!(tree(&replaced).unwrap().0.to_json(), json!({"first": new, "map": {"k": 1}}));
    }
}
