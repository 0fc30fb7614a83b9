//! An agent that does not end by itself.

use crate::support::Env;

/// Ignores the polite signal and leaves a grandchild in a session of its own that goes on writing.
const STUBBORN: &str = r#"trap '' TERM HUP INT
cat >grandchild.sh <<'EOF'
trap '' TERM HUP INT
echo $$ >"$1/began"
while read word <"$1/tick"; do
    echo "$word" >>"$1/crumbs.txt"
    echo wrote >"$1/began"
done
EOF
echo "the oven is heating up"
setsid sh "$PWD/grandchild.sh" "$PWD" >/dev/null 2>&1 &
while :; do read word <hold; done
"#;

#[test]
fn after_the_deadline_nothing_of_a_stubborn_agent_lives_and_what_it_wrote_is_kept_and_named() {
    let env = Env::new();
    env.bakery(&["Heat the oven"]).agent_with("timeout = \"3s\"\ngrace = \"100ms\"\n", STUBBORN);
    let (mut began, mut tick, _hold) = (env.fifo("began"), env.fifo("tick"), env.fifo("hold"));
    let engine = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let grandchild = began.process(&engine);
    tick.send("crumbs");
    assert_eq!(began.line(&engine), "wrote");
    assert!(env.living().iter().any(|process| process.contains("grandchild.sh")), "{:?}", env.living());
    let output = engine.output().exits(3);
    grandchild.has_ended();
    assert_eq!(env.living(), Vec::<String>::new());
    insta::assert_snapshot!(output.asked(), @r#"
    Heat the oven

    An unexpected error occurred: it did not finish within 3 s and was stopped. How should I proceed?

      Processes that had to be ended: sh [WORK]/grandchild.sh [WORK].
      The last lines of its output:
        the oven is heating up

    Why it matters: The step 'Heat the oven' is not done, and the steps after it build on it.

    What was tried:
      - Attempt 1: It did not finish within 3 s and was stopped.

      retry   Retry - The step is tried again; what you write is passed on.
      skip    Skip step - The work goes on without it, and the record says so.
      cancel  Abort process - The work ends here; what there is so far is kept.
    "#);

    // Nobody writes any more, and what was written is kept.
    tick.send("more crumbs");
    assert_eq!(env.read("crumbs.txt"), "crumbs\n");
    env.assert_tidy();

    // K-44: a deadline is asked about and never retried alone.
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n");
    let (shown, _) = env.json(&["show", &env.newest()]);
    assert_eq!(shown["failed_attempts"][0]["failure"]["class"], "agent_deadline", "{shown}");
}

#[test]
fn a_retry_after_the_deadline_carries_the_words_of_the_person_to_the_agent() {
    let env = Env::new();
    env.bakery(&["Heat the oven"]).agent_with(
        "timeout = \"3s\"\ngrace = \"100ms\"\n",
        "[ \"$SERIATIM_ATTEMPT\" != 1 ] || read word <hold\ncat >brief.txt\nfinish heated",
    );
    let _hold = env.fifo("hold");
    env.run(&["run", "process", "instance.yaml", "--no-input"]).exits(3);
    env.run(&["answer", "q1", "retry", "--text", "Use the small oven."]).exits(0);
    env.run(&["resume", &env.newest(), "--no-input"]).exits(0);
    let brief = env.read("brief.txt");
    assert!(brief.contains("Use the small oven."), "{brief}");
    assert_eq!(env.read("trace"), "5.1.1 attempt 1\n5.1.1 attempt 2\n");
}

#[test]
fn an_agent_that_ends_by_itself_leaves_no_helpers_behind() {
    let env = Env::new();
    env.bakery(&["Heat the oven"]).agent_sh(
        "setsid sh -c 'echo $$ >began; read word <hold' >/dev/null 2>&1 &\nread word <go\nfinish heated",
    );
    let (mut began, _hold, mut go) = (env.fifo("began"), env.fifo("hold"), env.fifo("go"));
    let engine = env.start(&["run", "process", "instance.yaml", "--no-input"]);
    let helper = began.process(&engine);
    go.send("go");
    engine.output().exits(0);
    helper.has_ended();
    assert_eq!(env.living(), Vec::<String>::new());
}
