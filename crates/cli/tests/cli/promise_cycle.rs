//! Laws 1 to 3 for the cycle on the binary: the cells that decide.

use crate::cycle::Project;

/// Python's unittest, as far as it matters here: it counts, it fails, and it loads what stands beside the tests.
const UNITTEST: &str = "[agents.default]\nkind = \"command\"\nargv = [\"sh\", \".git/desk/agent.sh\"]\nenv = [\"PATH\"]\n\n\
                        [gates.tests]\ncommand = [\"python3\", \"-m\", \"unittest\", \"-v\"]\n";

const TWO_TESTS: &str = "import unittest, calc\n\nclass TestCalc(unittest.TestCase):\n    def test_a(self):\n        \
                         self.assertEqual(calc.one(), 1)\n\n    def test_b(self):\n        self.assertEqual(calc.two(), 2)\n";
const ONE_TEST: &str = "import unittest, calc\n\nclass TestCalc(unittest.TestCase):\n    def test_a(self):\n        \
                        self.assertEqual(calc.one(), 1)\n";

fn python() -> Project {
    Project::new()
        .with("calc.py", "def one():\n    return 1\n\ndef two():\n    return 2\n")
        .with("test_calc.py", TWO_TESTS)
        .with("seriatim.toml", UNITTEST)
}

// K-114: whatever keeps the Judge from answering, nothing is committed without a person's word.
#[test]
fn k_114_a_judge_that_does_not_answer_is_never_a_pass() {
    for (script, why) in [
        ("exit 1", "exit code 1"),
        ("kill -9 $$", "The Judge did not answer"),
        ("exit 0", "The Judge did not answer"),
        ("echo 'PASS!' >\"$SERIATIM_REPORT\"", "The Judge did not answer"),
        (
            "printf '{\"status\": \"partial\", \"outputs\": {\"result\": \"PASS\"}}' >\"$SERIATIM_REPORT\"",
            "does not say `done`",
        ),
        (
            "printf '{\"status\": \"failed\", \"outputs\": {\"result\": \"PASS\"}}' >\"$SERIATIM_REPORT\"",
            "The Judge did not answer",
        ),
        ("say '{}'", "must be PASS or INSUFFICIENT; it was missing"),
        ("say '{\"result\": \"PASS\", \"diagnostics\": \"it is wrong\"}'", "says PASS and gives diagnostics"),
    ] {
        let project = Project::new().judge(script);
        let commits = project.commits();
        project.run(&[("Approval", "commit", "")]).exits(3).says("Not checked").says(why);
        assert_eq!(project.commits(), commits, "{script}");
    }
}

#[test]
fn k_114_a_persons_pass_is_theirs_everywhere() {
    let project = Project::new().judge("exit 1");
    let answers = [("Not checked", "accept", "I read every line."), ("Approval", "commit", "")];
    project.run(&answers).exits(0).says("Accepted unchecked by").says("I read every line.");
    assert_eq!(project.commits()[0], "Greet politely");
    let document = project.archived("cycle-001.md");
    assert!(document.contains("judged it, not the Judge."), "{document}");
    let run = project.env.newest();
    project.env.run(&["show", &run]).exits(0).says("accepted unchecked").says("The Judge did not answer");
    project.env.run(&["log", &run]).exits(0).says("The verdict is PASS, on the word of");
    project.env.run(&["metrics"]).exits(0).says("more on a person's word");
}

// Law 1: without a check nothing reads green.
#[test]
fn without_checks_nothing_reads_green_on_the_terminal() {
    let config = UNITTEST.split("[gates.tests]").next().unwrap().to_owned();
    let project = Project::new().with("seriatim.toml", &config);
    let asked = project.run(&[]).exits(3).says("No check was run; it rests on the Judge's word alone.");
    assert!(!asked.stdout.contains("green") && !asked.stderr.contains("green"), "{}", asked.stdout);
    let done = project.resume(&[("Approval", "commit", "")]).exits(0);
    let done = done.says("Not checked: Existing Tests, Linter/Formatter, Security Scans.");
    assert!(!done.stdout.contains("green"), "{}", done.stdout);
}

// Law 2: a red exit is red, a killed suite is asked about, and no number of the output helps.
#[test]
fn red_is_red_and_killed_is_unknown_whatever_the_output_says() {
    let good = "echo 'Ran 3 tests in 0.1s'; echo; echo OK;";
    for (end, header) in [
        ("exit 1", "Paused"),
        ("exit 101", "Paused"),
        ("exit 137", "Not checked"),
        ("kill -9 $$", "Not checked"),
    ] {
        let config = UNITTEST.replace(
            "[\"python3\", \"-m\", \"unittest\", \"-v\"]",
            &format!("[\"sh\", \"-c\", '''{good} {end}''']"),
        );
        let project = Project::new().with("seriatim.toml", &config);
        project.run(&[("Approval", "commit", "")]).exits(3).says(header);
        assert!(!project.commits().contains(&"Greet politely".to_owned()), "{end}");
    }
}

