//! Brings the files that people attached to their words: few, small, and what they say they are.

use std::time::Duration;

use fro_core::{
    Permit, Trigger,
    attachment::{self, ALL, Attached, LARGEST, MOST, Mark},
};
use fro_github::GitHub;
use fro_opencode::File;
use tokio::time::timeout;

use crate::progress::{Progress, Tell};

/// How long all downloads together may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The files of a run, and what the model is told of each.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) given: Vec<File>,
    pub(crate) attached: Vec<Attached>,
}

/// Downloads the files of the request and of the description, the request's first.
///
/// They stay in memory: nothing is written to disk, and only what they are is told in the log.
pub(super) async fn bring(github: &GitHub, texts: [&str; 2], tell: Tell<'_>) -> Files {
    let mut marks: Vec<Mark> = Vec::new();
    for mark in texts.into_iter().flat_map(|text| attachment::find(text, github.web())) {
        if !marks.iter().any(|known| known.url == mark.url) {
            marks.push(mark);
        }
    }
    let mut files = Files::default();
    let bring_all = async {
        for mark in &marks {
            files.add(github, mark).await;
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

impl Files {
    async fn add(&mut self, github: &GitHub, mark: &Mark) {
        let taken: usize = self.given.iter().map(|file| file.bytes.len()).sum();
        let left = LARGEST.min(ALL.saturating_sub(taken));
        let got = if self.given.len() >= MOST {
            Err(format!("only {MOST} files are taken"))
        } else {
            github.attachment(&mark.url, left).await
        };
        let seen = got.and_then(|file| {
            let kind = attachment::kind(&file.told, &file.bytes).map_err(str::to_owned)?;
            Ok((kind, file.bytes))
        });
        let (name, note) = match seen {
            Ok((kind, bytes)) => {
                let name = attachment::name(mark, Some(kind), &self.attached);
                let note = attachment::given(kind, bytes.len());
                self.given.push(File { name: name.clone(), mime: kind.mime().to_owned(), bytes });
                (name, note)
            }
            Err(why) => (attachment::name(mark, None, &self.attached), attachment::left_out(&why)),
        };
        self.attached.push(Attached { url: mark.url.clone(), name, note });
    }
}
