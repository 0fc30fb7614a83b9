//! Coverage as tools print it for people.

use super::Coverage;
use super::percent;

pub(super) fn read(output: &str) -> Option<Coverage> {
    let mut found = None;
    // Go prints one line for each package, and no sum: one of many says nothing about all.
    let mut packages = vec![];
    let mut lines_column = None;
    for line in output.lines() {
        let trimmed = line.trim();
        if let Some(columns) = header(trimmed) {
            lines_column = columns;
        } else if let Some(rest) = trimmed.strip_prefix("TOTAL ") {
            found = total(rest).or(found);
        } else if let Some(rest) = trimmed.strip_prefix("All files") {
            found = all_files(rest, lines_column).or(found);
        } else if let Some((before, _)) = trimmed.split_once("% coverage, ") {
            found = tarpaulin(before, trimmed).or(found);
        } else if let Some(rest) = trimmed.strip_prefix("total:") {
            found = rest.split_whitespace().next_back().and_then(written).or(found);
        } else if let Some((_, rest)) = trimmed.split_once("coverage: ")
            && let Some((value, _)) = rest.split_once("% of statements")
        {
            packages.push(percent(value).map(Coverage::Percent));
        }
    }
    found.or(match packages.as_slice() {
        [one] => *one,
        _ => None,
    })
}

fn written(word: &str) -> Option<Coverage> {
    word.ends_with('%').then(|| percent(word)).flatten().map(Coverage::Percent)
}

/// `TOTAL  10  2  80%` of coverage.py, `TOTAL  20 5 75.00%  4 1 75.00%  40 8 80.00%` of llvm-cov: the lines come
/// third there.
fn total(rest: &str) -> Option<Coverage> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let percents: Vec<usize> =
        words.iter().enumerate().filter(|(_, word)| word.ends_with('%')).map(|(i, _)| i).collect();
    let at = *percents.get(2).or(percents.last())?;
    let number = |i: usize| words.get(i).and_then(|word| word.parse::<u64>().ok());
    // Where two numbers stand before it, they are all and those that were missed. With branches there are four, which
    // cannot be added up again, and the written percentage counts.
    let start = percents.iter().rev().find(|i| **i < at).map_or(0, |i| i + 1);
    let counted = (at - start == 2).then(|| {
        let (all, missed) = (number(start)?, number(start + 1)?);
        Coverage::counted(all.checked_sub(missed)?, all)
    });
    let counted = counted.flatten();
    counted.or_else(|| words.get(at).and_then(|word| written(word)))
}

/// `File | % Stmts | % Branch | % Funcs | % Lines | ...`: the column of the lines, counted from the first after the
/// name.
fn header(line: &str) -> Option<Option<usize>> {
    let (first, rest) = line.split_once('|')?;
    (first.trim() == "File").then(|| rest.split('|').position(|column| column.trim() == "% Lines"))
}

fn all_files(rest: &str, lines_column: Option<usize>) -> Option<Coverage> {
    let columns: Vec<&str> = rest.split('|').skip(1).collect();
    let value = columns.get(lines_column.unwrap_or(3)).or(columns.first())?;
    percent(value).map(Coverage::Percent)
}

/// `87.50% coverage, 35/40 lines covered`
fn tarpaulin(before: &str, line: &str) -> Option<Coverage> {
    let (_, counted) = line.split_once("% coverage, ")?;
    let (covered, rest) = counted.split_once('/')?;
    let total = rest.split_whitespace().next()?;
    let counted = Coverage::counted(covered.parse().ok()?, total.parse().ok()?);
    counted.or_else(|| percent(before.split_whitespace().next_back()?).map(Coverage::Percent))
}
