//! The models of one run, asked through a proxy that holds their keys.

use fro_boundary::ModelProxy;
use fro_core::Fault;

use crate::process::Process;

/// Opens the proxy for the models that the operator configured.
pub(crate) async fn open(process: &Process) -> Result<ModelProxy, Fault> {
    let settings = &process.settings;
    let proxy = ModelProxy::open(settings.models()?, process.client()?, settings.engine.max_cost).await;
    proxy.map_err(|error| Fault::ours(format!("cannot open a port for the model proxy: {error}")))
}
