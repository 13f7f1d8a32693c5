//! Every line of every file of real diffs, against a list that another program drew up.

use std::{io::Read as _, path::Path};

use fro_core::{Anchor, Side};
use fro_review::{Diff, FileDiff, Place};
use serde::Deserialize;

#[derive(Deserialize)]
struct Pull {
    id: String,
    diff: String,
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    path: String,
    /// Old start and length, new start and length of each hunk.
    hunks: Vec<[usize; 4]>,
    right: Vec<usize>,
    left: Vec<usize>,
}

/// Some pull requests that come with the project, and some hundred more where they are at hand.
fn pulls() -> Vec<Pull> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sample = fs_err::read(here.join("tests/data/pull-requests.jsonl.gz")).unwrap();
    let more = fs_err::read(here.join("../../../shared/data/pr-diffs.jsonl.gz")).ok();
    [Some(sample), more].into_iter().flatten().flat_map(|packed| unpacked(&packed)).collect()
}

fn unpacked(packed: &[u8]) -> Vec<Pull> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
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
fn github_takes(truth: &File, anchor: &Anchor) -> bool {
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
