//! A look at the memory of a repository, for people who choose a session: nothing is changed, and no engine is there.

use std::{io, path::Path};

use fro_core::remembered::{Audience, Remembered};
use fro_memory::{Archive, Recall, RecallTarget, SessionSelection, StoreSettings, Stores};

use super::{
    blocking,
    session_archive::{Indexes, Reader, SessionArchive},
};
use crate::process::Process;

/// Which sessions are looked for.
#[derive(Debug, Clone)]
pub struct Look {
    /// Who reads what is found.
    pub audience: Audience,
    /// The place in which they read it, as the ledger calls it.
    pub place: String,
    /// Words that were said in the sessions; all sessions are meant without any.
    pub words: String,
    /// How many sessions at most.
    pub most: u32,
}

/// A memory that was brought.
struct Brought {
    /// The sessions that are still in the store; nothing if all of them came.
    rest: Option<Archive>,
}

/// Returns sessions that may be told of in a place: with words, those in which they were said, the best first; else all, the
/// last spoken in first.
pub async fn look_for_sessions(process: &Process, look: Look) -> Result<Vec<Remembered>, String> {
    let (settings, scratch) = (process.settings.memory.clone(), process.settings.scratch.clone());
    blocking(move || {
        let folder = tempfile::Builder::new().prefix(super::PRIVATE).tempdir_in(scratch)?;
        let Some(archive) = bring(&settings, folder.path(), &look)? else { return Ok(Vec::new()) };
        let mut found = match look.words.trim() {
            "" => archive.all()?,
            words => archive.with_words(words, look.most)?,
        };
        found.truncate(look.most as usize);
        Ok(found)
    })
    .await
}

/// Brings what it takes to find sessions, from the first store that has any.
fn bring(
    settings: &StoreSettings,
    folder: &Path,
    look: &Look,
) -> Result<Option<SessionArchive>, fro_memory::Error> {
    let [data, fetched] = ["data", "fetched"].map(|name| folder.join(name));
    for made in [&data, &fetched] {
        fs_err::create_dir(made)?;
    }
    let [ledger, saved, own] = ["ledger.db", "index.db", "own-index.db"].map(|name| folder.join(name));
    let to = RecallTarget {
        engine_data: &data,
        ledger: Some(&ledger),
        index: Some(&saved),
        engine_version: Some(fro_opencode::VERSION),
        audience: look.audience,
        given: SessionSelection::About(""),
    };
    let Some(Brought { rest }) = first(&Stores::open(settings), to)? else { return Ok(None) };
    let reader = Reader { audience: look.audience, here: look.place.clone() };
    let rest = rest.map(|archive| (archive, fetched));
    Ok(Some(SessionArchive::new(data, rest, ledger, Indexes { saved, own }, reader)))
}

/// Looks into one store after the other, until one has a memory. A store that cannot be read is passed over if another can.
fn first(stores: &Stores, to: RecallTarget<'_>) -> Result<Option<Brought>, fro_memory::Error> {
    let unread = |why: String| fro_memory::Error::from(io::Error::other(why));
    let mut trouble = stores.unusable().first().cloned().map(unread);
    for store in stores.iter() {
        let place = store.place();
        match stores.look_into(place, to) {
            Ok((Recall::Warm { .. }, rest)) => return Ok(Some(Brought { rest })),
            Ok((Recall::Cold, _)) => {}
            Ok((Recall::Damaged { why }, _)) => {
                trouble = Some(unread(format!("the memory in {place} is damaged: {why}")));
            }
            Ok((Recall::Newer { why }, _)) => trouble = Some(unread(why.to_string())),
            Err(error) => trouble = Some(error),
        }
    }
    trouble.map_or(Ok(None), Err)
}
