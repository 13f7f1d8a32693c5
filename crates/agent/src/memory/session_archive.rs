//! Answers questions about earlier sessions from the ledger, the engine's database and the search index.
//!
//! Sessions that the reader may not hear are left out: a public subject learns nothing of private sessions, and of a
//! session that the ledger does not know nobody can tell who may hear it.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use fro_core::{
    Bounded, Trust,
    ancestry::{Ancestry, Parent},
    continuity::{Continuity, LastSession, Likeness, Topic, is_worth_telling},
    remembered::{Audience, EarlierRun, Excerpt, Message, Remembered, is_told},
    say::{sessions as say, subject_status::SubjectStatus},
    tool_call::{ListPage, Read, SessionSearch},
};
use fro_memory::{Archive, Error, ExcerptKind, Found, Index, Info, Ledger, Page, Question, Run, Sessions};

/// So many messages of a session that is not continued are quoted, and so many other sessions.
const ENDING: u32 = 4;
const PLACES: u32 = 4;

/// All there is, for a list that is filtered before it is cut.
const ALL: Page = Page { skip: 0, limit: u32::MAX };

/// What answers questions about earlier sessions.
#[derive(Debug)]
pub(crate) struct SessionArchive {
    engine_data: PathBuf,
    /// What the engine was not given, and the folder for what is fetched of it.
    rest: Option<(Archive, PathBuf)>,
    ledger: PathBuf,
    indexes: Indexes,
    reader: Reader,
    /// One search at a time: the first may have to make the index.
    searching: Mutex<()>,
}

/// Who asks, and where.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    /// Who reads what is answered.
    pub(super) audience: Audience,
    /// The place, as the ledger calls it.
    pub(super) here: String,
}

/// Where search indexes lie.
#[derive(Debug)]
pub(super) struct Indexes {
    /// The one that was saved with the memory.
    pub(super) saved: PathBuf,
    /// The one that this run makes if there is none.
    pub(super) own: PathBuf,
}

/// What the ledger knows of a session.
struct SessionFacts {
    about: String,
    trust: Trust,
    said_before: Audience,
}

/// The sessions and what is known of them, as of one question.
struct OpenSources {
    sessions: Sessions,
    ledger: Ledger,
    reader: Reader,
}

impl SessionArchive {
    pub(super) fn new(
        engine_data: PathBuf,
        rest: Option<(Archive, PathBuf)>,
        ledger: PathBuf,
        indexes: Indexes,
        reader: Reader,
    ) -> Self {
        Self { engine_data, rest, ledger, indexes, reader, searching: Mutex::default() }
    }

    /// Lists sessions, the last spoken in first.
    pub(crate) fn list(&self, part: ListPage) -> Result<String, Error> {
        let shown = self.all()?;
        let rest = shown.into_iter().skip(part.skip as usize).collect();
        let limit = part.limit.unwrap_or(20).clamp(1, 50) as usize;
        Ok(say::list(&Bounded::first(rest, limit), part.skip))
    }

    /// Returns all sessions, the last spoken in first.
    pub(super) fn all(&self) -> Result<Vec<Remembered>, Error> {
        let Some(open) = self.open()? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for info in open.sessions.list(ALL)? {
            all.extend(open.remembered(info)?);
        }
        Ok(all)
    }

    /// Returns the sessions in which some words were said, the best first.
    pub(super) fn with_words(&self, words: &str, most: u32) -> Result<Vec<Remembered>, Error> {
        let found = self.found((words, &[]), None, ExcerptKind::Place, most)?;
        Ok(found.into_iter().map(|(_, place)| place.session).collect())
    }

    /// Searches what was said elsewhere than in the session that asks.
    pub(crate) fn search(&self, search: &SessionSearch, own: &str) -> Result<String, Error> {
        let limit = search.limit.unwrap_or(10).clamp(1, 30);
        let found = self.found((&search.query, &[]), Some(own), ExcerptKind::Place, limit)?;
        let places: Vec<_> = found.into_iter().map(|(_, place)| place).collect();
        Ok(say::search(&search.query, &places))
    }

