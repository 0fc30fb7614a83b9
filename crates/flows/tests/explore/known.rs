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

pub(crate) const KNOWN: &[Hole] = &[];
