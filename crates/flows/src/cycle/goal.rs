//! The goal: a person's, specific enough to be checked (CY-02, CY-23 to CY-27).

use seriatim_core::cycle::block::Role;
use seriatim_core::cycle::choices::GoalChoice;
use seriatim_core::cycle::document;
use seriatim_core::cycle::facts::CycleFact;
use seriatim_core::cycle::facts::Decision;
use seriatim_core::cycle::goal;

use super::course::Course;
use super::people;
use super::words;
use crate::registry::Ended;

impl Course<'_> {
    /// Takes the goal that was given, or asks for one until it can be worked on.
    pub(super) async fn take_goal(&mut self) -> Result<(), Ended> {
        let mut given = self.start.goal.clone();
        loop {
            if let Some(text) = given.take() {
                let goal = words::goal(&text);
                let missing = goal::missing(&goal);
                if missing.is_empty() {
                    self.goal = goal;
                    break;
                }
                given = self.ask_goal(Some((&text, &missing))).await?;
            } else {
                given = self.ask_goal(None).await?;
            }
        }
        let refused = self.choose_diet().await;
        self.fact(CycleFact::GoalTaken {
            cycle: self.number,
            goal: self.goal.text.clone(),
            criteria: self.goal.criteria.clone(),
            documents: self.diet.values().flatten().cloned().collect(),
        });
        let mut body = words::goal_text(&self.goal);
        if self.archived > 0 && self.goal.archives_reviewed.is_none() {
            // It is on record either way, and asks for nothing (CY-24, K-98).
            body.push_str("\n\nEarlier cycles were looked at: not said");
        }
        let absent = self.not_configured();
        if !absent.is_empty() {
            body.push_str(&format!("\n\nNot checked, because it is not configured: {}.", absent.join(", ")));
        }
        if !refused.is_empty() {
            body.push_str(&format!("\n\nNot given to the roles:\n{}", document::bullets(&refused)));
        }
        self.append_human("Goal", &body, Role::Planner).await;
        Ok(())
    }

    async fn ask_goal(&mut self, vague: Option<(&str, &[String])>) -> Result<Option<String>, Ended> {
        let (choice, answer) = self.ask(people::goal(vague, self.archived)).await;
        self.decided(Decision::Goal(choice), &answer);
        match choice {
            GoalChoice::ProvideInput => Ok(answer.text),
            GoalChoice::Cancel => {
                self.clear().await;
                Err(super::ended(
                    crate::registry::End::Cancelled,
                    false,
                    "No goal was given; the cycle was not begun.",
                    serde_json::Value::Null,
                ))
            }
        }
    }
}
