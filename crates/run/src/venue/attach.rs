//! Brings the files that people attached to their words: few, small, and what they say they are.

use std::time::Duration;

use fro_core::{
    Permit, Trigger,
    attachment::{self, Attached, Attachments, FileLink},
};
use fro_github::GitHub;
use tokio::time::timeout;

use crate::progress::{Progress, Tell};

/// How long all downloads together may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Downloads the files of the request and of the description, the request's first.
///
/// They stay in memory: nothing is written to disk, and only what they are is told in the log.
pub(super) async fn bring(github: &GitHub, texts: [&str; 2], tell: Tell<'_>) -> Attachments {
    let mut marks: Vec<FileLink> = Vec::new();
    for mark in texts.into_iter().flat_map(|text| attachment::find(text, github.web())) {
        if !marks.iter().any(|known| known.url == mark.url) {
            marks.push(mark);
        }
    }
    let mut files = Attachments::default();
    let bring_all = async {
        for mark in &marks {
            let got = match files.room() {
                Ok(left) => download(github, mark, left).await,
                Err(full) => Err(full),
            };
            files.take(mark, got);
        }
    };
    if timeout(PATIENCE, bring_all).await.is_err() {
        tell(Progress::Warning("attached files took too long; the rest of them is left out".to_owned()));
    }
    for Attached { name, note, .. } in &files.attached {
        tell(Progress::Attached { name: name.clone(), note: note.clone() });
    }
    files
}

/// Returns the words that may have files attached: those that ask, unless they are the description itself.
pub(super) fn request<'a>(trigger: &'a Trigger, permit: &Permit) -> &'a str {
    if permit.subject().number().is_some() { trigger.words() } else { "" }
}

async fn download(github: &GitHub, mark: &FileLink, left: usize) -> Result<(String, Vec<u8>), String> {
    let file = github.attachment(&mark.url, left).await?;
    Ok((file.told, file.bytes))
}
