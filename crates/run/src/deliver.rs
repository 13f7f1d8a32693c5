//! One write, once, proven by reading it back.

use fro_core::{Delivery, Fault, Login, Permit, say::marker::Marker};
use fro_github::{Comment, GitHub, Since};
use jiff::Timestamp;

use crate::Receipt;

/// Posts the answer, or edits the one that an earlier attempt of this run left.
pub(crate) async fn once(
    github: &GitHub,
    permit: &Permit,
    delivery: &Delivery,
    earlier: Option<u64>,
) -> Result<Receipt, Fault> {
    let began = Timestamp::now();
    let written = match earlier {
        Some(id) => {
            let comment = github.comment(id).await.map_err(|error| error.fault())?;
            github.update_comment(permit, &comment, &delivery.body).await
        }
        None => github.post_comment(permit, &delivery.body).await,
    };
    let comment = match written {
        Ok(comment) => comment,
        Err(error) if error.ambiguous() => {
            lost(github, permit, delivery, began).await?.ok_or_else(|| error.fault())?
        }
        Err(error) => return Err(error.fault()),
    };
    prove(github, permit, delivery, comment.id).await
}

/// Looks for an answer that was taken although we never heard of it.
async fn lost(
    github: &GitHub,
    permit: &Permit,
    delivery: &Delivery,
    began: Timestamp,
) -> Result<Option<Comment>, Fault> {
    // Clocks differ; a minute of comments more costs nothing.
    let since = began.checked_sub(std::time::Duration::from_mins(1)).map_or(Since::TheBeginning, Since::Time);
    let comments = github.comments(permit.subject(), since).await.map_err(|error| error.fault())?;
    let mut comments = comments.into_iter();
    Ok(comments
        .find(|comment| is_own(comment.author.as_ref(), &comment.body, permit.own(), &delivery.marker)))
}

/// Tells whether a comment is the answer of this run: ours by author and by marker.
pub(crate) fn is_own(author: Option<&Login>, body: &str, own: &Login, marker: &Marker) -> bool {
    author.is_some_and(|author| author.is_same_identity(own)) && marker.opens(body)
}

/// Reads the comment back: an answer nobody can read is none.
async fn prove(
    github: &GitHub,
    permit: &Permit,
    delivery: &Delivery,
    comment: u64,
) -> Result<Receipt, Fault> {
    let read = github.comment(comment).await.map_err(|error| error.fault())?;
    if plain(&read.body) == plain(delivery.body.as_str()) {
        return Ok(Receipt { comment, url: read.url });
    }
    let place = format!("{}#{}", permit.repo(), permit.subject().number());
    Err(Fault::ours(format!("the comment on {place} does not read as it was written: {}", read.url)))
}

/// GitHub may change how lines end.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().to_owned()
}
