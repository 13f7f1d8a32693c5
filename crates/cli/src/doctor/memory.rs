//! What the stores have of the memory, and whether what every run reads of it is whole.

use fro_agent::Settings;
use fro_core::{
    Fault,
    remembered::Audience,
    say::summary::{counted, size},
    workflow::PAGES,
};
use fro_memory::{Error, NewerSaves, Place, Recall, RecallTarget, SessionSelection, StoreSettings, Stores};

use super::Finding;
use crate::memory::{later_than_head, went_back};

const ABOUT: &str = "memory";

/// Looks into every store that has a memory.
pub(super) async fn state(settings: &Settings) -> Vec<Finding> {
    let stores = settings.memory.clone();
    match tokio::task::spawn_blocking(move || looked(&stores)).await {
        Ok(looked) => looked
            .into_iter()
            .flat_map(|(place, recall, later)| {
                finding(place, recall).into_iter().chain(put_back(place, later.as_ref()))
            })
            .collect(),
        Err(error) => vec![Finding::bad(ABOUT, &Fault::ours(error.to_string()))],
    }
}

/// What a store has, and what came after it.
type StoreLook = (Place, Result<Recall, Error>, Option<NewerSaves>);

fn looked(settings: &StoreSettings) -> Vec<StoreLook> {
    let stores = Stores::open(settings);
    let looked = stores.iter().map(|store| {
        let place = store.place();
        (place, look_into(&stores, place), later_than_head(store))
    });
    looked.collect()
}

/// Says that a head names an older save than it could.
fn put_back(place: Place, later: Option<&NewerSaves>) -> Option<Finding> {
    let said = went_back(Some(later?));
    let said = format!("{place}: {}", said.trim_start_matches("; "));
    Some(Finding::doubtful(
        ABOUT,
        said,
        format!("{PAGES}/rollback.md says how the newest save becomes the head again"),
    ))
}

/// Reads what a run reads that continues nothing.
fn look_into(stores: &Stores, place: Place) -> Result<Recall, Error> {
    let folder = tempfile::tempdir()?;
    let [data, ledger, index] = ["data", "ledger.db", "index.db"].map(|name| folder.path().join(name));
    let to = RecallTarget {
        engine_data: &data,
        ledger: Some(&ledger),
        index: Some(&index),
        engine_version: Some(fro_opencode::VERSION),
        audience: Audience::Insiders,
        given: SessionSelection::About(""),
    };
    stores.look_into(place, to).map(|(recall, _)| recall)
}

/// Says what a store has; nothing of one that is empty.
fn finding(place: Place, looked: Result<Recall, Error>) -> Option<Finding> {
    const REPAIR: &str = "`fro-bot memory verify --repair` repairs what can be repaired";
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
                format!("the newest save in {place} is damaged ({why}); what is left: {left}"),
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

#[cfg(test)]
mod tests {
    use fro_memory::{Keep, Provenance, Store};
    use rusqlite::Connection;

    use super::*;

    /// Saves a session of an engine of some version into a folder.
    fn remember(store: &Store, version: &str) {
        let data = tempfile::tempdir().unwrap();
        fs_err::create_dir(data.path().join("opencode")).unwrap();
        let connection = Connection::open(data.path().join("opencode/opencode.db")).unwrap();
        connection.execute_batch(include_str!("../../../memory/tests/it/schema.sql")).unwrap();
        let sql = "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
                   VALUES ('ses_1', 'prj', 'a-slug', '/repo/a', 'a title', '1', 1, 1)";
        connection.execute(sql, []).unwrap();
        let now = "2026-11-15T12:00:00Z".parse().unwrap();
        let provenance =
            Provenance { now, engine_version: version.to_owned(), parent: store.head().unwrap() };
        Keep::new(data.path(), provenance).save(store).unwrap();
    }

    /// Returns the lines about a folder.
    fn lines(place: &std::path::Path) -> Vec<String> {
        let looked = looked(&StoreSettings::folder(place));
        let findings = looked.into_iter().flat_map(|(place, recall, later)| {
            finding(place, recall).into_iter().chain(put_back(place, later.as_ref()))
        });
        findings.map(|Finding { health, says, .. }| format!("{health:?}: {says}")).collect()
    }

    #[test]
    fn a_memory_is_told_of_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let store = Store::folder(place.path()).unwrap();
        assert_eq!(lines(place.path()), Vec::<String>::new());
        remember(&store, fro_opencode::VERSION);
        let first = store.head().unwrap().unwrap();
        insta::assert_debug_snapshot!(
            "whole",
            lines(place.path()).iter().map(|line| line.split(" and ").next()).collect::<Vec<_>>()
        );

        fs_err::remove_file(place.path().join("3/head.3")).unwrap();
        insta::assert_debug_snapshot!("headless", lines(place.path()));
        store.advance(None, &first).unwrap();
        // An engine that came later leaves the last save of this one for it.
        remember(&store, "99.0.0");
        assert_eq!(lines(place.path()).len(), 1, "{:?}", lines(place.path()));
        let another = tempfile::tempdir().unwrap();
        remember(&Store::folder(another.path()).unwrap(), "99.0.0");
        insta::assert_debug_snapshot!("newer", lines(another.path()));

        let newest = store.head().unwrap().unwrap();
        store.advance(Some(&newest), &first).unwrap();
        for pack in fs_err::read_dir(place.path().join("3/packs")).unwrap() {
            fs_err::write(pack.unwrap().path(), "spoilt").unwrap();
        }
        insta::assert_debug_snapshot!(
            "damaged",
            lines(place.path()).iter().map(|line| line.split(" object ").next()).collect::<Vec<_>>()
        );
    }
}
