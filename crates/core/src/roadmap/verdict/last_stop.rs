//! How the last stop of a step was judged, as the book and the audit trail keep it (K-18).

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value as Json;

use super::Objection;
use super::Standing;
use super::StopVerdict;
use super::sentences;
use crate::roadmap::audit::Entry;
use crate::time::Utc;

/// How the last stop was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub struct LastStop {
    pub at: Utc,
    pub standing: Standing,
    pub objections: Vec<Objection>,
}

impl LastStop {
    pub fn of(verdict: &StopVerdict, at: Utc) -> LastStop {
        LastStop { at, standing: verdict.status, objections: verdict.errors.clone() }
    }

    /// Reads a stop validation of an audit trail of any version.
    pub fn of_entry(entry: &Entry) -> LastStop {
        let list = |key: &str| entry.data.get(key).and_then(Json::as_array).cloned();
        let texts = list("errors").unwrap_or_default();
        LastStop::from(Kept {
            at: entry.at.unwrap_or_default(),
            status: entry.data.get("status").cloned().unwrap_or_default(),
            errors: texts
                .iter()
                .map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_owned))
                .collect(),
            objections: list("objections"),
        })
    }

    /// Whether the agent was let go without an objection.
    pub fn passed(&self) -> bool {
        self.standing != Standing::Error
    }

    /// What counts at a commit although the step is judged anew there.
    pub fn lasting(&self) -> impl Iterator<Item = &Objection> {
        self.objections.iter().filter(|objection| objection.lasts())
    }
}

/// The form in which it is kept. Version 0.1 wrote no `objections`: then every text counts as one (see
/// [`Objection::Other`]).
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    at: Utc,
    status: Json,
    errors: Vec<String>,
    objections: Option<Vec<Json>>,
}

impl From<Kept> for LastStop {
    fn from(kept: Kept) -> LastStop {
        let objections = match &kept.objections {
            Some(typed) => typed.iter().map(super::objection::read).collect(),
            None => kept.errors.into_iter().map(|text| Objection::Other { text }).collect(),
        };
        // A word that is not known is never taken for a good one.
        let standing = Standing::deserialize(&kept.status).unwrap_or(Standing::Error);
        LastStop { at: kept.at, standing, objections }
    }
}

impl From<LastStop> for Kept {
    fn from(stop: LastStop) -> Kept {
        Kept {
            at: stop.at,
            status: Json::from(stop.standing.word()),
            errors: sentences(&stop.objections),
            objections: Some(stop.objections.iter().map(|one| serde_json::json!(one)).collect()),
        }
    }
}
