//! Merges two edits of one text, line by line, against the text that both began with.

use std::ops::Range;

/// As many differing lines as are searched for the shortest edit. Beyond it the whole middle counts as one edit, which
/// can only find more overlaps.
const EDITS_MAX: usize = 2_000;

/// Lines of the base that a side replaces by lines of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) base: Range<usize>,
    pub(crate) side: Range<usize>,
}

/// Merges the edits of both sides. Returns `None` if they overlap or touch without being equal, or if one of the three
/// is no text (it has a zero byte).
pub fn merge_text(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    if [base, ours, theirs].iter().any(|text| text.contains(&0)) {
        return None;
    }
    let (base, ours, theirs) = (lines(base), lines(ours), lines(theirs));
    let (our_edits, their_edits) = (edits(&base, &ours), edits(&base, &theirs));
    let mut merged = Vec::new();
    let mut at = 0;
    let (mut left, mut right) = (our_edits.as_slice(), their_edits.as_slice());
    while let Some(region) = next_region(left, right) {
        let (our_part, our_rest) = take(left, &region);
        let (their_part, their_rest) = take(right, &region);
        merged.extend_from_slice(base.get(at..region.start)?);
        let our_lines = replaced(&base, &ours, &region, our_part)?;
        let their_lines = replaced(&base, &theirs, &region, their_part)?;
        match (our_part.is_empty(), their_part.is_empty()) {
            (false, true) => merged.extend(our_lines),
            (true, false) => merged.extend(their_lines),
            _ if our_lines == their_lines => merged.extend(our_lines),
            _ => return None,
        }
        at = region.end;
        (left, right) = (our_rest, their_rest);
    }
    merged.extend_from_slice(base.get(at..)?);
    Some(merged.concat())
}

pub(crate) fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Returns the lines of the base that the next edits concern: those of one side alone, or of both where they touch.
fn next_region(left: &[Edit], right: &[Edit]) -> Option<Range<usize>> {
    let first = match (left.first(), right.first()) {
        (Some(one), Some(other)) if one.base.start <= other.base.start => one,
        (Some(one), None) => one,
        (_, other) => other?,
    };
    let mut region = first.base.clone();
    loop {
        let touching = left.iter().chain(right).filter(|edit| touches(&region, &edit.base));
        let end = touching.map(|edit| edit.base.end).max().unwrap_or(region.end);
        if end <= region.end {
            return Some(region);
        }
        region.end = end;
    }
}

fn touches(region: &Range<usize>, edit: &Range<usize>) -> bool {
    edit.start <= region.end && region.start <= edit.end
}

fn take<'e>(edits: &'e [Edit], region: &Range<usize>) -> (&'e [Edit], &'e [Edit]) {
    edits.split_at(edits.iter().take_while(|edit| touches(region, &edit.base)).count())
}

/// Returns what the region becomes by the edits of one side.
fn replaced<'t>(
    base: &[&'t [u8]],
    side: &[&'t [u8]],
    region: &Range<usize>,
    edits: &[Edit],
) -> Option<Vec<&'t [u8]>> {
    let mut text = Vec::new();
    let mut at = region.start;
    for edit in edits {
        text.extend_from_slice(base.get(at..edit.base.start)?);
        text.extend_from_slice(side.get(edit.side.clone())?);
        at = edit.base.end;
    }
    text.extend_from_slice(base.get(at..region.end)?);
    Some(text)
}

