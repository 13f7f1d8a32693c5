//! Wordings of findings: which tell of the same thing.

use fro_review::eval::duplicates::{PairCounts, halves, read};

use crate::data;

#[test]
fn different_issues_on_one_line_are_told_apart_in_any_script() {
    let pairs = read(&data::sample("told-apart.jsonl")).unwrap();
    let told = PairCounts::by_likeness(&pairs);
    println!("{told:?}");
    assert!(told.apart + told.mistaken >= 100, "{told:?}");
    assert_eq!(told.mistaken, 0, "{told:?}");
    assert!(told.found >= 10, "{told:?}");
}

/// The threshold was set on the second half; the first one was looked at afterwards.
#[test]
fn repeats_are_found_in_the_half_that_nothing_was_tuned_on() {
    let Some(text) = data::shared("finding-pairs.jsonl.gz") else {
        println!("finding-pairs.jsonl.gz: not run, the file is not here");
        return;
    };
    let pairs = read(&text).unwrap();
    for (name, half) in ["held out", "tuned on"].into_iter().zip(halves(&pairs)) {
        let told = PairCounts::by_likeness(&half);
        let (precision, recall, f1) = (told.precision(), told.recall(), told.f1());
        println!(
            "{name}: {} pairs, precision {precision}, recall {recall}, F1 {f1} (thousandths)",
            half.len()
        );
        assert!(told.passes(), "{name}: {told:?}");
    }
}