    /// Returns the sessions that have most of some words, with how good they are.
    fn found(
        &self,
        (words, around): (&str, &[&str]),
        except: Option<&str>,
        show: ExcerptKind,
        limit: u32,
    ) -> Result<Vec<(u32, Excerpt)>, Error> {
        let Some(open) = self.open()? else { return Ok(Vec::new()) };
        let _one = self.searching.lock().unwrap_or_else(PoisonError::into_inner);
        let Indexes { saved, own } = &self.indexes;
        let index = Index::saved_or_made(saved, own, &open.sessions, &open.ledger)?;
        let question = Question { words, around, audience: self.reader.audience, except, show };
        let mut places = Vec::new();
        for found in index.search(&open.sessions, &question, limit)? {
            let Found { session, excerpt, words, weight, .. } = found;
            // The index says who may hear a session; that the ledger says so too is made sure of here.
            if let Some(session) = open.find(&session)? {
                places.push((weight, Excerpt { session, text: excerpt, shared: words }));
            }
        }
        Ok(places)
    }

    /// Reads a part of a session; nothing if there is none of this id.
    pub(crate) fn read(&self, read: &Read) -> Result<Option<String>, Error> {
        let Some(open) = self.open()? else { return Ok(None) };
        let Some(session) = open.find(&read.session_id)? else { return Ok(None) };
        let page = Page { skip: read.skip, limit: read.limit.unwrap_or(20).clamp(1, 100) };
        let said = open.sessions.read(&session.id, page)?;
        let said: Vec<_> =
            said.into_iter().map(|said| Message { role: said.role, at: said.at, text: said.text }).collect();
        Ok(Some(say::read(&session, &said, read.skip)))
    }

    /// Tells about a session; nothing if there is none of this id.
    pub(crate) fn info(&self, id: &str) -> Result<Option<String>, Error> {
        let Some(open) = self.open()? else { return Ok(None) };
        let Some(session) = open.find(id)? else { return Ok(None) };
        let past: Vec<_> = open.ledger.runs_of(id)?.iter().map(past).collect();
        Ok(Some(say::info(&session, &past)))
    }

    /// Returns the session in which a subject was last spoken about.
    pub(crate) fn last(&self, subject: &str) -> Result<LastSession, Error> {
        match Ledger::open(&self.ledger)?.session_of(subject)? {
            Some(id) => self.last_in(&id),
            None => Ok(LastSession::None),
        }
    }

    /// Returns a session that somebody chose to go on in.
    pub(crate) fn last_in(&self, id: &str) -> Result<LastSession, Error> {
        let Some(open) = self.open()? else { return Ok(LastSession::Gone) };
        let Some(info) = open.sessions.info(id)? else { return Ok(LastSession::Gone) };
        let Some(session) = open.remembered(info)? else { return Ok(LastSession::Private) };
        Ok(LastSession::Here { session: Box::new(session), bytes: open.sessions.size(id)? })
    }

    /// Returns what is known of a subject.
    pub(crate) fn subject_status(&self, subject: &str, memory: String) -> Result<SubjectStatus, Error> {
        let runs = Ledger::open(&self.ledger)?.runs_about(subject)?;
        let session = match self.last(subject)? {
            LastSession::Here { session, .. } => Some(*session),
            LastSession::None | LastSession::Gone | LastSession::Private => None,
        };
        Ok(SubjectStatus { past: runs.iter().map(past).collect(), session, memory })
    }

    /// Returns the last words of a session that is not continued though it could be told of.
    pub(crate) fn ending(
        &self,
        last: &LastSession,
        continuity: &Continuity,
    ) -> Result<Option<(Remembered, Vec<Message>)>, Error> {
        if !continuity.quotes_last_session() {
            return Ok(None);
        }
        let (LastSession::Here { session, .. }, Some(open)) = (last, self.open()?) else { return Ok(None) };
        let page = Page { skip: session.messages.saturating_sub(ENDING), limit: ENDING };
        let said = open.sessions.read(&session.id, page)?.into_iter().filter(|said| said.role == "assistant");
        let messages = said.map(|said| Message { role: said.role, at: said.at, text: said.text });
        Ok(Some((*session.clone(), messages.collect())))
    }