// Law 2: one failure at the beginning of 100 kB is found.
#[test]
fn a_failure_early_in_a_long_output_is_found() {
    let script = "if [ -e noisy ]; then echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored'; \
                  awk 'BEGIN { for (i = 0; i < 20000; i++) print \"nothing to see on this line\" }'; fi; \
                  echo 'test result: ok. 3 passed; 0 failed; 0 ignored'";
    let config = UNITTEST
        .replace("[\"python3\", \"-m\", \"unittest\", \"-v\"]", &format!("[\"sh\", \"-c\", '''{script}''']"));
    let project = Project::new()
        .with("seriatim.toml", &config)
        .actor("echo x >noisy; echo 'echo good morning' >greet.sh; done_well");
    project.run(&[("Approval", "commit", "")]).exits(3).says("Paused");
    assert!(project.prompt("planner", 2).contains("1 failed"), "{}", project.prompt("planner", 2));
}

// Law 2: tests that go are refused by name; a step that says so may take them away.
#[test]
fn tests_deleted_in_a_cycle_are_refused_by_name() {
    let delete =
        format!("cat >test_calc.py <<'END'\n{ONE_TEST}END\necho 'echo good morning' >greet.sh; done_well");
    let project = python().actor(&delete);
    project.run(&[("Approval", "commit", "")]).exits(3).says("Paused");
    let told = project.prompt("planner", 2);
    assert!(told.contains("1 test ran, but before the work 2 tests ran"), "{told}");
    assert!(told.contains("test_b is gone from test_calc.py"), "{told}");
    let said = python().actor(&delete).planner(
        "say '{\"kind\": \"step\", \"step\": {\"title\": \"Remove two\", \"instructions\": \"Delete test_b from test_calc.py.\", \
         \"files\": [\"greet.sh\", \"test_calc.py\"], \"creates\": [], \"loc\": 5, \"risk\": \"low\", \
         \"success_criteria\": [\"it is gone\"], \"commands\": []}}'",
    );
    said.run(&[]).exits(3).says("Approval").says("test_b is gone from test_calc.py, as the step says.");
}

/// An Actor that breaks the code and leaves something that makes the suite green. Actor and gate are in worlds.
fn broken_with(trick: &str) -> Project {
    let config = UNITTEST.replace("kind = \"command\"\n", "kind = \"command\"\nisolation = \"world\"\n");
    let config = config.replace("[gates.tests]\n", "[gates.tests]\nisolation = \"world\"\n");
    python().with("seriatim.toml", &config).actor(&format!(
        "sed -i 's/return 1/return 3/' calc.py; {trick}; echo 'echo good morning' >greet.sh; done_well"
    ))
}

// Law 2: what an agent leaves beside the change is not in the view of the gate, and what is in the change is refused.
#[test]
fn hidden_runners_patched_packages_and_planted_byte_code_make_nothing_green() {
    let fake = "import sys; print(\"Ran 2 tests in 0.1s\"); print(); print(\"OK\"); sys.exit(0)";
    for trick in [
        // Open: a package that stands in for the runner.
        format!("mkdir -p unittest; echo '{fake}' >unittest/__main__.py; : >unittest/__init__.py"),
        // Hidden from git by an exclude.
        format!(
            "mkdir -p unittest .git/info; echo '{fake}' >unittest/__main__.py; : >unittest/__init__.py; echo /unittest/ >>.git/info/exclude"
        ),
        format!("echo '{fake}' >sitecustomize.py; mkdir -p .git/info; echo sitecustomize.py >>.git/info/exclude"),
        // Byte code of the good source beside the bad one.
        "mkdir -p __pycache__; python3 - <<'END'\nimport py_compile, os, glob, time\nopen('good.py','w').write('def one():\\n    return 1\\n\\ndef two():\\n    return 2\\n')\npy_compile.compile('good.py', cfile=glob.glob('__pycache__/calc*.pyc')[0] if glob.glob('__pycache__/calc*.pyc') else '__pycache__/calc.cpython-%d%d.pyc' % __import__('sys').version_info[:2], invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)\nos.remove('good.py')\nEND\nmkdir -p .git/info; echo __pycache__/ >>.git/info/exclude"
            .to_owned(),
    ] {
        let project = broken_with(&trick);
        project.run(&[("Approval", "commit", "")]).exits(3).says("Paused");
        assert!(!project.commits().contains(&"Greet politely".to_owned()), "{trick}");
    }
}

