//! Chance from a seed.

/// A small generator (SplitMix64): the same seed gives the same numbers on every machine and in every version.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng { state: seed }
    }

    /// The generator of one matter: what it gives depends on the seed and on these words, and on nothing that
    /// was drawn before. An agent that is asked again after a crash therefore does the same again.
    pub fn of(seed: u64, matter: &[&str]) -> Rng {
        let mut state = seed ^ 0xcbf2_9ce4_8422_2325;
        for byte in matter.iter().flat_map(|word| word.bytes().chain([0])) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut rng = Rng::new(state);
        // Seeds that stand side by side must not lead to worlds that resemble each other.
        rng.next();
        rng
    }

    #[expect(clippy::should_implement_trait, reason = "it never ends, so it is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; zero when there is none.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next().checked_rem(end).unwrap_or(0)
    }

    /// A place in something of that length; zero when it is empty.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several; nothing where there is nothing.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let index = self.index(of.len());
        of.get(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut rng = Rng::new(0);
        assert_eq!([rng.next(), rng.next()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn a_matter_has_numbers_of_its_own() {
        let first = |matter: &[&str]| Rng::of(7, matter).next();
        assert_eq!(first(&["a", "b"]), first(&["a", "b"]));
        assert_ne!(first(&["a", "b"]), first(&["ab"]));
        assert_eq!(Rng::new(1).below(0), 0);
        assert_eq!(Rng::new(1).pick::<u8>(&[]), None);
    }
}
