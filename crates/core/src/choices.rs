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

/// Declares an enum of options with their ids and implements [`Choices`] for it.
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
    }
}
