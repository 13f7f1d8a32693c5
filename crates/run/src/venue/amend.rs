//! Adds to the summary of an answer what is known only when the memory was saved, which is after it was posted.

use fro_core::{
    Surface,
    own_comments::is_own,
    say::{answer::SummaryPlace, summary},
};
use fro_github::{Error, GitHub};

use super::since;
use crate::{answer::Request, progress::Progress};

/// Tells the readers of the answer what went wrong with the save. It fails no run: the run's page has it too.
pub(super) async fn with_trouble(github: &GitHub, request: &Request<'_>, trouble: &[String]) {
    if trouble.is_empty() || *request.permit.surface() == Surface::RunPage {
        return;
    }
    if let Err(error) = amend(github, request, trouble).await {
        let what = error.fault().what().to_owned();
        (request.tell)(Progress::Warning(format!("the summary does not tell of the save: {what}")));
    }
}

async fn amend(github: &GitHub, request: &Request<'_>, trouble: &[String]) -> Result<(), Error> {
    let (permit, marker) = (request.permit, request.marker());
    let marker = match request.process.summary {
        SummaryPlace::Inline => marker,
        SummaryPlace::Separate => marker.of_summary(),
    };
    let answers = github.answers(permit, since(request.occasion.began)).await?;
    let mut own = answers.into_iter().rev();
    let own = own.find(|answer| is_own(answer.author.as_ref(), &answer.body, permit.own(), &marker));
    if let Some(answer) = own
        && let Some(body) = summary::amended(&answer.body, trouble)
    {
        let body = request.process.redactor().clean(&body);
        github.update_answer(permit, &answer.target, &body).await?;
    }
    Ok(())
}
