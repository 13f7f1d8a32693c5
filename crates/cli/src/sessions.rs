//! `fro-bot sessions`: what is remembered, for people.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use fro_core::{
    Fault,
    say::{log::harmless, summary::counted},
};
use fro_memory::{Found, Info, Ledger, Page, Question, Retention, Run, SessionMessage, Sessions};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{
    env::Env,
    memory::{listed, opened::Opened, which::Which},
    question::Care,
    table::{dim, name, time},
};

/// What to do with the sessions.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    which: Which,
    #[command(subcommand)]
    command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
enum SessionsCommand {
    /// Lists sessions, the last spoken in first
    List {
        /// How many at most
        #[arg(long, value_name = "COUNT", default_value_t = 20)]
        limit: u32,
        /// How many to skip first
        #[arg(long, value_name = "COUNT", default_value_t = 0)]
        skip: u32,
    },
    /// Searches what was said
    Search {
        /// The words; a session with more of them, and with rarer ones, comes first
        #[arg(required = true)]
        words: Vec<String>,
        /// How many sessions at most
        #[arg(long, value_name = "COUNT", default_value_t = 10)]
        limit: u32,
    },
    /// Prints what was said in a session, oldest first
    Read {
        /// The session's id
        session: String,
        /// How many messages at most
        #[arg(long, value_name = "COUNT", default_value_t = 50)]
        limit: u32,
        /// How many to skip first
        #[arg(long, value_name = "COUNT", default_value_t = 0)]
        skip: u32,
    },
    /// Tells about a session and the runs it served
    Info {
        /// The session's id
        session: String,
    },
    /// Removes old sessions
    Prune {
        /// How many of the newest sessions are kept, however old
        #[arg(long, value_name = "COUNT", default_value_t = 50)]
        keep: usize,
        /// For how many days every session is kept, however many there are
        #[arg(long, default_value_t = 30, value_name = "DAYS")]
        days: u32,
        #[command(flatten)]
        care: Care,
    },
}

