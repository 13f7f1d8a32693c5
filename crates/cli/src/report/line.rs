//! Each piece of news as one line.

use anstyle::{AnsiColor, Style};
use fro_core::{
    Permit, Reach,
    continuity::{Continuity, Reminder},
    conversation::heard::{Heard, Tool},
    say::{log::harmless, summary},
};
use fro_memory::{Kept, Recall};
use fro_run::{News, told_of_save};

/// A line and how it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) tone: Tone,
    pub(crate) text: String,
}

/// How a line is meant; each has its colour, and reads without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Warning,
    Run,
    Read,
    Edit,
    Said,
}

impl Tone {
    pub(crate) fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Good | Self::Edit => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default().bold(),
            Self::Run => AnsiColor::Red.on_default(),
            Self::Read => AnsiColor::Blue.on_default(),
            Self::Said => AnsiColor::Cyan.on_default(),
        }
    }

    fn of_tool(tool: &Tool) -> Self {
        match tool.name.as_str() {
            "bash" => Self::Run,
            "edit" | "write" | "apply_patch" => Self::Edit,
            _ => Self::Read,
        }
    }
}

/// Returns the line for a piece of news, if it is worth one.
pub(crate) fn of(news: &News) -> Option<Line> {
    let (tone, text) = match news {
        News::Skipped(reason) => (Tone::Plain, format!("nothing to do: {reason}{}", hint(reason.hint()))),
        News::Permitted(permit) => (Tone::Good, permitted(permit)),
        News::Acknowledged => (Tone::Plain, "acknowledged with 👀".to_owned()),
        News::Installing(_) | News::Opened { .. } | News::Accounted { .. } => return None,
        News::Installed { version, binary } => {
            (Tone::Plain, format!("engine: OpenCode {version} at {}", binary.display()))
        }
        News::Recalled(recall) => recalled(recall),
        News::Hydrated { subject, n_comments } => {
            (Tone::Plain, format!("read {subject} with {n_comments} further comments"))
        }
        News::Attached { name, note } => {
            (Tone::Plain, format!("attached file {}: {}", harmless(name), harmless(note)))
        }
        News::EngineUp { walls } => (Tone::Plain, format!("engine is up behind its wall: {walls}")),
        News::Reminded(reminder) => (Tone::Plain, reminded(reminder)),
        News::Session { id, agent } => {
            (Tone::Plain, format!("asked agent `{}` in session {}", harmless(agent), harmless(id)))
        }
        News::Heard(heard) => return heard_line(heard),
        News::Shared { url } => (Tone::Plain, format!("everybody can read the session at {}", harmless(url))),
        News::EngineStopped => (Tone::Plain, "engine stopped, no process left".to_owned()),
        News::Delivered { url } => (Tone::Good, format!("answered: {}", harmless(url))),
        News::Kept(kept) => kept_line(kept),
        News::Warning(text) => (Tone::Warning, harmless(text)),
    };
    Some(Line { tone, text })
}

fn permitted(permit: &Permit) -> String {
    let (asker, own) = (harmless(permit.asker().as_str()), permit.own());
    let place = format!("{} of {}", permit.subject(), permit.repo());
    match permit.reach() {
        Reach::ReadOnly => format!("looking at {place}, by @{asker}; answering as @{own}"),
        Reach::Answer | Reach::Work => format!("@{asker} may ask on {place}; answering as @{own}"),
    }
}

fn hint(hint: Option<&str>) -> String {
    hint.map(|hint| format!(" (hint: {hint})")).unwrap_or_default()
}

fn recalled(recall: &Recall) -> (Tone, String) {
    match recall {
        Recall::Warm { sessions, saved_at, .. } => (
            Tone::Plain,
            format!("memory: {sessions} sessions, saved {}", saved_at.strftime("%Y-%m-%d %H:%M UTC")),
        ),
        Recall::Cold => (Tone::Plain, "memory: none yet".to_owned()),
        Recall::Damaged { why } => {
            (Tone::Warning, format!("memory is damaged and was set aside: {}", harmless(&why.to_string())))
        }
    }
}

fn reminded(reminder: &Reminder) -> String {
    let place = match &reminder.continuity {
        Continuity::Continued(session) => format!("memory: going on in session {}", harmless(session)),
        Continuity::Fresh(why) => format!("memory: a new session, because {why}"),
    };
    match reminder.sessions().as_slice() {
        [] => place,
        sessions => format!("{place}; recalled {}", harmless(&sessions.join(", "))),
    }
}

fn kept_line(kept: &Kept) -> (Tone, String) {
    let tone = match kept {
        Kept::Saved { report, .. } if report.races > 0 || !report.left_out.is_empty() => Tone::Warning,
        Kept::Saved { .. } | Kept::Nothing => Tone::Plain,
        Kept::Raced { .. } => Tone::Warning,
    };
    (tone, format!("memory {}", told_of_save(kept)))
}

fn heard_line(heard: &Heard) -> Option<Line> {
    let line = |tone, text| Some(Line { tone, text });
    match heard {
        Heard::ToolEnded { tool, ok } => {
            let mark = if *ok { "" } else { " (failed)" };
            line(Tone::of_tool(tool), format!("  {} {}{mark}", harmless(&tool.name), harmless(&tool.about)))
        }
        Heard::Said(text) => line(Tone::Said, format!("  says: {}", harmless(text))),
        Heard::Retrying { attempt, .. } => {
            line(Tone::Warning, format!("the model did not answer, attempt {attempt}"))
        }
        Heard::Asked(_) => line(Tone::Warning, "the engine asked for a person; refused".to_owned()),
        Heard::Compacted => line(Tone::Plain, "  the engine summarised the conversation".to_owned()),
        Heard::TodoChanged { done, total } => line(Tone::Plain, format!("  to do: {done} of {total} done")),
        Heard::StepDone { usage, .. } => line(Tone::Plain, format!("  model: {}", summary::tokens(usage))),
        Heard::Gap => line(Tone::Warning, "events were lost for a moment".to_owned()),
        Heard::Gone => line(Tone::Warning, "the engine is gone".to_owned()),
        Heard::Busy
        | Heard::ToolBegan(_)
        | Heard::Idle
        | Heard::Broke(_)
        | Heard::Writing
        | Heard::ChildBorn
        | Heard::Quiet
        | Heard::Pulse(_)
        | Heard::NoPulse
        | Heard::Read(_)
        | Heard::Unreadable => None,
    }
}
