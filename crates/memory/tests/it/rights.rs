//! Each right on a bucket, tried on its own.

use fro_memory::{Right, RightVerdict, S3, S3Settings, Trial};

use crate::bucket::{Bucket, Fault, credentials};

/// How a server refuses each right, as the beginning of a request.
const REFUSALS: [(Right, &str); 5] = [
    (Right::List, "GET list-type=2"),
    (Right::Read, "GET head."),
    (Right::Write, "PUT doctor/"),
    (Right::Parts, "POST ?uploads"),
    (Right::Delete, "POST ?delete"),
];

fn denied(settings: &S3Settings) -> Vec<Right> {
    let trials = S3::try_rights(settings).unwrap();
    trials
        .into_iter()
        .filter_map(|Trial { right, verdict }| match verdict {
            RightVerdict::Granted => None,
            RightVerdict::Denied => Some(right),
            RightVerdict::Failed(why) => panic!("{right}: {why}"),
        })
        .collect()
}

#[test]
fn a_refused_right_is_the_only_one_that_is_missing() {
    let bucket = Bucket::open();
    let settings = bucket.settings("rights");
    assert_eq!(denied(&settings), []);
    for (right, line) in REFUSALS {
        bucket.fail(line, Fault::Status(403));
        assert_eq!(denied(&settings), [right], "{line}");
    }
    bucket.mend();
    assert_eq!(denied(&settings), []);
}

#[test]
fn a_wrong_key_has_no_right_at_all() {
    let bucket = Bucket::open();
    let settings = S3Settings { credentials: credentials("wrong"), ..bucket.settings("rights") };
    let all = [Right::List, Right::Read, Right::Write, Right::Parts, Right::Delete];
    assert_eq!(denied(&settings), all);
}
