//! What the credentials may do with the bucket: each right that a run needs, tried on its own.

use fro_agent::Settings;
use fro_core::Fault;
use fro_memory::{Right, RightVerdict, S3, S3Settings, Trial};

use super::Finding;

/// Tries every right, if the memory is kept in a bucket.
pub(super) async fn rights(settings: &Settings) -> Vec<Finding> {
    let Some(s3) = settings.memory.s3.clone() else { return Vec::new() };
    let place = s3.clone();
    match tokio::task::spawn_blocking(move || S3::try_rights(&place)).await {
        Ok(Ok(trials)) => trials.iter().map(|trial| finding(&s3, trial)).collect(),
        Ok(Err(error)) => vec![Finding::bad("s3", &error.into())],
        Err(error) => vec![Finding::bad("s3", &Fault::ours(error.to_string()))],
    }
}

fn finding(s3: &S3Settings, Trial { right, verdict }: &Trial) -> Finding {
    let about = about(*right);
    let place = format!("{}/{}", s3.bucket, s3.prefix);
    match verdict {
        RightVerdict::Granted => Finding::good(about, format!("{} in {place}", meaning(*right))),
        RightVerdict::Denied if *right == Right::Delete => Finding::doubtful(
            about,
            format!("what is no longer needed stays in {place}"),
            format!("allow {}, or let a rule of the bucket remove old objects", allowed(s3, *right)),
        ),
        RightVerdict::Denied => {
            let what = format!("denied: {} in {place}", meaning(*right));
            Finding::bad(about, &Fault::yours(what, format!("allow {}", allowed(s3, *right))))
        }
        RightVerdict::Failed(why) => {
            let what = format!("cannot tell whether {place} can be used: {why}");
            let hint =
                "see that `s3-bucket`, `aws-region` and `s3-endpoint` name a bucket that can be reached";
            Finding::bad(about, &Fault::yours(what, hint))
        }
    }
}

/// Names a right as a policy does, with what it has to be allowed on.
fn allowed(s3: &S3Settings, right: Right) -> String {
    let (action, bucket, prefix) = (right.action(), &s3.bucket, &s3.prefix);
    match right {
        Right::List => format!("`{action}` on `arn:aws:s3:::{bucket}`"),
        Right::Read | Right::Write | Right::Compare | Right::Parts | Right::Delete => {
            format!("`{action}` on `arn:aws:s3:::{bucket}/{prefix}/*`")
        }
    }
}

fn about(right: Right) -> &'static str {
    match right {
        Right::List => "s3 list",
        Right::Read => "s3 read",
        Right::Write => "s3 write",
        Right::Compare => "s3 compare",
        Right::Parts => "s3 parts",
        Right::Delete => "s3 delete",
    }
}

fn meaning(right: Right) -> &'static str {
    match right {
        Right::List => "seeing what is there",
        Right::Read => "reading the memory",
        Right::Write => "saving it",
        Right::Compare => "keeping what another run saved meanwhile",
        Right::Parts => "saving much at once",
        Right::Delete => "removing what is no longer needed",
    }
}
