//! The models of one run, asked through a proxy that holds their keys.

use fro_boundary::ModelProxy;
use fro_core::Fault;

use crate::settings::Settings;

/// Opens the proxy for the models that the operator configured.
pub(crate) async fn open(settings: &Settings) -> Result<ModelProxy, Fault> {
    let proxy = ModelProxy::open(settings.models()?, settings.road()?, settings.engine.max_cost).await;
    proxy.map_err(|error| Fault::ours(format!("cannot open a port for the model proxy: {error}")))
}
