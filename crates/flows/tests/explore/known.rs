//! The holes that are known. A new one fails the exploration with its trace; a closed one fails it until its line is
//! taken out, so that the list only shrinks.

/// A class of counterexamples that exists today.
pub(crate) struct Hole {
    /// The dialect, the number of the property, and what happens.
    pub(crate) signature: &'static str,
    /// Why it is so today, and the law of the promise that it breaks.
    #[expect(dead_code, reason = "for readers")]
    pub(crate) why: &'static str,
}

pub(crate) const KNOWN: &[Hole] = &[
    Hole {
        signature: "action/1/the end does not say what to do next: The action build cannot go on",
        why: "The end names no way on. Law 8: every refusal names its exits.",
    },
    Hole {
        signature: "action/1/the end does not say what to do next: The action build was not started, since no snapshot could be taken",
        why: "The end names no way on. Law 8: every refusal names its exits.",
    },
    Hole {
        signature: "action/3/backend-developer gave no usable report, and it counts as good",
        why: "A role that crashes, is silent or invalid can count as done. Law 1: absent is unknown.",
    },
    Hole {
        signature: "action/3/backend-developer partly done, and says so, and it counts as good",
        why: "A report that says partial is taken as done. Law 1: partial is unknown.",
    },
    Hole {
        signature: "action/3/backend-developer says done and did nothing, and it counts as good",
        why: "The claim is believed where nothing is checked. Law 1: a claim is no evidence.",
    },
    Hole {
        signature: "action/3/gate tests was run on something else than the result",
        why: "The files change between gate and delivery. Law 2: evidence is taken on what is delivered.",
    },
    Hole {
        signature: "action/3/security gave no usable report, and it counts as good",
        why: "A role that crashes, is silent or invalid can count as done. Law 1: absent is unknown.",
    },
    Hole {
        signature: "action/3/security partly done, and says so, and it counts as good",
        why: "A report that says partial is taken as done. Law 1: partial is unknown.",
    },
    Hole {
        signature: "action/3/security says done and did nothing, and it counts as good",
        why: "The claim is believed where nothing is checked. Law 1: a claim is no evidence.",
    },
    Hole {
        signature: "action/3/what is there is not what was approved",
        why: "The approval is not bound to the whole change. Law 4.",
    },
    Hole {
        signature: "cycle/3/a file outside of the plan is delivered",
        why: "The whole tree is delivered. Law 5: one measure of change.",
    },
    Hole {
        signature: "cycle/3/a file that a failed Actor left is delivered",
        why: "Leftovers of a failed attempt stay in the tree. Law 5: one measure of change.",
    },
    Hole {
        signature: "cycle/3/a file that the Judge left is delivered",
        why: "Leftovers of a judging role stay in the tree. Law 5: one measure of change.",
    },
    Hole {
        signature: "guard/3/a commit passes while the step is FAILED",
        why: "Lawful skips of all phases make a failed step whole. Law 1: a commit needs a verdict.",
    },
    Hole {
        signature: "roadmap/3/GREEN makes the checks look green, and it counts as good",
        why: "Without gates, and where the files that load the tests are not compared. Law 2: evidence is taken on what is delivered.",
    },
    Hole {
        signature: "roadmap/3/GREEN says done and did nothing, and it counts as good",
        why: "The claim is believed where nothing is checked. Law 1: a claim is no evidence.",
    },
    Hole {
        signature: "roadmap/3/gate tests was run on something else than the result",
        why: "The files change between gate and delivery. Law 2: evidence is taken on what is delivered.",
    },
    Hole {
        signature: "roadmap/3/no gate is configured, and the step is done on the agent's word",
        why: "No question names the missing gates at the start. Law 1.",
    },
    Hole {
        signature: "roadmap/3/the step is not DONE in the file that is committed",
        why: "The state is saved after the commit where git fails between them. Law 4: read back after the effect.",
    },
    Hole {
        signature: "roadmap/3/what is committed does not hold the code",
        why: "A commit that holds nothing counts as made. Law 4: read back after the effect.",
    },
    Hole {
        signature: "roadmap/3/what is committed does not hold the test that was red",
        why: "A commit that holds nothing counts as made. Law 4: read back after the effect.",
    },
];
