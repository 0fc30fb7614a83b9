//! The options of the engine's own questions, as types.
//!
//! A question that the engine asks offers options that the engine itself acts upon. They are an enum per question, so
//! that a flow matches the answer exhaustively and no fall-through arm decides. Options that come from a definition
//! or an agent are data and stay strings.

/// An enum of the options that one question offers.
pub trait Choices: Copy + 'static {
    /// Every option, in the order of the declaration.
    const ALL: &'static [Self];

    /// Returns the stable id that scripts and answers use.
    fn id(self) -> &'static str;

    /// Returns the option with this id.
    fn of(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.id() == id)
    }
}

#[doc(hidden)]
pub use serde;

/// Declares an enum of options with their ids and implements [`Choices`] for it. Facts keep an option as its id.
#[macro_export]
macro_rules! choices {
    ($(#[$outer:meta])* $vis:vis enum $name:ident { $($(#[$inner:meta])* $variant:ident = $id:literal),+ $(,)? }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[$inner])* $variant),+
        }

        impl $crate::choices::Choices for $name {
            const ALL: &'static [Self] = &[$($name::$variant),+];

            fn id(self) -> &'static str {
                match self {
                    $($name::$variant => $id),+
                }
            }
        }

        impl $crate::choices::serde::Serialize for $name {
            fn serialize<S: $crate::choices::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::choices::Choices::id(*self))
            }
        }

        impl<'de> $crate::choices::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::choices::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let id = <String as $crate::choices::serde::Deserialize>::deserialize(deserializer)?;
                <$name as $crate::choices::Choices>::of(&id).ok_or_else(|| {
                    let error = format!("`{id}` is not one of the options");
                    <D::Error as $crate::choices::serde::de::Error>::custom(error)
                })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    choices! {
        /// What follows from a failed attempt.
        enum AfterFailure {
            Retry = "retry",
            /// The step is left open.
            Skip = "skip",
        }
    }

    #[test]
    fn an_option_is_found_by_its_id_and_by_nothing_else() {
        assert_eq!(AfterFailure::of("skip"), Some(AfterFailure::Skip));
        assert_eq!(AfterFailure::of("Skip"), None);
        assert_eq!(AfterFailure::ALL, [AfterFailure::Retry, AfterFailure::Skip]);
        assert_eq!(serde_json::to_value(AfterFailure::Skip).unwrap(), "skip");
        assert_eq!(serde_json::from_str::<AfterFailure>("\"skip\"").unwrap(), AfterFailure::Skip);
        let refused = serde_json::from_str::<AfterFailure>("\"Skip\"").unwrap_err();
        assert!(refused.to_string().starts_with("`Skip` is not one of the options"), "{refused}");
    }
}
