//! Every line of every file of real diffs, against a list that another program drew up.

use fro_core::{Anchor, Side};
use fro_review::{
    Diff, FileDiff, Place,
    eval::anchors::{Placed, Pull, TrueFile, read},
};

use crate::data;

/// Some pull requests that come with the project, and some hundred more where they are at hand.
fn pulls() -> Vec<Pull> {
    let files = [Some(data::sample("pull-requests.jsonl.gz")), data::shared("pr-diffs.jsonl.gz")];
    files.into_iter().flatten().flat_map(|text| read(&text).unwrap()).collect()
}

fn lines(file: &FileDiff, side: Side) -> Vec<usize> {
    file.hunks.iter().flat_map(|hunk| hunk.lines(side)).collect()
}

#[test]
fn the_same_lines_can_be_commented_on() {
    let (mut files, mut counted) = (0, 0);
    for pull in pulls() {
        let diff = Diff::parse(&pull.diff).unwrap();
        let paths: Vec<_> = diff.files().iter().map(|file| &file.path).collect();
        assert_eq!(paths, pull.files.iter().map(|file| &file.path).collect::<Vec<_>>(), "{}", pull.id);
        for (ours, truth) in diff.files().iter().zip(&pull.files) {
            let told = (lines(ours, Side::Right), lines(ours, Side::Left), ours.hunks.len());
            let expect = (truth.right.clone(), truth.left.clone(), truth.hunks.len());
            assert_eq!(told, expect, "{} {}", pull.id, truth.path);
            (files, counted) = (files + 1, counted + truth.right.len() + truth.left.len());
        }
    }
    println!("{files} files, {counted} lines that can be commented on, none wrong");
    assert!(files >= 30 && counted >= 1_000, "{files} files, {counted} lines");
}

/// GitHub's rules, written once more: lines of one side, the first before the last, both in one hunk.
fn github_takes(truth: &TrueFile, anchor: &Anchor) -> bool {
    let lines = match anchor.side {
        Side::Right => &truth.right,
        Side::Left => &truth.left,
    };
    let shown = |line: usize| lines.binary_search(&line).is_ok();
    let hunk_of = |line: usize| {
        truth.hunks.iter().position(|[old, old_length, new, new_length]| match anchor.side {
            Side::Right => (*new..new + new_length).contains(&line),
            Side::Left => (*old..old + old_length).contains(&line),
        })
    };
    let range = anchor
        .start_line
        .is_none_or(|start| start < anchor.line && shown(start) && hunk_of(start) == hunk_of(anchor.line));
    shown(anchor.line) && range
}

#[test]
fn no_place_that_is_found_would_be_refused() {
    let mut placed = 0;
    for pull in pulls() {
        let diff = Diff::parse(&pull.diff).unwrap();
        for truth in &pull.files {
            let last = truth.hunks.last().map_or(1, |hunk| hunk[0].max(hunk[2]) + hunk[1].max(hunk[3]));
            for line in (1..=last + 20).step_by(7) {
                for (side, start) in
                    [(Side::Right, None), (Side::Left, Some(line + 4)), (Side::Right, Some(1))]
                {
                    let wanted = Anchor { path: truth.path.clone(), side, start_line: start, line };
                    match diff.place(&wanted) {
                        Place::Lines(anchor) | Place::Near(anchor) => {
                            assert!(github_takes(truth, &anchor), "{} {wanted} → {anchor:?}", pull.id);
                            placed += 1;
                        }
                        Place::File { path } => assert_eq!(path, truth.path),
                        Place::Summary => panic!("{} touches {}", pull.id, truth.path),
                    }
                }
            }
        }
    }
    println!("{placed} remarks placed, none refused");
    assert!(placed > 1_000, "{placed}");
}

#[test]
fn lines_are_found_again_after_pushes() {
    let placed = Placed::count(&pulls());
    println!(
        "{} lines survived, {} at another number; {} found again ({}/1000), {} misplaced",
        placed.survived,
        placed.shifted,
        placed.found_again,
        placed.share(),
        placed.misplaced
    );
    assert!(placed.passes(), "{:?} {}", placed.wrong, placed.share());
    assert!(placed.survived > 500 && placed.misplaced * 100 < placed.survived, "{placed:?}");
}
