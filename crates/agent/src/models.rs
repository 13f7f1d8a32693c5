//! The models of one run, asked through a proxy that holds their keys.

use fro_boundary::ModelProxy;
use fro_core::Fault;

use crate::process::Process;

/// Asks the configured model for one word, to see whether it answers; returns the model's name.
pub async fn try_model(process: &Process) -> Result<String, Fault> {
    let proxy = open(process).await?;
    let model = process.settings.model().unwrap_or_else(|| proxy.any_model());
    let asked = proxy.ask(&model, "Answer with the one word `ready`.", "Are you there?").await;
    asked.map(|_| model.clone()).map_err(|why| {
        let hint = "check the name of the model and its provider's key in `auth-json`";
        Fault::yours(process.redactor.clean(&format!("{model} does not answer: {why}")).as_str(), hint)
    })
}

/// Opens the proxy for the models that the operator configured.
pub(crate) async fn open(process: &Process) -> Result<ModelProxy, Fault> {
    let settings = &process.settings;
    let proxy = ModelProxy::open(settings.models()?, process.client()?, settings.engine.max_cost).await;
    proxy.map_err(|error| Fault::ours(format!("cannot open a port for the model proxy: {error}")))
}
