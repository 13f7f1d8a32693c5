//! Reads what is left of a ledger of which some pages are lost.

use std::{collections::HashMap, path::Path};

use blake3::Hash;
use rusqlite::{Connection, Row, params};

use super::{catalog::Catalog, manifest::Pages, packer::PAGE};
use crate::{
    database::{self, judge},
    error::Error,
    ledger::Ledger,
    store::Store,
};

/// The columns of a row.
type RunRow = (String, String, Option<String>, i64, String);

/// Returns a ledger with the rows that can be read; nothing if the first page is lost, without which there is no table.
pub(super) fn ledger(store: &Store, catalog: &Catalog, pages: &Pages) -> Result<Option<Vec<u8>>, Error> {
    let chunks = catalog.chunks(&pages.chunks);
    let is_all = chunks.len() as u64 == pages.bytes.div_ceil(u64::from(PAGE));
    if pages.chunk != PAGE || !is_all || !chunks.first().is_some_and(|first| catalog.has(first)) {
        return Ok(None);
    }
    let mut read: HashMap<Hash, Vec<u8>> = HashMap::new();
    catalog.read(store, chunks.iter().filter(|hash| catalog.has(hash)).copied(), &mut |hash, page| {
        read.insert(hash, page.to_vec());
        Ok(())
    })?;
    let page = |hash: &Hash| read.get(hash).cloned().unwrap_or_else(stopgap);
    let scratch = tempfile::tempdir()?;
    let [damaged, rescued] = ["damaged", "rescued"].map(|name| scratch.path().join(name));
    fs_err::write(&damaged, chunks.iter().flat_map(page).collect::<Vec<u8>>())?;
    let Ok(rows) = rows(&damaged) else { return Ok(None) };
    write(&rescued, &rows)?;
    Ok(Some(fs_err::read(&rescued)?))
}

/// Returns a page in the place of one that is lost: a table's last, with one row that has no values.
///
/// SQLite goes on after it, as it would not after a page without a row.
fn stopgap() -> Vec<u8> {
    const ROW: [u8; 4] = [1, 0, 1, 0];
    let mut page = vec![0; PAGE as usize];
    let at = page.len() - ROW.len();
    page[at..].copy_from_slice(&ROW);
    let [high, low] = u16::try_from(at).unwrap_or_default().to_be_bytes();
    page[..10].copy_from_slice(&[13, 0, 0, 0, 1, high, low, 0, high, low]);
    page
}

/// Reads row by row, so that one that cannot be read costs no other.
fn rows(path: &Path) -> Result<Vec<RunRow>, Error> {
    let fail = judge("read what is left of the ledger");
    let connection = database::open_copy(path)?;
    let mut statement = connection.prepare("SELECT rowid FROM run NOT INDEXED").map_err(&fail)?;
    let found = statement.query_map([], |row| row.get::<_, i64>(0)).map_err(&fail)?;
    let found: Vec<i64> = found.map_while(Result::ok).collect();
    let sql = "SELECT id, subject, session, ended_at, data FROM run NOT INDEXED WHERE rowid = ?1";
    let mut one = connection.prepare(sql).map_err(&fail)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    Ok(found.into_iter().filter_map(|id| one.query_one([id], read).ok()).collect())
}

fn write(path: &Path, rows: &[RunRow]) -> Result<(), Error> {
    let fail = judge("write what is left of the ledger");
    drop(Ledger::open(path)?);
    let connection = Connection::open(path).map_err(&fail)?;
    let transaction = connection.unchecked_transaction().map_err(&fail)?;
    for (id, subject, session, ended_at, data) in rows {
        let sql = "INSERT OR IGNORE INTO run VALUES (?1, ?2, ?3, ?4, ?5)";
        transaction.execute(sql, params![id, subject, session, ended_at, data]).map_err(&fail)?;
    }
    transaction.commit().map_err(fail)
}
