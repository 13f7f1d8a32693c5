//! The models of one run, asked through a proxy that holds their keys.

use fro_boundary::{ModelProxy, Plan};
use fro_core::Fault;
use fro_http::Road;

use crate::settings::Settings;

/// Opens the proxy for the models that the operator configured.
pub(crate) async fn open(settings: &Settings) -> Result<ModelProxy, Fault> {
    let engine = &settings.engine;
    let plan = Plan::draw(&engine.config, engine.model.as_deref(), &engine.keys);
    let plan = plan.map_err(|error| error.fault())?;
    if engine.max_cost.is_some() {
        plan.priced().map_err(|error| error.fault())?;
    }
    let road = Road::new(settings.road.clone()).map_err(|error| error.fault())?;
    let proxy = ModelProxy::open(plan, road, engine.max_cost).await;
    proxy.map_err(|error| Fault::ours(format!("cannot open a port for the model proxy: {error}")))
}
