//! What may be done with a bucket, tried out one by one: each step of reading and saving a memory on its own.

use std::fmt;

use futures::TryStreamExt as _;
use object_store::{
    Error as Answer, GetOptions, GetRange, ObjectStore as _, ObjectStoreExt as _, PutMode, PutOptions,
    PutPayload, UpdateVersion, path::Path as Key,
};

use super::{S3, S3Settings};
use crate::error::Error;

/// How an answer says that something is denied.
const DENIED: [&str; 2] = ["AccessDenied", "403 Forbidden"];

/// One right on a bucket, in the order in which a run needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// Seeing which objects there are. Without it a bucket does not even say that it holds no memory yet.
    List,
    /// Reading objects.
    Read,
    /// Writing objects.
    Write,
    /// Writing only what nobody else has written meanwhile.
    Compare,
    /// Writing large objects in parts.
    Parts,
    /// Removing what is no longer needed.
    Delete,
}

/// What came of trying a right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// What was tried.
    pub right: Right,
    /// Whether it is there.
    pub verdict: RightVerdict,
}

/// Whether a right is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RightVerdict {
    /// The right was granted.
    Granted,
    /// The credentials do not suffice.
    Denied,
    /// Whether the right is granted cannot be told, for this reason.
    Failed(String),
}

impl Right {
    /// Returns what AWS calls it in a policy.
    pub fn action(self) -> &'static str {
        match self {
            Self::List => "s3:ListBucket",
            Self::Read => "s3:GetObject",
            Self::Write | Self::Compare | Self::Parts => "s3:PutObject",
            Self::Delete => "s3:DeleteObject",
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "list",
            Self::Read => "read",
            Self::Write => "write",
            Self::Compare => "compare",
            Self::Parts => "parts",
            Self::Delete => "delete",
        })
    }
}

impl S3 {
    /// Tries everything that a run needs, on an object of its own that is removed again if it can be.
    pub fn try_rights(settings: &S3Settings) -> Result<Vec<Trial>, Error> {
        let store = Self::open(settings)?;
        Ok(store.wire.wait(store.trials()))
    }

    async fn trials(&self) -> Vec<Trial> {
        let key = self.key(&format!("doctor/{}", jiff::Timestamp::now().as_nanosecond()));
        let written = self.try_write(&key).await;
        let mut trials = vec![
            (Right::List, self.try_list().await),
            (Right::Read, self.try_read().await),
            (Right::Write, judge(written.as_ref().map(drop))),
        ];
        if written.is_ok() {
            trials.push((Right::Compare, self.try_compare(&key).await));
        }
        trials.push((Right::Parts, self.try_parts(&key).await));
        trials.push((Right::Delete, judge(self.bucket.delete(&key).await.as_ref().map(drop))));
        trials.into_iter().map(|(right, verdict)| Trial { right, verdict }).collect()
    }

    async fn try_list(&self) -> RightVerdict {
        let listed = self.lister.list(Some(&self.key(""))).try_next().await;
        judge(listed.as_ref().map(drop))
    }

    /// Asks for the head, as every run does first. That there is none is an answer.
    async fn try_read(&self) -> RightVerdict {
        let options = GetOptions { range: Some(GetRange::Bounded(0..1)), ..GetOptions::default() };
        match self.bucket.get_opts(&self.head_key(), options).await {
            Ok(_) | Err(Answer::NotFound { .. }) => RightVerdict::Granted,
            Err(error) => judge(Err(&error)),
        }
    }

    async fn try_write(&self, key: &Key) -> Result<(), Answer> {
        let options = PutOptions::from(PutMode::Create);
        self.bucket.put_opts(key, PutPayload::from_static(b"fro-bot doctor"), options).await.map(drop)
    }

    /// Overwrites what somebody else would have changed: a service that lets it pass would lose saves.
    async fn try_compare(&self, key: &Key) -> RightVerdict {
        let stale = UpdateVersion { e_tag: Some("\"of-another\"".to_owned()), version: None };
        let options = PutOptions::from(PutMode::Update(stale));
        match self.bucket.put_opts(key, PutPayload::from_static(b"overwritten"), options).await {
            Err(Answer::Precondition { .. } | Answer::AlreadyExists { .. }) => RightVerdict::Granted,
            Ok(_) => {
                RightVerdict::Failed("this service overwrites although `If-Match` does not match".to_owned())
            }
            Err(error) => judge(Err(&error)),
        }
    }

    async fn try_parts(&self, key: &Key) -> RightVerdict {
        match self.bucket.put_multipart(key).await {
            Ok(mut upload) => {
                // Taking it back has a right of its own, which no save needs.
                drop(upload.abort().await);
                RightVerdict::Granted
            }
            Err(error) => judge(Err(&error)),
        }
    }
}

fn judge(answer: Result<(), &Answer>) -> RightVerdict {
    let Err(error) = answer else { return RightVerdict::Granted };
    match error {
        Answer::PermissionDenied { .. } | Answer::Unauthenticated { .. } => RightVerdict::Denied,
        // A list or a bulk that is denied is no such error to the client, though it says so.
        error if DENIED.iter().any(|word| error.to_string().contains(word)) => RightVerdict::Denied,
        error => RightVerdict::Failed(error.to_string()),
    }
}
