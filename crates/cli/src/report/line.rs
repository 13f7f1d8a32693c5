//! Each report of progress as one line.

use anstyle::{AnsiColor, Style};
use fro_agent::{Step, told_of_save};
use fro_core::{
    Permit, Reach, Redactor,
    continuity::{Continuity, Reminder},
    conversation::heard::{Heard, Tool},
    say::{log::harmless, summary},
};
use fro_memory::{Kept, Recall};
use fro_run::{Progress, ReviewStatus, Reviewed};

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

/// Makes a text from outside fit for a line.
type ShowText<'a> = &'a dyn Fn(&str) -> String;

/// Returns the line for a report of progress, if it is worth one.
///
/// The redactor comes first: what is made visible or cut is no secret any more that it would know.
pub(crate) fn render(news: &Progress, redactor: &Redactor) -> Option<Line> {
    let show = &|text: &str| harmless(redactor.clean(text).as_str());
    let (tone, text) = match news {
        Progress::Skipped(reason) => (Tone::Plain, format!("nothing to do: {reason}{}", hint(reason.hint()))),
        Progress::Permitted(permit) => (Tone::Good, permitted(permit, show)),
        Progress::Model(Some(model)) => (Tone::Plain, format!("model: {}", show(model))),
        Progress::Model(None) => (Tone::Plain, "model: the agent's own".to_owned()),
        Progress::Acknowledged => (Tone::Plain, "acknowledged with 👀".to_owned()),
        Progress::Agent(Step::Installing(_) | Step::Opened { .. }) | Progress::Accounted { .. } => {
            return None;
        }
        Progress::Agent(Step::Installed { version, binary }) => {
            (Tone::Plain, format!("engine: OpenCode {version} at {}", binary.display()))
        }
        Progress::Agent(Step::Recalled(recall)) => recalled(recall, show),
        Progress::Hydrated { subject, n_comments } => {
            (Tone::Plain, format!("read {subject} with {}", summary::counted(*n_comments, "further comment")))
        }
        Progress::Attached { name, note } => {
            (Tone::Plain, format!("attached file {}: {}", show(name), show(note)))
        }
        Progress::Agent(Step::EngineUp { walls, .. }) => {
            (Tone::Plain, format!("engine is up behind its wall: {walls}"))
        }
        Progress::Agent(Step::Reminded(reminder)) => (Tone::Plain, reminded(reminder, show)),
        Progress::Agent(Step::Session { id, agent }) => {
            (Tone::Plain, format!("asked agent `{}` in session {}", show(agent), show(id)))
        }
        Progress::Agent(Step::Heard(heard)) => return heard_line(heard, show),
        Progress::Shared { url } => (Tone::Plain, format!("everybody can read the session at {}", show(url))),
        Progress::Agent(Step::EngineStopped) => (Tone::Plain, "engine stopped, no process left".to_owned()),
        Progress::Delivered { url } => (Tone::Good, posted(&show(url))),
        Progress::Result { json } => {
            let size = summary::size(json.len() as u64);
            (Tone::Good, format!("result handed in, {size} of JSON in the output `structured-output`"))
        }
        Progress::Reviewed(reviewed) => reviewed_line(reviewed),
        Progress::Stopped { by } => {
            (Tone::Warning, format!("stopped: @{} said so, and nothing more is posted", show(by.as_str())))
        }
        Progress::Agent(Step::Kept(kept)) => kept_line(kept),
        Progress::Warning(text) | Progress::Agent(Step::Warning(text)) => (Tone::Warning, show(text)),
    };
    Some(Line { tone, text })
}

/// Tells where the answer is. Outside a workflow the run's page is a file, which is printed when the run ends.
fn posted(place: &str) -> String {
    if place.starts_with("http") { format!("posted: {place}") } else { "the answer is below".to_owned() }
}

fn permitted(permit: &Permit, show: ShowText<'_>) -> String {
    let (asker, own) = (show(permit.asker().as_str()), permit.own());
    let place = format!("{} of {}", permit.subject(), permit.repo());
    match permit.reach() {
        Reach::ReadOnly => format!("looking at {place}, by @{asker}; answering as @{own}"),
        Reach::Answer | Reach::Work => format!("@{asker} may ask on {place}; answering as @{own}"),
    }
}

