//! Scores, kinds and passes as they are written and read.

use super::*;

#[test]
fn a_score_is_a_whole_number_from_1_to_10() {
    let read =
        |text: &str| serde_json::from_str::<Score>(text).map(Score::get).map_err(|error| error.to_string());
    assert_eq!(read("1"), Ok(1));
    assert_eq!(read("10"), Ok(10));
    for wrong in ["0", "11", "256", "-1", "6.5", "\"7\""] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    assert_eq!(Score::new(11).unwrap_err().to_string(), "a score is a whole number from 1 to 10, not 11");
}

#[test]
fn passes_follow_each_other() {
    let walked: Vec<_> = std::iter::successors(Some(Pass::Diff), |pass| pass.next()).collect();
    assert_eq!(walked, Pass::ALL);
    assert_eq!(
        Pass::try_from(5).unwrap_err().to_string(),
        "there is no pass 5; passes are numbered from 1 to 4"
    );
}

#[test]
fn kinds_are_written_as_they_are_named() {
    for kind in Kind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
}
