//! What reviewers said about a roadmap or a step.

use crate::doc::Node;
use crate::roadmap::source::first;
use crate::roadmap::source::first_text;
use crate::roadmap::source::texts;

/// One review.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    pub reviewer: Option<String>,
    /// Whether the reviewer says that work may begin, where anything is said about it.
    pub ready: Option<bool>,
    /// The verdict in the reviewer's words: `APPROVED`, `NEEDS_REVISION` ...
    pub assessment: Option<String>,
    pub critiques: Vec<Critique>,
    pub recommendations: Vec<String>,
}

/// One point of a review.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Critique {
    pub severity: String,
    pub text: String,
    pub recommendation: Option<String>,
    pub resolved: bool,
}

impl Review {
    fn approves(&self) -> bool {
        let word = self.assessment.as_deref().unwrap_or_default().to_uppercase();
        self.ready == Some(true) || word.starts_with("APPROVED")
    }
}

/// The reviews of a list, or a single one.
pub(super) fn reviews(node: &Node) -> Vec<Review> {
    node.as_seq().unwrap_or(std::slice::from_ref(node)).iter().filter_map(review).collect()
}

fn review(node: &Node) -> Option<Review> {
    node.as_map()?;
    let ready = first(node, &["ready_for_execution", "ready_for_split"]).and_then(Node::as_bool);
    let lists = ["critiques", "issues_identified", "issues", "new_issues_identified", "findings"];
    let critiques = lists.iter().filter_map(|key| node.get(key)?.as_seq()).flatten().filter_map(critique);
    let mut recommendations = texts(first(node, &["recommendations_for_execution", "recommendations"]));
    let critiques: Vec<Critique> = critiques.collect();
    let open = critiques.iter().filter(|critique| !critique.resolved);
    recommendations.extend(open.filter_map(|critique| critique.recommendation.clone()));
    Some(Review {
        reviewer: first_text(node, &["reviewer", "reviewed_by"]),
        ready,
        assessment: first_text(node, &["overall_assessment", "approval_status", "assessment", "status"]),
        critiques,
        recommendations,
    })
}

fn critique(node: &Node) -> Option<Critique> {
    let status = first_text(node, &["status", "resolution_status"]).unwrap_or_default().to_uppercase();
    let flag = first(node, &["resolved"]).and_then(Node::as_bool);
    let text =
        node.scalar_text().or_else(|| first_text(node, &["finding", "issue", "description", "critique"]));
    Some(Critique {
        severity: first_text(node, &["severity"]).unwrap_or_default().to_uppercase(),
        text: text?,
        recommendation: first_text(node, &["recommendation", "suggestion", "fix"]),
        resolved: flag.unwrap_or_else(|| status.contains("RESOLVED") && !status.contains("UNRESOLVED")),
    })
}

/// The open critiques of severity HIGH: those of the last review that approved, and of all after it.
pub(super) fn unresolved(reviews: &[Review]) -> impl Iterator<Item = &Critique> {
    let from = reviews.iter().rposition(Review::approves).unwrap_or(0);
    let critiques = reviews.iter().skip(from).flat_map(|review| &review.critiques);
    critiques
        .filter(|critique| matches!(critique.severity.as_str(), "HIGH" | "CRITICAL") && !critique.resolved)
}