    /// Returns other sessions that may matter, besides the one that the agent has before it anyway.
    pub(crate) fn elsewhere(
        &self,
        topic: &Topic,
        besides: Option<&str>,
        show: ExcerptKind,
    ) -> Result<Vec<Excerpt>, Error> {
        let around: Vec<_> = topic.around.iter().map(String::as_str).collect();
        // One more, which may be the session that is continued.
        let found = self.found((&topic.words, &around), None, show, PLACES + 1)?;
        // A concession is short beside the review that it answers, and would never be worth telling by its weight.
        let tells_all = show == ExcerptKind::Place;
        let told = found.into_iter().filter(|(weight, place)| {
            let is_known = besides == Some(place.session.id.as_str());
            let likeness = Likeness { weight: *weight, shared: place.shared.len() };
            !is_known && (tells_all || is_worth_telling(likeness))
        });
        Ok(told.map(|(_, place)| place).take(PLACES as usize).collect())
    }

    fn open(&self) -> Result<Option<OpenSources>, Error> {
        let sessions = match &self.rest {
            Some((archive, folder)) => Some(Sessions::open_all(&self.engine_data, archive, folder)?),
            None => Sessions::open(&self.engine_data)?,
        };
        let Some(sessions) = sessions else { return Ok(None) };
        Ok(Some(OpenSources { sessions, ledger: Ledger::open(&self.ledger)?, reader: self.reader.clone() }))
    }
}

impl SessionFacts {
    /// Takes all runs of a session into account: the least trusted words and the smallest audience count.
    fn from_runs(runs: &[Run]) -> Option<Self> {
        let first = runs.first()?;
        let is_private = runs.iter().any(|run| run.visibility == Audience::Insiders);
        let trust = runs.iter().map(|run| Trust::from_word(&run.trust)).min();
        Some(Self {
            about: first.subject.clone(),
            trust: trust.unwrap_or(Trust::Stranger),
            said_before: if is_private { Audience::Insiders } else { Audience::Everyone },
        })
    }
}

impl OpenSources {
    /// Returns a session by its id, if it may be heard here.
    fn find(&self, id: &str) -> Result<Option<Remembered>, Error> {
        self.sessions.info(id)?.map_or(Ok(None), |info| self.remembered(info))
    }

    fn remembered(&self, info: Info) -> Result<Option<Remembered>, Error> {
        let ancestry = self.ancestry(&info);
        // A session that cannot be asked about may be private.
        let known = |id: &String| {
            self.ledger.runs_of(id).map_or(Some(Audience::Insiders), |runs| {
                SessionFacts::from_runs(&runs).map(|told| told.said_before)
            })
        };
        if !self.reader.audience.may_hear(ancestry.audience(known)) {
            return Ok(None);
        }
        let runs = ancestry.opened_for().map(|id| self.ledger.runs_of(id)).transpose()?;
        let mut all = runs.iter().flatten();
        if !all.all(|run| is_told(&run.surface, &self.reader.here)) {
            return Ok(None);
        }
        let told = runs.and_then(|runs| SessionFacts::from_runs(&runs));
        Ok(Some(Remembered {
            trust: told.as_ref().map_or(Trust::Stranger, |told| told.trust),
            about: told.map(|told| told.about),
            id: info.id,
            title: info.title,
            created: info.created,
            updated: info.updated,
            messages: info.messages,
            cost: info.cost,
            is_archived: info.is_archived,
        }))
    }

    fn ancestry(&self, info: &Info) -> Ancestry<String> {
        let find = |id: &str| self.sessions.info(id).ok().flatten();
        Ancestry::trace(info.id.clone(), |id| {
            Parent::verify(find(id).and_then(|info| info.parent), |parent| find(parent).is_some())
        })
    }
}

fn past(run: &Run) -> EarlierRun {
    EarlierRun {
        ended: run.ended_at,
        event: run.event.clone(),
        actor: run.actor.clone(),
        outcome: run.outcome.clone(),
        links: run.links.clone(),
    }
}