/// Does it.
pub(crate) fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let opened = Opened::bring(&options.which, env)?;
    let (sessions, ledger) = (opened.sessions()?, opened.ledger()?);
    let which = &options.which;
    match &options.command {
        SessionsCommand::List { limit, skip } => {
            let listed = sessions.list(Page { skip: *skip, limit: *limit })?;
            which.show(&json!(listed), || or_none(list(&listed, &ledger)?, "no sessions"))?;
        }
        SessionsCommand::Search { words, limit } => {
            let words = words.join(" ");
            let found =
                opened.index(&sessions, &ledger)?.search(&sessions, &Question::typed(&words), *limit)?;
            which.show(&json!(found), || {
                let nothing = format!("no session has any of these words: `{}`", harmless(&words));
                or_none(found.iter().map(place).collect::<Vec<_>>().join("\n"), &nothing)
            })?;
        }
        SessionsCommand::Read { session, limit, skip } => {
            let info = known(&sessions, session)?;
            let said = sessions.read(&info.id, Page { skip: *skip, limit: *limit })?;
            which.show(&json!(said), || {
                or_none(said.iter().map(message).collect::<Vec<_>>().join("\n"), "no messages")
            })?;
        }
        SessionsCommand::Info { session } => {
            let info = known(&sessions, session)?;
            let runs = ledger.runs_of(session)?;
            which
                .show(&json!({ "session": info, "runs": runs_as_json(&runs) }), || Ok(about(&info, &runs)))?;
        }
        SessionsCommand::Prune { keep, days, care } => {
            let age = SignedDuration::from_hours(i64::from(*days) * 24);
            drop((sessions, ledger));
            prune(opened, Retention { sessions: *keep, age, ..Retention::default() }, *care, (which, env))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes what is older than it may be, or says what that is.
fn prune(
    opened: Opened,
    retention: Retention,
    care: Care,
    (which, env): (&Which, &Env),
) -> Result<(), Fault> {
    if care.dry_run {
        drop(opened);
        let gone = Opened::rehearse(which, env, |save| save.pruning(retention))?.report.pruned;
        return which.show(&json!({ "dry_run": true, "pruned": gone }), || {
            Ok(listed(&format!("would remove {}", counted(gone.len(), "session")), &gone))
        });
    }
    care.confirm("old sessions are removed for good (`--dry-run` lists them)")?;
    let (_, saved) = opened.save(env, |save| save.pruning(retention))?;
    let gone = saved.report.pruned;
    which.show(&json!({ "pruned": gone }), || Ok(format!("removed {}", counted(gone.len(), "session"))))
}

/// Says so when there is nothing to print: an empty screen could be a mistake.
#[expect(clippy::unnecessary_wraps, reason = "it ends closures that can fail")]
fn or_none(lines: String, nothing: &str) -> Result<String, Fault> {
    Ok(if lines.is_empty() { nothing.to_owned() } else { lines })
}

fn known(sessions: &Sessions, id: &str) -> Result<Info, Fault> {
    sessions.info(id)?.ok_or_else(|| {
        let what = format!("there is no session `{}`", harmless(id));
        Fault::yours(what, "`fro-bot sessions list` shows which there are")
    })
}

fn list(sessions: &[Info], ledger: &Ledger) -> Result<String, Fault> {
    let mut lines = Vec::new();
    for session in sessions {
        let runs = ledger.runs_of(&session.id)?;
        let about = runs.last().map_or("", |run| run.subject.as_str());
        lines.push(line(session, about));
    }
    Ok(lines.join("\n"))
}

fn line(session: &Info, about: &str) -> String {
    let (id, title) = (name(&session.id), harmless(&session.title));
    format!(
        "{id}  {}  {:>13}  {:<20}  {title}",
        dim(&time(session.updated)),
        counted(session.messages, "message"),
        harmless(about)
    )
}

fn place(found: &Found) -> String {
    let words = dim(&format!("({})", harmless(&found.words.join(", "))));
    let (title, excerpt) = (harmless(&found.title), harmless(&found.excerpt));
    format!("{}  {title}  {words}\n    {excerpt}", name(&found.session))
}

fn message(said: &SessionMessage) -> String {
    let lines: Vec<String> = said.text.lines().map(harmless).collect();
    format!("{}  {}\n    {}", name(&said.role), dim(&time(said.at)), lines.join("\n    "))
}

fn about(session: &Info, runs: &[Run]) -> String {
    let mut lines = vec![
        format!("{}  {}", name(&session.id), harmless(&session.title)),
        format!("    began       {}", time(session.created)),
        format!("    last words  {}", time(session.updated)),
        format!("    messages    {}", session.messages),
        format!("    cost        ${:.4}", session.cost),
    ];
    for run in runs {
        let (subject, event, actor) = (harmless(&run.subject), harmless(&run.event), harmless(&run.actor));
        let outcome = harmless(&format!("{} {}", run.outcome, run.links.join(" ")));
        lines.push(format!(
            "    run         {}  {subject}  `{event}` by @{actor}: {outcome}",
            time(run.ended_at)
        ));
    }
    lines.join("\n")
}

fn runs_as_json(runs: &[Run]) -> Vec<Value> {
    let run = |run: &Run| {
        let mut told = json!(run);
        told["id"] = json!(run.id);
        told["subject"] = json!(run.subject);
        told["ended_at"] = json!(run.ended_at);
        told
    };
    runs.iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_session_reads_like_this() {
        let session = Info {
            id: "ses_1".to_owned(),
            title: "issue #7 of octo/garden\n::error::x".to_owned(),
            parent: None,
            directory: "/garden".to_owned(),
            created: Timestamp::UNIX_EPOCH,
            updated: Timestamp::from_second(86_400).unwrap(),
            is_archived: false,
            cost: 0.0123,
            messages: 3,
        };
        let said = SessionMessage {
            id: "msg_1".to_owned(),
            role: "assistant".to_owned(),
            at: Timestamp::UNIX_EPOCH,
            text: "The hose\nleaks.".to_owned(),
        };
        let found = Found {
            session: "ses_1".to_owned(),
            title: "issue #7".to_owned(),
            message: "msg_1".to_owned(),
            excerpt: "… the hose leaks …".to_owned(),
            words: vec!["hose".to_owned(), "leaks".to_owned()],
            weight: 1_000,
        };
        let text =
            [line(&session, "octo/garden#7"), place(&found), message(&said), about(&session, &[])].join("\n");
        insta::assert_snapshot!(anstream::adapter::strip_str(&text));
    }
}
