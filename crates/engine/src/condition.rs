//! Conditions in CEL: computed where they can be, and never taken to hold where they cannot.

use cel::Context;
use cel::Program;
use cel::Value;
use seriatim_flows::request::Computed;
use seriatim_flows::request::Conditions;

/// Why a text is not a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotACondition {
    pub message: String,
    /// 1-based, within the condition.
    pub column: u32,
}

/// Checks the syntax, and tells which variables the condition speaks of.
pub fn check(text: &str) -> Result<Vec<String>, NotACondition> {
    let program = Program::compile(text).map_err(|errors| describe(&errors.to_string()))?;
    Ok(program.references().variables().into_iter().map(str::to_owned).collect())
}

/// `ERROR: <input>:1:4: Syntax error: extraneous input ...` as place and sentence.
fn describe(error: &str) -> NotACondition {
    let line = error.lines().next().unwrap_or_default();
    let rest = line.strip_prefix("ERROR: <input>:").unwrap_or(line);
    let mut parts = rest.splitn(3, ':');
    let (_, column, message) = (parts.next(), parts.next(), parts.next());
    let column = column.and_then(|c| c.trim().parse().ok()).unwrap_or(1);
    let message = message.unwrap_or(line).trim().trim_start_matches("Syntax error: ");
    let message = message.split(" expecting {").next().unwrap_or(message);
    NotACondition { message: format!("this is not a condition: {message}"), column }
}

/// Computes all of them.
pub fn compute(wanted: &Conditions) -> Vec<Computed> {
    let mut context = Context::default();
    for (name, value) in &wanted.about {
        if context.add_variable(name.clone(), value.clone()).is_err() {
            let why = format!("`{name}` cannot be used in a condition");
            return wanted.conditions.iter().map(|_| Computed::Unknown(why.clone())).collect();
        }
    }
    wanted.conditions.iter().map(|text| compute_one(text, &context)).collect()
}

fn compute_one(text: &str, context: &Context<'_, '_>) -> Computed {
    let program = match Program::compile(text) {
        Ok(program) => program,
        Err(errors) => return Computed::Unknown(describe(&errors.to_string()).message),
    };
    match program.execute(context) {
        Ok(Value::Bool(holds)) => Computed::Holds(holds),
        Ok(other) => Computed::Unknown(format!("it gives {:?} instead of true or false", other.type_of())),
        Err(error) => Computed::Unknown(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, about: serde_json::Value) -> Computed {
        let about = about.as_object().cloned().unwrap_or_default();
        compute(&Conditions { conditions: vec![text.to_owned()], about }).remove(0)
    }

    #[test]
    fn computed_over_plain_data() {
        let about = serde_json::json!({"outputs": {"n": 3, "found": [{"severity": "high"}]}});
        assert_eq!(one("outputs.n > 2.5", about.clone()), Computed::Holds(true));
        assert_eq!(one("outputs.found.exists(f, f.severity == 'low')", about), Computed::Holds(false));
    }

    #[test]
    fn what_cannot_be_computed_never_holds() {
        let about = serde_json::json!({"outputs": {}});
        for text in ["outputs.gone > 1", "nobody == 1", "1 +* 2", "outputs", "1 / 0 == 1"] {
            assert!(matches!(one(text, about.clone()), Computed::Unknown(_)), "{text}");
        }
    }

    #[test]
    fn a_syntax_error_has_its_column() {
        let error = check("a +* b").unwrap_err();
        assert_eq!(error.column, 4);
        assert_eq!(error.message, "this is not a condition: extraneous input '*'");
        assert_eq!(
            check("inputs.n > 1 && outputs.x").map(|mut v| {
                v.sort();
                v
            }),
            Ok(vec!["inputs".into(), "outputs".into()])
        );
    }
}
