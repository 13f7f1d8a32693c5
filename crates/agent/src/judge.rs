//! What somebody's words mean, where no fixed word says it: the configured model is asked about them alone.

use fro_boundary::ModelProxy;
use fro_core::delegation::{Commission, NoWork, Unsettled, Verdict};

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
        Ok(answer) => Verdict::of(&answer),
        Err(why) => {
            tracing::warn!("`{model}` did not say whether a change is asked for: {why}");
            Verdict::Unclear
        }
    };
    tracing::info!("does the request ask for a change, by its own words? {verdict}");
    claim.settle(verdict)
}