/// Returns the edits that make `side` of `base`, in order, with at least one kept line between two of them.
pub(crate) fn edits(base: &[&[u8]], side: &[&[u8]]) -> Vec<Edit> {
    let head = base.iter().zip(side).take_while(|(one, other)| one == other).count();
    let (old, new) = (&base[head..], &side[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let (mut x, mut y) = (0, 0);
    let mut add = |kept_x: usize, kept_y: usize, x: usize, y: usize| {
        if x < kept_x || y < kept_y {
            found.push(Edit { base: head + x..head + kept_x, side: head + y..head + kept_y });
        }
    };
    for (kept_x, kept_y) in kept_lines(old, new).unwrap_or_default() {
        add(kept_x, kept_y, x, y);
        (x, y) = (kept_x + 1, kept_y + 1);
    }
    add(old.len(), new.len(), x, y);
    found
}

/// Returns the pairs of lines that the shortest edit keeps (Myers), or `None` if it is too long to be searched for.
fn kept_lines(old: &[&[u8]], new: &[&[u8]]) -> Option<Vec<(usize, usize)>> {
    let longest = (old.len() + new.len()).min(EDITS_MAX);
    // `reach[offset + k]` is how far the best path on the diagonal x - y = k has come in `old`.
    let offset = longest + 1;
    let mut reach = vec![0usize; 2 * longest + 3];
    let mut history: Vec<Vec<usize>> = Vec::new();
    for cost in 0..=longest {
        // Only the diagonals that this round can read are remembered.
        history.push(reach[offset - cost - 1..=offset + cost + 1].to_vec());
        for at in (offset - cost..=offset + cost).step_by(2) {
            let down = at == offset - cost || (at != offset + cost && reach[at - 1] < reach[at + 1]);
            let mut x = if down { reach[at + 1] } else { reach[at - 1] + 1 };
            let Some(mut y) = (x + offset).checked_sub(at) else { continue };
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            reach[at] = x;
            if x >= old.len() && y >= new.len() {
                return Some(walk_back(&history, old.len(), new.len()));
            }
        }
    }
    None
}

fn walk_back(history: &[Vec<usize>], old: usize, new: usize) -> Vec<(usize, usize)> {
    let (mut x, mut y) = (old, new);
    let mut kept = Vec::new();
    for (cost, reach) in history.iter().enumerate().rev() {
        // In the remembered part, diagonal k lies at k + cost + 1.
        let at = x + cost + 1 - y;
        let down = at == 1 || (at != 2 * cost + 1 && reach[at - 1] < reach[at + 1]);
        let before = if down { at + 1 } else { at - 1 };
        let (from_x, from_y) = if cost == 0 {
            (0, 0)
        } else {
            (reach[before], (reach[before] + cost + 1).saturating_sub(before))
        };
        let (start_x, start_y) = match (cost, down) {
            (0, _) => (0, 0),
            (_, true) => (from_x, from_y + 1),
            (_, false) => (from_x + 1, from_y),
        };
        while x > start_x && y > start_y {
            (x, y) = (x - 1, y - 1);
            kept.push((x, y));
        }
        (x, y) = (from_x, from_y);
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(base: &str, ours: &str, theirs: &str, expected: Option<&str>) {
        let merged = merge_text(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
        let merged = merged.map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(merged.as_deref(), expected);
        let swapped = merge_text(base.as_bytes(), theirs.as_bytes(), ours.as_bytes());
        assert_eq!(swapped.is_some(), expected.is_some());
    }

    #[test]
    fn edits_apart_are_both_kept_and_touching_ones_are_a_conflict() {
        check("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", Some("A\nb\nC\n"));
        check("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n", None);
        check("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", Some("a\nc\nd\n"));
        check("a\n", "a\nx\n", "a\ny\n", None);
        check("a\n", "a\nx\n", "a\nx\n", Some("a\nx\n"));
        check("", "x\n", "", Some("x\n"));
        check("a\nb", "a\nb\nc", "a\nb", Some("a\nb\nc"));
        check("x\na\nb", "x\na\nb\nc", "y\na\nb", Some("y\na\nb\nc"));
    }

    #[test]
    fn the_same_edit_beside_another_one_is_no_conflict() {
        check("a\nb\nc\nd\ne\n", "a\nB\nc\nd\ne\n", "a\nB\nc\nD\ne\n", Some("a\nB\nc\nD\ne\n"));
    }

    #[test]
    fn bytes_with_a_zero_are_no_text() {
        assert_eq!(merge_text(b"a\0", b"a\0", b"b"), None);
        assert_eq!(merge_text(b"\xff\n", b"\xff\nx\n", b"\xff\n"), Some(b"\xff\nx\n".to_vec()));
    }

    #[test]
    fn very_long_edits_do_not_take_for_ever() {
        let text = |word: &str| (0..30_000).map(|n| format!("{word}{n}\n")).collect::<String>();
        let (base, ours) = (text("a"), text("b"));
        check(&base, &ours, &base, Some(&ours));
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        vec(prop_oneof![Just("a\n"), Just("b\n"), Just("c\n"), Just("\n"), Just("d")], 0..30)
            .prop_map(|lines| lines.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn an_unchanged_side_gives_the_other_one(base in text(), side in text()) {
            prop_assert_eq!(merge_text(&base, &side, &base), Some(side.clone()));
            prop_assert_eq!(merge_text(&base, &base, &side), Some(side.clone()));
            prop_assert_eq!(merge_text(&base, &side, &side), Some(side));
        }

        #[test]
        fn edits_rebuild_the_side(base in text(), side in text()) {
            let (base, side) = (lines(&base), lines(&side));
            let found = edits(&base, &side);
            let whole = 0..base.len();
            prop_assert_eq!(replaced(&base, &side, &whole, &found), Some(side.clone()));
            prop_assert!(found.windows(2).all(|two| two[0].base.end < two[1].base.start));
        }

        #[test]
        fn edits_of_different_lines_both_survive(
            changes in vec(0u8..3, 1..60),
        ) {
            // Every third line can be edited by one of the two; the lines between are all different and stay.
            let line = |n: usize, who: &str| format!("{n}{who}\n");
            let build = |ours: bool, theirs: bool| -> String {
                changes.iter().enumerate().map(|(n, change)| {
                    let who = match change { 1 if ours => " ours", 2 if theirs => " theirs", _ => "" };
                    line(3 * n, who) + &line(3 * n + 1, "") + &line(3 * n + 2, "")
                }).collect()
            };
            let merged = merge_text(
                build(false, false).as_bytes(), build(true, false).as_bytes(), build(false, true).as_bytes());
            prop_assert_eq!(merged, Some(build(true, true).into_bytes()));
        }

        #[test]
        fn the_order_of_sides_does_not_matter(base in text(), ours in text(), theirs in text()) {
            prop_assert_eq!(merge_text(&base, &ours, &theirs), merge_text(&base, &theirs, &ours));
        }
    }
}
