//! Answers questions about earlier sessions from the ledger, the engine's database and the search index.
//!
//! What may not be heard here is as if it were not there: a public subject learns nothing of private sessions, and of a
//! session that the ledger does not know nobody can tell who may hear it.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use fro_core::{
    Bounded, Trust,
    continuity::{Continuity, Fresh, Last},
    desk::{Part, Read, Search},
    remembered::{Audience, Excerpt, Message, Past, Remembered},
    say::{sessions as say, standing::Standing},
};
use fro_memory::{Error, Index, Info, Ledger, Page, Run, Sessions, Visibility};

/// So many messages of a session that is not continued are quoted, and so many places of others.
const ENDING: u32 = 4;
const PLACES: usize = 4;

/// So many times more places are looked for than wanted: the best few could all be among those that are left out.
const WIDER: u32 = 8;

/// All there is, for a list that is filtered before it is cut.
const ALL: Page = Page { skip: 0, limit: u32::MAX };

/// What answers questions about earlier sessions.
#[derive(Debug)]
pub(crate) struct Shelf {
    engine_data: PathBuf,
    ledger: PathBuf,
    index: PathBuf,
    audience: Audience,
    /// The session of this run, whose words the agent has before it anyway.
    own: Mutex<Option<String>>,
    /// One search at a time: each first reads what is new into the index.
    searching: Mutex<()>,
}

/// Whose words are looked for.
enum Said {
    ByAnyone,
    /// What the agent found out. What it was told has much in common with what it is told now.
    ByTheAgent,
}

impl Said {
    fn counts(&self, sessions: &Sessions, message: &str) -> Result<bool, Error> {
        match self {
            Self::ByAnyone => Ok(true),
            Self::ByTheAgent => Ok(sessions.role(message)?.as_deref() == Some("assistant")),
        }
    }
}

/// What the ledger knows of a session.
struct Told {
    about: String,
    trust: Trust,
    said_before: Audience,
    runs: Vec<Run>,
}

/// The sessions and what is known of them, as of one question.
struct Open {
    sessions: Sessions,
    told: BTreeMap<String, Told>,
    audience: Audience,
}

impl Shelf {
    pub(super) fn new(engine_data: PathBuf, ledger: PathBuf, index: PathBuf, audience: Audience) -> Self {
        Self { engine_data, ledger, index, audience, own: Mutex::default(), searching: Mutex::default() }
    }

