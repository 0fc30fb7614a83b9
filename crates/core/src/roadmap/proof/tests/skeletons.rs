//! Acceptance tests go through the entry point.

use super::super::*;

fn named(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[track_caller]
fn holds(path: &str, text: &str, entry: &str, components: &[&str]) {
    assert_eq!(walking_skeleton(path, text, Some(entry), &named(components)), Ok(None), "{text}");
}

#[track_caller]
fn refused(path: &str, text: &str, entry: &str, components: &[&str], words: &str) {
    let objection = walking_skeleton(path, text, Some(entry), &named(components)).unwrap_err();
    assert_eq!(objection.rule.word(), "walking-skeleton");
    assert!(objection.message.starts_with("Wiring gap"), "{}", objection.message);
    assert!(objection.message.contains(words), "{}", objection.message);
}

const TEST: &str = "tests/acceptance/test_kettle.py";

/// DW-60: a test that goes through the entry point holds, however it is written.
#[test]
fn dw_60_a_test_uses_the_entry_point() {
    let part = &["src/kettle/thermostat.py"];
    for text in [
        "from kettle.app import main\n",
        "from kettle import app\n",
        "from kettle import (\n    app,\n)\n",
        "import kettle.app as app\n",
        "subprocess.run([\"python\", \"-m\", \"kettle.app\"])\n",
        "subprocess.run([\"python\", \"src/kettle/app.py\"])\n",
        "run(ROOT / \"app.py\")\n",
    ] {
        holds(TEST, text, "src/kettle/app.py", part);
        holds(TEST, text, "./src/kettle/app.py", part);
    }
    holds(TEST, "from kettle.app import main\n", "kettle.app:main", part);
    holds(TEST, "run([\"kettlectl\", \"boil\"])\n", "kettlectl", part);
    holds(
        "tests/boil.rs",
        "let p = env!(\"CARGO_BIN_EXE_kettle\");\n",
        "src/main.rs",
        &["src/thermostat.rs"],
    );
    holds("tests/boil.rs", "use kettle::boil;\n", "src/lib.rs", &["src/thermostat.rs"]);
    holds("kettle.test.ts", "import { app } from '../src/app';\n", "src/app.ts", &["src/heat.ts"]);
    holds(
        "kettle_test.go",
        "import \"example.com/x/cmd/kettle\"\n",
        "cmd/kettle/main.go",
        &["internal/heat/heat.go"],
    );
}

/// DW-60: a test that does not use it, or only speaks of it, is a wiring gap.
#[test]
fn dw_60_a_test_past_the_entry_point_is_a_wiring_gap() {
    for text in [
        "",
        "import requests\n",
        "# from kettle.app import main\n",
        "app_name = 'x'\n",
        "from kettle.apple import x\n",
    ] {
        refused(TEST, text, "src/kettle/app.py", &[], "does not use the entry point `src/kettle/app.py`");
    }
    refused(TEST, "run([\"kettlectl2\"])\n", "kettlectl", &[], "does not use");
    refused("tests/boil.rs", "use std::fs;\n", "src/lib.rs", &[], "does not use");
}

/// DW-60: a component of the step that is imported directly stops the step.
#[test]
fn dw_60_a_component_that_is_imported_directly_is_a_wiring_gap() {
    for text in [
        "from kettle.app import main\nfrom kettle.thermostat import Thermostat\n",
        "from kettle.app import main\nfrom kettle import app, thermostat\n",
        "from kettle.app import main\nfrom src.kettle.thermostat import Thermostat\n",
        "from kettle.app import main\nimport kettle.thermostat\n",
        "from kettle.app import main\nfrom kettle import (\n    app,\n    thermostat as t,\n)\n",
    ] {
        refused(
            TEST,
            text,
            "src/kettle/app.py",
            &["src/kettle/thermostat.py"],
            "imports the component src/kettle/thermostat.py",
        );
    }
    let rust = "use kettle::{app::run, thermostat::Thermostat};\n";
    refused(
        "tests/boil.rs",
        rust,
        "src/app.rs",
        &["crates/x/src/thermostat.rs"],
        "`use kettle::{app::run, thermostat::Thermostat};`",
    );
    let script = "import { run } from '../src/app.js';\nconst { heat } = require('../src/heat');\n";
    refused("kettle.test.js", script, "src/app.js", &["src/heat.js"], "imports the component src/heat.js");
    let go = "import (\n\t\"example.com/x/cmd/kettle\"\n\t\"example.com/x/internal/heat\"\n)\n";
    refused("kettle_test.go", go, "cmd/kettle/main.go", &["internal/heat/heat.go"], "internal/heat/heat.go");
}

/// DW-60: a function of the entry point is no component of the same name; neither are tests and the entry point itself.
#[test]
fn dw_60_what_only_looks_like_a_component_is_none() {
    let text = "from app import greet\nfrom tests.helpers import start\n";
    let parts = &["src/greet.py", "src/app.py", "tests/helpers.py", "src/**/*.py", "README.md", "src/"];
    holds(TEST, text, "src/app.py", parts);
}

/// DW-60: without an entry point it is a note.
#[test]
fn dw_60_without_an_entry_point_it_is_a_note() {
    let parts = named(&["src/kettle/thermostat.py"]);
    let note = |text: &str, entry| walking_skeleton(TEST, text, entry, &parts).unwrap().unwrap();
    assert!(
        note("from kettle.thermostat import T\n", None).contains("imports src/kettle/thermostat.py directly")
    );
    assert!(note("from kettle.app import main\n", None).contains("`entry_point` is not set"));
    assert!(note("", Some("  ")).contains("`entry_point` is not set"));
}
