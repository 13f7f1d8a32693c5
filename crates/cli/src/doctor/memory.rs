//! What the stores have of the memory, and whether what every run reads of it is whole.

use fro_agent::Settings;
use fro_core::{
    Fault,
    remembered::Audience,
    say::summary::{counted, size},
};
use fro_memory::{Destination, Error, Given, Place, Recall, StoreSettings, Stores};

use super::Finding;

const ABOUT: &str = "memory";

/// Looks into every store that has a memory.
pub(super) async fn state(settings: &Settings) -> Vec<Finding> {
    let stores = settings.memory.clone();
    match tokio::task::spawn_blocking(move || looked(&stores)).await {
        Ok(looked) => looked.into_iter().filter_map(|(place, recall)| finding(place, recall)).collect(),
        Err(error) => vec![Finding::bad(ABOUT, &Fault::ours(error.to_string()))],
    }
}

fn looked(settings: &StoreSettings) -> Vec<(Place, Result<Recall, Error>)> {
    let stores = Stores::open(settings);
    let places: Vec<Place> = stores.iter().map(fro_memory::Store::place).collect();
    places.into_iter().map(|place| (place, look_into(&stores, place))).collect()
}

/// Reads what a run reads that continues nothing.
fn look_into(stores: &Stores, place: Place) -> Result<Recall, Error> {
    let folder = tempfile::tempdir()?;
    let [data, ledger, index] = ["data", "ledger.db", "index.db"].map(|name| folder.path().join(name));
    let to = Destination {
        engine_data: &data,
        ledger: Some(&ledger),
        index: Some(&index),
        engine_version: Some(fro_opencode::VERSION),
        audience: Audience::Insiders,
        given: Given::About(""),
    };
    stores.look_into(place, to).map(|(recall, _)| recall)
}

/// Says what a store has; nothing of one that is empty.
fn finding(place: Place, looked: Result<Recall, Error>) -> Option<Finding> {
    const REPAIR: &str = "`fro-bot memory verify --repair` mends what can be mended";
    match looked {
        Ok(Recall::Cold) => None,
        Ok(Recall::Warm { sessions, bytes, instead_of: None, .. }) => Some(Finding::good(
            ABOUT,
            format!("{} and {} in {place}", counted(sessions, "session"), size(bytes)),
        )),
        Ok(Recall::Warm { sessions, instead_of: Some(why), .. }) => {
            let left = counted(sessions, "session");
            Some(Finding::doubtful(
                ABOUT,
                format!("the newest save in {place} is damaged ({why}); {left} are left"),
                REPAIR,
            ))
        }
        Ok(Recall::Newer { why }) => {
            let next = "a run of this release begins without it; go on with the release that saved it";
            Some(Finding::doubtful(ABOUT, format!("{place}: {why}"), next))
        }
        Ok(Recall::Damaged { why }) => {
            let what = format!("the memory in {place} cannot be used: {why}");
            Some(Finding::bad(ABOUT, &Fault::yours(what, REPAIR)))
        }
        // A bucket that cannot be asked is told of where its rights are tried.
        Err(error) if error.refusal().is_some() => None,
        Err(error) => Some(Finding::bad(ABOUT, &error.into())),
    }
}