    /// Says in which session this run takes place.
    pub(crate) fn serve(&self, session: &str) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.to_owned());
    }

    /// Lists sessions, the last spoken in first.
    pub(crate) fn list(&self, part: Part) -> Result<String, Error> {
        let Some(open) = self.open()? else { return Ok(say::list(&Bounded::first(Vec::new(), 0), 0)) };
        let shown = open.sessions.list(ALL)?.into_iter().filter_map(|info| open.remembered(info));
        let rest: Vec<_> = shown.skip(part.skip as usize).collect();
        let limit = part.limit.unwrap_or(20).clamp(1, 50) as usize;
        Ok(say::list(&Bounded::first(rest, limit), part.skip))
    }

    /// Searches what was said.
    pub(crate) fn search(&self, search: &Search) -> Result<String, Error> {
        let limit = search.limit.unwrap_or(10).clamp(1, 30);
        Ok(say::search(&search.query, &self.places(&search.query, limit, &Said::ByAnyone)?))
    }

    /// Returns the best places where something was said.
    fn places(&self, query: &str, limit: u32, said: &Said) -> Result<Vec<Excerpt>, Error> {
        let Some(open) = self.open()? else { return Ok(Vec::new()) };
        let _one = self.searching.lock().unwrap_or_else(PoisonError::into_inner);
        let mut index = Index::open(&self.index)?;
        index.refresh(&open.sessions)?;
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut places = Vec::new();
        for found in index.search(&open.sessions, query, limit.saturating_mul(WIDER))? {
            if own.as_ref() != Some(&found.session)
                && said.counts(&open.sessions, &found.message)?
                && let Some(session) = open.find(&found.session)?
            {
                places.push(Excerpt { session, text: found.excerpt });
            }
        }
        places.truncate(limit as usize);
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
        let runs = open.told.get(id).map(|told| told.runs.as_slice()).unwrap_or_default();
        let past: Vec<_> = runs.iter().map(past).collect();
        Ok(Some(say::info(&session, &past)))
    }

    /// Returns the session in which a subject was last spoken about.
    pub(crate) fn last(&self, subject: &str) -> Result<Last, Error> {
        let Some(id) = Ledger::open(&self.ledger)?.session_of(subject)? else { return Ok(Last::None) };
        let Some(open) = self.open()? else { return Ok(Last::Gone) };
        let Some(info) = open.sessions.info(&id)? else { return Ok(Last::Gone) };
        let Some(session) = open.remembered(info) else { return Ok(Last::Private) };
        Ok(Last::Here { session: Box::new(session), bytes: open.sessions.size(&id)? })
    }

    /// Returns what is known of a subject.
    pub(crate) fn standing(&self, subject: &str, memory: String) -> Result<Standing, Error> {
        let runs = Ledger::open(&self.ledger)?.runs_about(subject)?;
        let session = match self.last(subject)? {
            Last::Here { session, .. } => Some(*session),
            Last::None | Last::Gone | Last::Private => None,
        };
        Ok(Standing { past: runs.iter().map(past).collect(), session, memory })
    }

    /// Returns the last words of a session that is not continued though it could be told of.
    pub(crate) fn ending(
        &self,
        last: &Last,
        continuity: &Continuity,
    ) -> Result<Option<(Remembered, Vec<Message>)>, Error> {
        match continuity {
            Continuity::Fresh(Fresh::PutAway | Fresh::Full | Fresh::LessTrusted) => {}
            Continuity::Continued(_)
            | Continuity::Fresh(Fresh::First | Fresh::Order | Fresh::Gone | Fresh::Private) => {
                return Ok(None);
            }
        }
        let (Last::Here { session, .. }, Some(open)) = (last, self.open()?) else { return Ok(None) };
        let page = Page { skip: session.messages.saturating_sub(ENDING), limit: ENDING };
        let said = open.sessions.read(&session.id, page)?.into_iter().filter(|said| said.role == "assistant");
        let messages = said.map(|said| Message { role: said.role, at: said.at, text: said.text });
        Ok(Some((*session.clone(), messages.collect())))
    }

    /// Returns what was said in other sessions that may matter, one place of each.
    pub(crate) fn elsewhere(&self, query: &str, last: &Last) -> Result<Vec<Excerpt>, Error> {
        let mut places: Vec<Excerpt> = Vec::new();
        for place in self.places(query, 30, &Said::ByTheAgent)? {
            let is_own = matches!(last, Last::Here { session, .. } if session.id == place.session.id);
            let is_known = places.iter().any(|known| known.session.id == place.session.id);
            if !is_own && !is_known && places.len() < PLACES {
                places.push(place);
            }
        }
        Ok(places)
    }

    fn open(&self) -> Result<Option<Open>, Error> {
        let Some(sessions) = Sessions::open(&self.engine_data)? else { return Ok(None) };
        let mut told = BTreeMap::new();
        let mut runs = Ledger::open(&self.ledger)?.newest(u32::MAX)?;
        runs.reverse();
        for run in runs {
            if let Some(session) = run.session.clone() {
                told.entry(session).or_insert_with(|| Told::new(&run)).add(run);
            }
        }
        Ok(Some(Open { sessions, told, audience: self.audience }))
    }
}

impl Told {
    fn new(run: &Run) -> Self {
        Self {
            about: run.subject.clone(),
            trust: Trust::Harness,
            said_before: Audience::Everyone,
            runs: Vec::new(),
        }
    }

    /// Takes a run into account: the least trusted words and the smallest audience count.
    fn add(&mut self, run: Run) {
        self.trust = self.trust.min(Trust::from_word(&run.trust));
        if run.visibility == Visibility::Private {
            self.said_before = Audience::Insiders;
        }
        self.runs.push(run);
    }
}

impl Open {
    /// Returns a session by its id, if it may be heard here.
    fn find(&self, id: &str) -> Result<Option<Remembered>, Error> {
        Ok(self.sessions.info(id)?.and_then(|info| self.remembered(info)))
    }

    fn remembered(&self, info: Info) -> Option<Remembered> {
        let told = self.told.get(&self.root(&info));
        let said_before = told.map_or(Audience::Insiders, |told| told.said_before);
        self.audience.may_hear(said_before).then(|| Remembered {
            about: told.map(|told| told.about.clone()),
            trust: told.map_or(Trust::Stranger, |told| told.trust),
            id: info.id,
            title: info.title,
            created: info.created,
            updated: info.updated,
            messages: info.messages,
            cost: info.cost,
            is_archived: info.is_archived,
        })
    }

    /// Returns the session that asked for this one, however many are in between.
    fn root(&self, info: &Info) -> String {
        let (mut id, mut parent) = (info.id.clone(), info.parent.clone());
        // The database is the agent's to write, so parents may go round in circles.
        for _ in 0..16 {
            let Some(above) = parent else { break };
            parent = self.sessions.info(&above).ok().flatten().and_then(|info| info.parent);
            id = above;
        }
        id
    }
}

fn past(run: &Run) -> Past {
    Past {
        ended: run.ended_at,
        event: run.event.clone(),
        actor: run.actor.clone(),
        outcome: run.outcome.clone(),
        links: run.links.clone(),
    }
}
