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
    desk::{Part, Read, Search},
    remembered::{Audience, Excerpt, Message, Past, Remembered},
    say::sessions as say,
};
use fro_memory::{Error, Index, Info, Ledger, Page, Run, Sessions, Visibility};

/// All there is, for a list that is filtered before it is cut.
const ALL: Page = Page { skip: 0, limit: u32::MAX };

/// What answers questions about earlier sessions.
#[derive(Debug)]
pub(crate) struct Shelf {
    engine_data: PathBuf,
    ledger: PathBuf,
    index: PathBuf,
    audience: Audience,
    /// One search at a time: each first reads what is new into the index.
    searching: Mutex<()>,
}

/// What the ledger knows of a session.
struct Standing {
    about: String,
    trust: Trust,
    said_before: Audience,
    runs: Vec<Run>,
}

/// The sessions and what is known of them, as of one question.
struct Open {
    sessions: Sessions,
    standings: BTreeMap<String, Standing>,
    audience: Audience,
}

impl Shelf {
    pub(super) fn new(engine_data: PathBuf, ledger: PathBuf, index: PathBuf, audience: Audience) -> Self {
        Self { engine_data, ledger, index, audience, searching: Mutex::new(()) }
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
        Ok(say::search(&search.query, &self.places(&search.query, limit)?))
    }

    /// Returns the best places where something was said.
    pub(crate) fn places(&self, query: &str, limit: u32) -> Result<Vec<Excerpt>, Error> {
        let Some(open) = self.open()? else { return Ok(Vec::new()) };
        let _one = self.searching.lock().unwrap_or_else(PoisonError::into_inner);
        let mut index = Index::open(&self.index)?;
        index.refresh(&open.sessions)?;
        // Where some may not be heard, the best few could all be among them.
        let most = match self.audience {
            Audience::Insiders => limit,
            Audience::Everyone => limit.saturating_mul(20),
        };
        let mut places = Vec::new();
        for found in index.search(&open.sessions, query, most)? {
            if let Some(session) = open.find(&found.session)? {
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
        let runs = open.standings.get(id).map(|standing| standing.runs.as_slice()).unwrap_or_default();
        let past: Vec<_> = runs.iter().map(past).collect();
        Ok(Some(say::info(&session, &past)))
    }

    fn open(&self) -> Result<Option<Open>, Error> {
        let Some(sessions) = Sessions::open(&self.engine_data)? else { return Ok(None) };
        let mut standings = BTreeMap::new();
        let mut runs = Ledger::open(&self.ledger)?.newest(u32::MAX)?;
        runs.reverse();
        for run in runs {
            if let Some(session) = run.session.clone() {
                standings.entry(session).or_insert_with(|| Standing::new(&run)).add(run);
            }
        }
        Ok(Some(Open { sessions, standings, audience: self.audience }))
    }
}

impl Standing {
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
        let standing = self.standings.get(&self.root(&info));
        let said_before = standing.map_or(Audience::Insiders, |standing| standing.said_before);
        self.audience.may_hear(said_before).then(|| Remembered {
            about: standing.map(|standing| standing.about.clone()),
            trust: standing.map_or(Trust::Stranger, |standing| standing.trust),
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
