//! Roadmaps from the seed: steps through RED, GREEN and COMMIT, one after the other or side by side.

use serde_json::Value;
use serde_json::json;

use seriatim_core::gate::Gate;
use seriatim_engine::sim::Rng;
use seriatim_flows::roadmap;

use crate::plan::Planned;
use crate::plan::SCRIPTS;
use crate::plan_cycle::agent;
use crate::plan_cycle::failures;

const FOLDER: &str = "docs/feature/calc";
const FRESH: &str = "execution_status:\n  schema_version: \"1.0\"\n  project_id: calc\n  current: {step_id: null}\n  \
                     completed_steps: []\n  step_checkpoint: null\n";

/// A roadmap with so many steps, up to three, in which `mishaps` of a hundred things go wrong. The second and the third
/// need the first alone, and `parallel` of them are carried out at once.
pub(crate) fn roadmap(rng: &mut Rng, number: usize, mishaps: u64, count: usize, parallel: u32) -> Planned {
    let steps: [(&str, &str, &[&str]); 3] =
        [("01-01", "add", &[]), ("01-02", "sub", &["01-01"]), ("01-03", "mul", &["01-01"])];
    let steps = &steps[..count];
    let script = format!("{SCRIPTS}/roadmap-{number}.yaml");
    let gate = Gate { command: vec!["unittest".to_owned()], ..Gate::default() };
    let start = roadmap::Start {
        project: "calc".to_owned(),
        roadmap: format!("{FOLDER}/roadmap.yaml"),
        state: format!("{FOLDER}/execution-status.yaml"),
        parallel,
        gates: [("tests".to_owned(), gate)].into(),
        push: rng.chance(50),
        ..roadmap::Start::default()
    };
    Planned {
        name: format!("20260101-00000{number}-map"),
        flow: "roadmap",
        title: "A roadmap".to_owned(),
        subject: String::new(),
        input: serde_json::to_value(&start).unwrap(),
        agents: vec![(roadmap::USUAL_AGENT.to_owned(), agent(rng, &script))],
        files: vec![
            (start.roadmap, document(steps)),
            (start.state, FRESH.to_owned()),
            ("src/__init__.py".to_owned(), "\n".to_owned()),
            ("tests/__init__.py".to_owned(), "\n".to_owned()),
            (script, lines(rng, mishaps, steps)),
        ],
    }
}

fn document(steps: &[(&str, &str, &[&str])]) -> String {
    let mut text = String::from(
        "project_id: calc\nschema_version: \"2.0\"\ntdd_phases: [RED, GREEN, COMMIT]\nphases:\n  - phase_id: \"01\"\n    \
         name: all\n    steps:\n",
    );
    for (id, word, needs) in steps {
        let needs: Vec<String> = needs.iter().map(|need| format!("\"{need}\"")).collect();
        text.push_str(&format!(
            "      - step_id: \"{id}\"\n        name: \"Function {word}\"\n        description: \"Write the function \
             {word} for two numbers\"\n        acceptance_criteria: [\"{word} of two numbers is right\"]\n        \
             suggested_agent: software-crafter\n        dependencies: [{}]\n        estimated_hours: 1\n        \
             test_file: tests/test_{word}.py\n        files_to_create: [\"src/{word}.py\"]\n",
            needs.join(", ")
        ));
    }
    text
}

fn lines(rng: &mut Rng, mishaps: u64, steps: &[(&str, &str, &[&str])]) -> String {
    let mut lines = Vec::new();
    for (id, word, _) in steps {
        let criterion = format!("{word} of two numbers is right");
        let met = json!([{"criterion": criterion, "met": true, "reason": "tested"}]);
        let done = json!({"status": "done", "summary": "all is well", "outputs": {}, "criteria": met});
        let (code, test) = (format!("src/{word}.py"), format!("tests/test_{word}.py"));
        let tested = format!(
            "import unittest\nfrom src.{word} import RESULT\n\n\nclass Test(unittest.TestCase):\n    def \
             test_{word}(self):\n        self.assertEqual(RESULT, 5)\n"
        );
        for (phase, good) in [
            ("RED", json!({&code: "RESULT = 0\n", &test: tested})),
            ("GREEN", json!({&code: "RESULT = 5\n"})),
        ] {
            let wrong = failures().into_iter().take(3).chain([
                json!({"report": done}),
                json!({"report": done, "write": {"elsewhere.txt": "not mine\n"}}),
            ]);
            for mut line in wrong.filter(|_| rng.chance(mishaps)).take(2) {
                line["step"] = json!(id);
                line["phase"] = json!(phase);
                lines.push(line);
            }
            lines.push(json!({"step": id, "phase": phase, "report": done, "write": good, "repeat": true}));
        }
    }
    seriatim_core::doc::write(&Value::Array(lines))
}
