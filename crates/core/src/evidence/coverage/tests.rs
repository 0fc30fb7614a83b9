//! Tests of reading and comparing coverage.

use proptest::prelude::*;

use super::*;

fn threshold(sign: &str, percent: &str) -> Threshold {
    let all = [Comparator::AtLeast, Comparator::MoreThan, Comparator::AtMost, Comparator::LessThan];
    let comparator = all.into_iter().find(|comparator| comparator.sign() == sign).unwrap();
    Threshold { comparator, percent: percent.parse().unwrap() }
}

fn percent_of(text: &str) -> Coverage {
    Coverage::Percent(text.parse().unwrap())
}

#[test]
fn k_51_exactly_eighty_is_enough_only_where_the_gate_says_so() {
    for (value, at_least, above) in
        [("79.9", false, false), ("79.999999999", false, false), ("80", true, false), ("80.0", true, false)]
            .into_iter()
            .chain([
                ("80.1", true, true),
                ("80.000000001", true, true),
                ("100", true, true),
                ("0", false, false),
            ])
    {
        assert_eq!(percent_of(value).meets(&threshold(">=", "80")), at_least, "{value} >= 80");
        assert_eq!(percent_of(value).meets(&threshold(">", "80")), above, "{value} > 80");
        assert_eq!(percent_of(value).meets(&threshold("<", "80")), !at_least, "{value} < 80");
        assert_eq!(percent_of(value).meets(&threshold("<=", "80")), !above, "{value} <= 80");
    }
}

#[test]
fn k_51_counted_shares_are_not_rounded_before_they_are_compared() {
    let counted = |covered, total| Coverage::Counted { covered, total };
    assert!(counted(4, 5).meets(&threshold(">=", "80")));
    assert!(!counted(4, 5).meets(&threshold(">", "80")));
    // A third of a billionth above, and below.
    assert!(counted(800_000_000_001, 1_000_000_000_000).meets(&threshold(">", "80")));
    assert!(!counted(799_999_999_999, 1_000_000_000_000).meets(&threshold(">=", "80")));
    assert!(counted(2, 3).meets(&threshold(">", "66.666666666")));
    assert!(!counted(2, 3).meets(&threshold(">=", "66.666666667")));
    assert_eq!(counted(799_999, 1_000_000).to_string(), "79.99%");
    assert_eq!(counted(2, 3).to_string(), "66.66%");
    assert_eq!(counted(1, 1).to_string(), "100%");
    assert_eq!(percent_of("87.50").to_string(), "87.5%");
}

#[test]
fn dw_64_printed_tables_are_read() {
    let counted = |covered, total| Some(Coverage::Counted { covered, total });
    let coverage_py = "Name       Stmts   Miss  Cover\n-----\ngreet.py      10      2    80%\n-----\nTOTAL         10      2    80%\n";
    assert_eq!(in_output(coverage_py), counted(8, 10));
    let branches = "Name  Stmts  Miss Branch BrPart  Cover\nTOTAL    10     2      4      1    79%\n";
    assert_eq!(in_output(branches), Some(percent_of("79")));
    let jest = "----------|---------|----------|---------|---------|-------------------\nFile      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s\nAll files |   85.71 |      100 |      50 |   83.33 |\n greet.js |   85.71 |      100 |      50 |   83.33 | 4\n";
    assert_eq!(in_output(jest), Some(percent_of("83.33")));
    let llvm = "Filename  Regions  Missed Regions  Cover  Functions  Missed Functions  Executed  Lines  Missed Lines  Cover\nTOTAL  20  5  75.00%  4  1  75.00%  40  8  80.00%  0  0  -\n";
    assert_eq!(in_output(llvm), counted(32, 40));
    assert_eq!(in_output("|| Tested/Total Lines:\n87.50% coverage, 35/40 lines covered\n"), counted(35, 40));
    assert_eq!(in_output("ok  \tx\t0.1s\tcoverage: 85.7% of statements\n"), Some(percent_of("85.7")));
    assert_eq!(
        in_output("greet.go:3:\tGreet\t100.0%\ntotal:\t(statements)\t85.7%\n"),
        Some(percent_of("85.7"))
    );
    // The packages of go have no sum, and an average would be made up.
    assert_eq!(in_output("coverage: 85.7% of statements\ncoverage: 10.0% of statements\n"), None);
    assert_eq!(in_output("nothing to see"), None);
}

