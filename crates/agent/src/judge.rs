//! Asks the configured model whether a request wants a change, where no fixed word of it says so.

use fro_boundary::ModelProxy;
use fro_core::delegation::{Commission, NoWork, Unsettled, WorkVerdict};

use crate::settings::Settings;

/// Asks, and takes only a yes for one.
pub(crate) async fn settle(
    settings: &Settings,
    models: &ModelProxy,
    claim: Unsettled,
) -> Result<Commission, NoWork> {
    let model = settings.model().unwrap_or_else(|| models.any_model());
    let question = claim.question();
    let verdict = match models.ask(&model, question.task, &question.words).await {
        Ok(answer) => WorkVerdict::read(&answer),
        Err(why) => {
            tracing::warn!("`{model}` did not say whether a change is asked for: {why}");
            WorkVerdict::Unclear
        }
    };
    tracing::info!("does the request ask for a change, by its own words? {verdict}");
    claim.settle(verdict)
}
