//! The table of the nine actions.

use super::BuiltIn::Gate;
use super::BuiltIn::Work;
use super::Contract;
use super::GateRule;
use super::Need;
use super::Yield;
use crate::action::gate::GateKind::Approval;
use crate::action::gate::GateKind::Clarification;
use crate::action::gate::GateKind::Editorial;
use crate::action::gate::GateKind::Quality;
use crate::action::gate::GateKind::SelfReview;

const BLUEPRINT: &str = "planning-mds/BLUEPRINT.md";
const PATTERNS: &str = "planning-mds/architecture/SOLUTION-PATTERNS.md";

const CODE: &[&str] = &["engine/", "services/", "experience/", "neuron/", "src/"];
const STORIES: &[&str] = &["planning-mds/stories/", "planning-mds/features/"];
const API: &[&str] = &["planning-mds/api/", "planning-mds/architecture/api/", "planning-mds/schemas/"];

const fn said(words: &'static str) -> Need {
    Need { words, any_of: &[] }
}

const fn lies(words: &'static str, any_of: &'static [&'static str]) -> Need {
    Need { words, any_of }
}

const fn yields(words: &'static str) -> Yield {
    Yield { words, must_exist: &[] }
}

/// Everyone who builds, at the same time.
const BUILDERS: &[(&str, &str)] = &[
    ("backend-developer", ""),
    ("frontend-developer", ""),
    ("ai-engineer", ""),
    ("quality-engineer", ""),
    ("devops", ""),
];
const REVIEWERS: &[(&str, &str)] = &[("code-reviewer", ""), ("security", "")];

/// The nine actions, in the order of a project's life.
pub const CONTRACTS: [Contract; 9] = [INIT, PLAN, BUILD, FEATURE, REVIEW, VALIDATE, TEST, DOCUMENT, BLOG];

const INIT: Contract = Contract {
    name: "init",
    purpose: "Set up a new project: the planning folder with its first documents",
    words: &["bootstrap", "scaffold", "initialise", "initialize", "new project", "set up"],
    inputs: &[said("project name"), said("domain context"), said("target users"), said("initial entities")],
    outputs: &[Yield {
        words: "the planning scaffold",
        must_exist: &[BLUEPRINT, "planning-mds/domain/glossary.md", PATTERNS],
    }],
    steps: &[Work(&[("product-manager", "initialization")])],
    gates: GateRule::ArtifactsExist,
};

const PLAN: Contract = Contract {
    name: "plan",
    purpose: "Plan the solution: requirements first, then its architecture",
    words: &["requirements", "architecture", "stories", "personas", "specify", "design"],
    inputs: &[
        lies("the blueprint", &[BLUEPRINT]),
        lies("domain and context", &["planning-mds/domain/", "planning-mds/context/"]),
    ],
    outputs: &[
        Yield { words: "the updated blueprint", must_exist: &[BLUEPRINT] },
        yields("stories, personas, features and screens"),
        yields("architecture specifications and contracts"),
    ],
    steps: &[
        Work(&[("product-manager", "phase A")]),
        Gate(Clarification, "requirements-clarification"),
        Gate(Approval, "requirements-approval"),
        Work(&[("architect", "phase B")]),
        Gate(Approval, "architecture-approval"),
    ],
    gates: GateRule::Approvals,
};

const BUILD: Contract = Contract {
    name: "build",
    purpose: "Build everything that is planned: code, tests, deployment, reviews",
    words: &["implement", "implementation", "develop", "code everything", "whole application"],
    inputs: &[
        lies("approved planning", &[BLUEPRINT]),
        lies("approved architecture and patterns", &[PATTERNS]),
        lies("stories", STORIES),
        lies("API contracts", API),
    ],
    outputs: &[
        yields("production code"),
        yields("tests"),
        yields("deployment configuration"),
        yields("summaries of build and reviews"),
    ],
    steps: &[
        Work(&[("architect", "assembly planning")]),
        Work(BUILDERS),
        Gate(Quality, "build-quality"),
        Work(REVIEWERS),
        Gate(Approval, "build-approval"),
    ],
    gates: GateRule::Severity,
};

const FEATURE: Contract = Contract {
    name: "feature",
    purpose: "Build one feature from end to end, with its reviews",
    words: &["vertical slice", "single feature", "slice", "end to end"],
    inputs: &[
        said("which feature is to be built"),
        lies("stories of the feature", STORIES),
        lies("architecture and API", &[PATTERNS, "planning-mds/api/", "planning-mds/architecture/"]),
    ],
    outputs: &[
        yields("changes to backend, frontend and AI within the feature"),
        yields("tests of the feature"),
        yields("its review"),
    ],
    steps: &[
        Work(&[("architect", "feature assembly planning")]),
        Work(BUILDERS),
        Gate(Quality, "feature-quality"),
        Work(REVIEWERS),
        Gate(Approval, "feature-approval"),
    ],
    gates: GateRule::Severity,
};

const REVIEW: Contract = Contract {
    name: "review",
    purpose: "Review code for quality and security",
    words: &["code review", "security review", "audit", "inspect", "code quality"],
    inputs: &[
        lies("the implementation to review", CODE),
        lies("planning and architecture to review it by", &[PATTERNS, BLUEPRINT]),
    ],
    outputs: &[yields("findings on quality and security, with remedies")],
    steps: &[Work(REVIEWERS), Gate(Approval, "review-approval")],
    gates: GateRule::Severity,
};

const VALIDATE: Contract = Contract {
    name: "validate",
    purpose: "Check that requirements, architecture and planning agree with each other",
    words: &["consistency", "consistent", "alignment", "aligned", "gaps", "verify plans"],
    inputs: &[lies("planning artifacts", &["planning-mds/"]), said("what they have to be consistent with")],
    outputs: &[yields("a validation report"), yields("gaps"), yields("corrective actions")],
    steps: &[
        Work(&[("product-manager", "validation"), ("architect", "validation")]),
        Gate(SelfReview, "validation-checklist"),
    ],
    gates: GateRule::Checklist,
};

const TEST: Contract = Contract {
    name: "test",
    purpose: "Plan, write and run tests, and report on quality",
    words: &["coverage", "test suite", "defects", "quality assurance"],
    inputs: &[
        lies("implemented code", CODE),
        lies("acceptance criteria", STORIES),
        lies("the test strategy", &["planning-mds/testing/", "planning-mds/quality/", PATTERNS]),
    ],
    outputs: &[
        yields("a test plan"),
        yields("results of the tests"),
        yields("reports of defects"),
        yields("a summary of quality"),
    ],
    steps: &[Work(&[("quality-engineer", "")]), Gate(Quality, "test-quality")],
    gates: GateRule::Thresholds,
};

const DOCUMENT: Contract = Contract {
    name: "document",
    purpose: "Write technical documentation: readme, API, runbook, usage",
    words: &["docs", "readme", "runbook", "manual", "api docs", "user guide"],
    inputs: &[
        lies("implemented features", CODE),
        lies("API and contracts", API),
        said("the operational context"),
    ],
    outputs: &[yields("documentation")],
    steps: &[Work(&[("technical-writer", "")]), Gate(Editorial, "documentation-review")],
    gates: GateRule::ReviewOrCompleteness,
};

const BLOG: Contract = Contract {
    name: "blog",
    purpose: "Write a development log or an article about the work",
    words: &["article", "post", "devlog", "dev log", "announcement"],
    inputs: &[said("what has changed"), said("the story to tell"), said("links to evidence")],
    outputs: &[yields("a development log or an article")],
    steps: &[Work(&[("blogger", "")]), Gate(Editorial, "editorial-review")],
    gates: GateRule::QualityChecks,
};