#[test]
fn dw_64_reports_are_read() {
    let counted = |covered, total| Some(Coverage::Counted { covered, total });
    let cobertura = r#"<?xml version="1.0" ?><!-- x --><coverage lines-valid="7" lines-covered="6" line-rate="0.8571"><packages/></coverage>"#;
    assert_eq!(in_report(cobertura), counted(6, 7));
    assert_eq!(in_report(r#"<coverage line-rate="0.8"></coverage>"#), Some(percent_of("80")));
    assert_eq!(in_report(r#"<coverage line-rate="0.8571428571428571"/>"#), Some(percent_of("85.714285714")));
    assert_eq!(in_report(r#"<coverage line-rate="1"/>"#), Some(percent_of("100")));
    let jacoco = r#"<report><package><counter type="LINE" missed="1" covered="1"/></package><counter type="BRANCH" missed="9" covered="1"/><counter type="LINE" missed="2" covered="8"/></report>"#;
    assert_eq!(in_report(jacoco), counted(8, 10));
    assert_eq!(
        in_report("SF:a.py\nDA:1,1\nLF:4\nLH:3\nend_of_record\nSF:b.py\nLF:6\nLH:5\n"),
        counted(8, 10)
    );
    assert_eq!(in_report("TN:\nSF:a.py\nDA:1,1\nDA:2,0\nend_of_record\n"), counted(1, 2));
    let py = r#"{"totals": {"covered_lines": 8, "num_statements": 9, "percent_covered": 90.0, "covered_branches": 1, "num_branches": 1}}"#;
    assert_eq!(in_report(py), counted(9, 10));
    assert_eq!(in_report(r#"{"total":{"lines":{"total":10,"covered":8,"pct":80}}}"#), counted(8, 10));
    assert_eq!(
        in_report(r#"{"data":[{"totals":{"lines":{"count":40,"covered":32,"percent":80.0}}}]}"#),
        counted(32, 40)
    );
    assert_eq!(in_report("{\"cut\": "), None);
    assert_eq!(in_report(r#"<coverage lines-valid="0" lines-covered="0" line-rate="7"/>"#), None);
}

#[test]
fn a_pattern_finds_the_last_value() {
    let pattern = Regex::new(r"line coverage:?\s+([\d.,]+)").unwrap();
    assert_eq!(
        by_pattern("line coverage: 12\n\u{1b}[32mline coverage 87,5\u{1b}[0m", &pattern),
        Some(percent_of("87.5"))
    );
    assert_eq!(by_pattern("87.5%", &Regex::new(r"[\d.]+%").unwrap()), Some(percent_of("87.5")));
    assert_eq!(by_pattern("line coverage: 187", &pattern), None);
    assert_eq!(by_pattern("no value", &pattern), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn k_51_counted_and_written_shares_agree(covered in 0_u64..=10_000, limit in 0_u64..=10_000) {
        let counted = Coverage::Counted { covered, total: 10_000 };
        let limit = format!("{}.{:02}", limit / 100, limit % 100);
        for comparator in [">=", ">"] {
            let threshold = threshold(comparator, &limit);
            let written = Coverage::Percent(counted.percent());
            prop_assert_eq!(counted.meets(&threshold), written.meets(&threshold));
        }
    }

    #[test]
    fn nothing_makes_the_readers_fail(text in "(?s).{0,300}", marks in "[<>{}\"=|%:/,. A-Za-z0-9\n]{0,300}") {
        for text in [&text, &marks] {
            in_output(text);
            in_report(text);
            in_report(&format!("<{text}"));
        }
    }
}