fn reviewed_line(reviewed: &Reviewed) -> (Tone, String) {
    let mut found = summary::counted(reviewed.found, "finding");
    if reviewed.answered > 0 {
        found = format!("{found}, {} answered", summary::counted(reviewed.answered, "thread"));
    }
    match (reviewed.status, reviewed.blocking) {
        (ReviewStatus::Completed, _) if reviewed.url.is_none() && reviewed.answered == 0 => {
            (Tone::Good, format!("reviewed: {found}, nothing was posted"))
        }
        (ReviewStatus::Completed, _) => (Tone::Good, format!("reviewed: {found}")),
        (ReviewStatus::Blocked, blocking) => {
            let open = summary::counted(blocking, "open thread");
            (Tone::Warning, format!("reviewed: {found}; {open} bad enough to make the check red"))
        }
        (ReviewStatus::Incomplete, _) => (Tone::Warning, format!("the review is incomplete: {found} so far")),
    }
}

fn hint(hint: Option<&str>) -> String {
    hint.map(|hint| format!(" (hint: {hint})")).unwrap_or_default()
}

fn recalled(recall: &Recall, show: ShowText<'_>) -> (Tone, String) {
    match recall {
        Recall::Warm { sessions, saved_at, .. } => (
            Tone::Plain,
            format!(
                "memory: {}, saved {}",
                summary::counted(*sessions, "session"),
                saved_at.strftime("%Y-%m-%d %H:%M UTC")
            ),
        ),
        Recall::Cold => (Tone::Plain, "memory: none yet".to_owned()),
        Recall::Newer { why } => (
            Tone::Warning,
            format!("memory is of a newer engine and was left alone: {}", show(&why.to_string())),
        ),
        Recall::Damaged { why } => {
            (Tone::Warning, format!("memory is damaged and was set aside: {}", show(&why.to_string())))
        }
    }
}

fn reminded(reminder: &Reminder, show: ShowText<'_>) -> String {
    let place = match &reminder.continuity {
        Continuity::Continued(session) => format!("memory: going on in session {}", show(session)),
        Continuity::Fresh(why) => format!("memory: a new session, because {why}"),
    };
    match reminder.sessions().as_slice() {
        [] => place,
        sessions => format!("{place}; recalled {}", show(&sessions.join(", "))),
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

fn heard_line(heard: &Heard, show: ShowText<'_>) -> Option<Line> {
    let line = |tone, text| Some(Line { tone, text });
    match heard {
        Heard::ToolEnded { tool, ok } => {
            let mark = if *ok { "" } else { " (failed)" };
            line(Tone::of_tool(tool), format!("  {} {}{mark}", show(&tool.name), show(&tool.about)))
        }
        Heard::Said(text) => line(Tone::Said, format!("  says: {}", show(text))),
        Heard::Retrying { attempt, .. } => {
            line(Tone::Warning, format!("the model did not answer, attempt {attempt}"))
        }
        Heard::Asked(_) => line(
            Tone::Warning,
            "the engine asked for a person's permission, and was refused: nobody is here to give it"
                .to_owned(),
        ),
        Heard::Compacted => line(Tone::Plain, "  the engine summarised the conversation".to_owned()),
        Heard::TodoChanged(list) => {
            line(Tone::Plain, format!("  to do: {} of {} done", list.done(), list.total()))
        }
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

#[cfg(test)]
mod tests {
    use fro_core::Secret;

    use super::*;

    #[test]
    fn an_answer_that_is_printed_has_no_address() {
        let redactor = Redactor::knowing([&Secret::new("planted-secret-0123456789")]);
        let line = |url: &str| render(&Progress::Delivered { url: url.to_owned() }, &redactor).unwrap().text;
        let comment = "https://github.com/octo/garden/issues/7#x";
        assert_eq!(line(comment), format!("posted: {comment}"));
        assert_eq!(line("/tmp/.tmpmtqxTE"), "the answer is below");
    }

    #[test]
    fn a_secret_is_taken_out_before_a_line_is_cut_or_made_visible() {
        let redactor = Redactor::knowing([&Secret::new("planted-secret-0123456789")]);
        let said =
            |text: String| render(&Progress::Agent(Step::Heard(Heard::Said(text))), &redactor).unwrap().text;
        assert_eq!(said("planted-\u{200b}secret-0123456789".to_owned()), "  says: [redacted]");
        let cut = said(format!("{} planted-secret-0123456789 and more", "x".repeat(220)));
        assert!(!cut.contains("planted"), "{cut}");
    }
}