// Law 2: a build that goes by the times of files builds again what an agent changed, whatever time the agent gives it, and
// what it put back.
#[test]
fn what_was_built_of_an_earlier_version_makes_nothing_green() {
    let build = "if [ ! -e build/out ] || [ -n \"$(find greet.sh -newer build/out)\" ]; then \
                 mkdir -p build; cp greet.sh build/out; fi; \
                 if grep -q good build/out; then echo 1 passed; else echo 1 failed; exit 1; fi";
    let config = format!(
        "[agents.default]\nkind = \"command\"\nisolation = \"world\"\nargv = [\"sh\", \".git/desk/agent.sh\"]\n\
         env = [\"PATH\"]\n\n[gates.tests]\nisolation = \"world\"\ncommand = [\"sh\", \"-c\", '''{build}''']\n"
    );
    for second in [
        "was=$(stat -c %y greet.sh); echo 'echo bad morning' >greet.sh; touch -d \"$was\" greet.sh",
        "echo 'echo hello' >greet.sh; echo done >notes.txt",
    ] {
        let project = Project::new()
            .with(".gitignore", "build/\n")
            .with("notes.txt", "\n")
            .with("seriatim.toml", &config)
            .planner(
                "say '{\"kind\": \"step\", \"step\": {\"title\": \"Greet politely\", \"instructions\": \"Change it.\", \
                 \"files\": [\"greet.sh\", \"notes.txt\"], \"creates\": [], \"loc\": 2, \"risk\": \"low\", \
                 \"success_criteria\": [\"it is good\"], \"commands\": []}}'",
            )
            .actor(&format!(
                "if grep -q good greet.sh; then {second}; else echo 'echo good morning' >greet.sh; fi; done_well"
            ))
            .judge(
                "if grep -q good greet.sh; then say '{\"result\": \"INSUFFICIENT\", \"diagnostics\": \"curt\"}'; \
                 else pass; fi",
            );
        project.run(&[("Approval", "commit", "")]).exits(3).says("Paused");
        assert!(!project.commits().contains(&"Greet politely".to_owned()), "{second}");
        let judged = project.facts("judged");
        assert!(
            !judged.is_empty() && judged.iter().all(|fact| fact["pass"] == false),
            "{second}: {judged:?}"
        );
    }
}

#[test]
fn an_open_conftest_is_refused_by_name() {
    let project = Project::new()
        .actor("echo 'import pytest' >conftest.py; echo 'echo good morning' >greet.sh; done_well");
    project.run(&[("Approval", "commit", "")]).exits(3).says("Paused");
    let told = project.prompt("planner", 2);
    assert!(told.contains("conftest.py decides what the tests do, and the plan does not name it"), "{told}");
}

// A person can have any of the roles, with options that fit it.
#[test]
fn a_person_can_plan_act_and_judge() {
    let human = "\n[agents.planner]\nkind = \"human\"\n\n[agents.actor]\nkind = \"human\"\n\n[agents.judge]\nkind = \"human\"\n";
    let project = Project::new();
    let config = format!("{}{human}", project.env.read("seriatim.toml"));
    let project = project.with("seriatim.toml", &config);
    let plan = "Greet politely\nChange greet.sh.\nFiles: greet.sh\nLines: 1\nRisk: low\nDone when: it says good morning";
    project.run(&[]).exits(3).says("Planner at work").says("Here is the plan");
    project
        .resume(&[("Planner at work", "plan", plan)])
        .exits(3)
        .says("Actor at work")
        .says("It cannot be done so");
    project.env.file("greet.sh", "echo good morning\n");
    project.resume(&[("Actor at work", "done", "I changed the greeting.")]).exits(3).says("INSUFFICIENT");
    project.resume(&[("Judge at work", "pass", "I read it.")]).exits(3).says("judged it, not the Judge.");
    project.resume(&[("Approval", "commit", "")]).exits(0);
    assert_eq!(project.commits()[0], "Greet politely");
}

#[test]
fn a_person_who_judges_it_insufficient_sends_it_back() {
    let project = Project::new();
    let config = format!("{}\n[agents.judge]\nkind = \"human\"\n", project.env.read("seriatim.toml"));
    let project = project.with("seriatim.toml", &config);
    project.run(&[]).exits(3).says("Judge at work");
    project.resume(&[("Judge at work", "insufficient", "Too curt.")]).exits(3);
    assert!(project.prompt("planner", 2).contains("Too curt."));
    assert_eq!(project.facts("judged")[0]["pass"], false);
}

// Law 2: a test that keeps its name and checks nothing any more is refused by name, although the count stays.
#[test]
fn tests_emptied_in_a_cycle_are_refused_by_name() {
    let emptied = TWO_TESTS.replace("self.assertEqual(calc.two(), 2)", "pass");
    let empty =
        format!("cat >test_calc.py <<'END'\n{emptied}END\necho 'echo good morning' >greet.sh; done_well");
    let project = python().actor(&empty);
    project.run(&[("Approval", "commit", "")]).exits(3).says("Paused");
    let told = project.prompt("planner", 2);
    assert!(told.contains("TestCalc::test_b in test_calc.py:7 checks nothing any more"), "{told}");
}

// Law 2: the second runner of one command ends well and says so; the first one did not.
#[test]
fn a_good_summary_of_another_runner_makes_nothing_green() {
    let script =
        "if [ -e noisy ]; then echo running 2 tests; echo test b ... FAILED; fi; echo 3 passed in 0.01s";
    let config = UNITTEST
        .replace("[\"python3\", \"-m\", \"unittest\", \"-v\"]", &format!("[\"sh\", \"-c\", '{script}']"));
    let project = Project::new()
        .with("seriatim.toml", &config)
        .actor("echo x >noisy; echo 'echo good morning' >greet.sh; done_well");
    project.run(&[("Approval", "commit", "")]).exits(3).says("Paused");
    assert!(project.prompt("planner", 2).contains("1 failed"), "{}", project.prompt("planner", 2));
}
