//! Reports of coverage in files: XML, lcov and JSON.

use serde_json::Value;

use super::Coverage;
use super::percent;
use crate::evidence::xml;
use crate::evidence::xml::Piece;

pub(super) fn read(text: &str) -> Option<Coverage> {
    match text.trim_start().chars().next()? {
        '<' => of_xml(text),
        '{' | '[' => of_json(&serde_json::from_str(text).ok()?),
        _ => of_lcov(text),
    }
}

fn of_xml(text: &str) -> Option<Coverage> {
    let mut jacoco = None;
    for piece in xml::pieces(text) {
        let Piece::Open { name, attributes, .. } = piece else { continue };
        let number = |wanted| xml::attribute(attributes, wanted)?.trim().parse::<u64>().ok();
        match name {
            // Cobertura: the root speaks for all.
            "coverage" if attributes.contains("line-rate") => {
                let counted = number("lines-covered").zip(number("lines-valid"));
                let counted = counted.and_then(|(covered, total)| Coverage::counted(covered, total));
                let rate = || rate(&xml::attribute(attributes, "line-rate")?).map(Coverage::Percent);
                return counted.or_else(rate);
            }
            // Clover: the metrics of the project come first, or last; they are the ones with a number of files.
            "metrics" if number("files").is_some() => {
                return Coverage::counted(number("coveredstatements")?, number("statements")?);
            }
            // JaCoCo: the sums of the whole report come last.
            "counter" if attributes.contains("\"LINE\"") => {
                let (covered, missed) = (number("covered")?, number("missed")?);
                jacoco = Coverage::counted(covered, covered.saturating_add(missed));
            }
            _ => {}
        }
    }
    jacoco
}

/// `0.8571` as 85.71: the point moves, and nothing is multiplied.
fn rate(text: &str) -> Option<crate::process::Decimal> {
    let (whole, places) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let places = format!("{places:0<2}");
    let (percents, rest) = places.split_at_checked(2)?;
    percent(&format!("{whole}{percents}.{rest}"))
}

/// The sums of `LH` and `LF` over all records.
fn of_lcov(text: &str) -> Option<Coverage> {
    let (mut covered, mut total) = (0_u64, 0_u64);
    let (mut lines_hit, mut lines) = (0_u64, 0_u64);
    for line in text.lines() {
        if let Some(number) = line.strip_prefix("LH:").and_then(|n| n.trim().parse::<u64>().ok()) {
            covered = covered.saturating_add(number);
        } else if let Some(number) = line.strip_prefix("LF:").and_then(|n| n.trim().parse::<u64>().ok()) {
            total = total.saturating_add(number);
        } else if let Some((_, hits)) = line.strip_prefix("DA:").and_then(|rest| rest.split_once(',')) {
            lines = lines.saturating_add(1);
            let hits = hits.split(',').next().unwrap_or(hits);
            lines_hit = lines_hit.saturating_add(u64::from(hits.trim() != "0"));
        }
    }
    Coverage::counted(covered, total).or_else(|| Coverage::counted(lines_hit, lines))
}

fn of_json(report: &Value) -> Option<Coverage> {
    let number = |of: &Value, name: &str| of.get(name).and_then(Value::as_u64);
    // coverage.py counts branches beside statements where it measured them.
    if let Some(totals) = report.get("totals") {
        let of_branches = |name| number(totals, name).unwrap_or(0);
        let covered = number(totals, "covered_lines")?.saturating_add(of_branches("covered_branches"));
        let total = number(totals, "num_statements")?.saturating_add(of_branches("num_branches"));
        return Coverage::counted(covered, total);
    }
    // istanbul's summary.
    if let Some(lines) = report.pointer("/total/lines") {
        return Coverage::counted(number(lines, "covered")?, number(lines, "total")?);
    }
    // llvm-cov.
    if let Some(lines) = report.pointer("/data/0/totals/lines") {
        return Coverage::counted(number(lines, "covered")?, number(lines, "count")?);
    }
    // tarpaulin.
    Coverage::counted(number(report, "covered")?, number(report, "coverable")?)
}
