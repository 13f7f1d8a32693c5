//! What a terminal shows, and what other programs read.

use fro_core::{Anchor, Side};
use insta::{assert_json_snapshot, assert_snapshot};

use super::{frames::Paint, *};
use crate::finding::Kind;

const TAP: &str =
    "//! The tap.\n\npub fn open() -> u32 {\n\tlet seal = \"silicone\u{1b}[2J\";\n\tflow(seal)\n}\n";

fn reported(path: &str, lines: (Option<usize>, usize), score: u64, text: Option<&str>) -> Reported {
    let anchor = Anchor { path: path.to_owned(), side: Side::Right, start_line: lines.0, line: lines.1 };
    let score = Score::new(score).unwrap();
    let finding = Finding {
        anchor,
        pass: Pass::Security,
        kind: Kind::Logic,
        given: score,
        score,
        finding: "`open` ignores that silicone swells.\u{1b}[31m".to_owned(),
        assessment: "It bursts.".to_owned(),
        body: "Hot water makes it swell.\n\nSee the manual.\u{7}".to_owned(),
    };
    Reported { finding, text: text.map(str::to_owned) }
}

fn report() -> Report {
    let gone = reported("old tap.rs", (None, 9), 5, None);
    let left = Anchor { side: Side::Left, ..gone.finding.anchor.clone() };
    let gone = Reported { finding: Finding { anchor: left, ..gone.finding }, ..gone };
    Report {
        base: "b".repeat(40),
        head: "a".repeat(40),
        thresholds: Thresholds::default(),
        findings: vec![
            gone,
            reported("src/tap.rs", (None, 4), 7, Some(TAP)),
            reported("src/tap.rs", (Some(3), 6), 9, Some(TAP)),
            reported("src/short.rs", (None, 40), 6, Some("one line\n")),
            reported("src/empty.rs", (None, 1), 6, Some("\n\n")),
        ],
        blocking: 1,
        stopped: Some((Pass::Consolidation, "the model\nbroke off".to_owned())),
        left_out: vec!["huge.rs".to_owned()],
    }
}

#[test]
fn findings_stand_beside_their_code() {
    let shown = report().frames(Paint::Plain);
    assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
    assert_snapshot!(shown);
}

#[test]
fn nothing_found_is_one_line() {
    let report =
        Report { findings: Vec::new(), blocking: 0, stopped: None, left_out: Vec::new(), ..report() };
    assert_eq!(report.frames(Paint::Plain), "no finding at or above 5/10 in aaaaaaa\n");
}

#[test]
fn a_range_that_makes_no_sense_shows_what_there_is() {
    for lines in [(Some(9), 2), (Some(0), 0), (None, 0), (Some(1), 4_000_000)] {
        let only = reported("src/tap.rs", lines, 7, Some(TAP));
        let shown = Report { findings: vec![only.clone()], ..report() }.frames(Paint::Plain);
        assert!(shown.contains("src/tap.rs"), "{lines:?}: {shown}");
        let sarif = Report { findings: vec![only], ..report() }.sarif("1.0.0").to_string();
        assert!(!sarif.contains("\"startLine\":0"), "{lines:?}: {sarif}");
    }
}

#[test]
fn other_programs_read_json_and_sarif() {
    assert_json_snapshot!("json", report().json());
    assert_json_snapshot!("sarif", report().sarif("1.0.0"));
}
