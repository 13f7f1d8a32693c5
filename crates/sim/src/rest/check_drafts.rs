//! What a program wants a check run to say, and what of it GitHub does not take.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;

use crate::{
    problem::Problem,
    state::{Annotation, AnnotationLevel, CheckRun, Conclusion, Progress},
};

/// So many annotations are taken at once.
const MOST_ANNOTATIONS: usize = 50;
/// So many buttons.
const MOST_ACTIONS: usize = 3;
/// So many characters have the texts.
const TEXT_CHARACTERS: usize = 65_535;

#[derive(Deserialize)]
pub(super) struct Draft {
    name: Option<String>,
    head_sha: Option<String>,
    status: Option<String>,
    conclusion: Option<String>,
    external_id: Option<String>,
    details_url: Option<String>,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    output: Option<Output>,
    #[serde(default)]
    actions: Vec<Action>,
}

/// A button that a check run shows. Nobody here can press it, so that none is kept.
#[derive(Deserialize)]
struct Action {
    label: String,
    description: String,
    identifier: String,
}

impl Action {
    /// Whether its words are as short as they must be.
    fn fits(&self) -> bool {
        let words = [(&self.label, 20), (&self.description, 40), (&self.identifier, 20)];
        words.iter().all(|(word, most)| word.chars().count() <= *most)
    }
}

#[derive(Deserialize)]
struct Output {
    title: Option<String>,
    summary: Option<String>,
    text: Option<String>,
    #[serde(default)]
    annotations: Vec<NewAnnotation>,
}

#[derive(Deserialize)]
struct NewAnnotation {
    path: String,
    start_line: u64,
    end_line: u64,
    start_column: Option<u64>,
    end_column: Option<u64>,
    annotation_level: String,
    message: String,
    title: Option<String>,
    raw_details: Option<String>,
}

impl Draft {
    /// The name and the commit, without which there is no new check run.
    pub(super) fn complete(&self) -> Result<(String, String), Problem> {
        let head = self.head_sha.clone().ok_or_else(|| Problem::not_supplied("head_sha"))?;
        let name = self.name.clone().ok_or_else(|| Problem::not_supplied("name"))?;
        if self.output.as_ref().is_some_and(|output| output.title.is_none()) {
            return Err(Problem::not_supplied("title"));
        }
        Ok((name, head))
    }

    /// Writes what is said into a check run; annotations are added to those that are there.
    pub(super) fn apply(self, run: &mut CheckRun, now: Timestamp) -> Result<(), Problem> {
        let progress = self.progress(run.progress, now)?;
        let strange = |url: &String| !url.starts_with("http://") && !url.starts_with("https://");
        if self.details_url.as_ref().is_some_and(strange) {
            return Err(Problem::unprocessable(
                "Invalid request.\n\nProperty 'details_url' must use an http or https scheme.",
            ));
        }
        let buttons = self.actions.len();
        if buttons > MOST_ACTIONS {
            return Err(Problem::unprocessable(&format!(
                "Invalid request.\n\nNo more than {MOST_ACTIONS} items are allowed; {buttons} were supplied."
            )));
        }
        if !self.actions.iter().all(Action::fits) {
            return Err(Problem::unprocessable("Invalid request."));
        }
        let output = self.output.map(Output::read).transpose()?;
        run.progress = progress;
        if let Some((title, summary, text, annotations)) = output {
            (run.title, run.summary, run.text) = (title, summary, text);
            run.annotations.extend(annotations);
        }
        run.started_at = self.started_at.or(run.started_at);
        run.details_url = self.details_url.or(run.details_url.take());
        run.name = self.name.unwrap_or_else(|| run.name.clone());
        run.external_id = self.external_id.unwrap_or_else(|| run.external_id.clone());
        Ok(())
    }

    /// How far it has come: a conclusion ends it, whatever else is said.
    fn progress(&self, before: Progress, now: Timestamp) -> Result<Progress, Problem> {
        let invalid = |field: &str| {
            Problem::invalid(json!({ "resource": "CheckRun", "code": "invalid", "field": field }))
        };
        if let Some(word) = &self.conclusion {
            let conclusion = Conclusion::from_word(word).ok_or_else(|| invalid("conclusion"))?;
            return Ok(Progress::Completed(conclusion, self.completed_at.unwrap_or(now)));
        }
        match self.status.as_deref() {
            None => Ok(before),
            Some("queued") => Ok(Progress::Queued),
            Some("in_progress") => Ok(Progress::InProgress),
            Some("completed") => Err(Problem::not_supplied("conclusion")),
            Some(_) => Err(invalid("status")),
        }
    }
}

/// Title, summary, text and annotations.
type Read = (Option<String>, Option<String>, Option<String>, Vec<Annotation>);

impl Output {
    fn read(self) -> Result<Read, Problem> {
        if self.summary.is_none() {
            return Err(Problem::not_supplied("summary"));
        }
        let long =
            |text: &Option<String>| text.as_ref().is_some_and(|text| text.chars().count() > TEXT_CHARACTERS);
        if long(&self.summary) || long(&self.text) {
            return Err(Problem::unprocessable("Invalid request.\n\nOnly 65535 characters are allowed."));
        }
        if self.annotations.len() > MOST_ANNOTATIONS {
            let message = format!(
                "Invalid request.\n\nNo more than {MOST_ANNOTATIONS} items are allowed; {} were supplied.",
                self.annotations.len()
            );
            return Err(Problem::unprocessable(&message));
        }
        let annotations = self.annotations.into_iter().map(NewAnnotation::read).collect::<Result<_, _>>()?;
        Ok((self.title, self.summary, self.text, annotations))
    }
}

impl NewAnnotation {
    fn read(self) -> Result<Annotation, Problem> {
        let columns = self.start_column.is_some() || self.end_column.is_some();
        let invalid = || Problem::unprocessable("Invalid request.");
        if self.end_line < self.start_line || columns && self.start_line != self.end_line {
            return Err(invalid());
        }
        Ok(Annotation {
            path: self.path,
            start_line: self.start_line,
            end_line: self.end_line,
            start_column: self.start_column,
            end_column: self.end_column,
            level: AnnotationLevel::from_word(&self.annotation_level).ok_or_else(invalid)?,
            message: self.message,
            title: self.title,
            raw_details: self.raw_details,
        })
    }
}
