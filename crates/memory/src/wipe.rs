//! Overwrites the dead space of a database, where values that were replaced or deleted still stand.
//!
//! SQLite's `secure_delete` covers only what its own connection deletes; the engine runs without it. What is dead is
//! read from SQLite's own account of its pages (`dbstat`) and from the file format: free pages, the gap between the
//! cell pointers and the cells, free blocks among the cells, and the end of the last overflow page of a value.

use std::{fs, os::unix::fs::FileExt as _, path::Path};

use rusqlite::Connection;

use crate::{
    database::{self, judge},
    error::{Error, Flaw},
};

const FILE_HEADER: usize = 100;

/// So many pages are read at once.
const STRETCH: u32 = 256;

/// Wipes a file that no connection has open.
pub(crate) fn wipe(path: &Path) -> Result<(), Error> {
    let (size, used) = used_pages(&database::open(path)?).map_err(judge("look at the pages of the copy"))?;
    let file = fs::OpenOptions::new().read(true).write(true).open(path)?;
    let place = |number: u32| (u64::from(number) - 1) * size as u64;
    let mut pages = vec![0; size * STRETCH as usize];
    for stretch in used.chunk_by(|(left, _), (right, _)| left / STRETCH == right / STRETCH) {
        let (first, last) = (stretch[0].0, stretch[stretch.len() - 1].0);
        let pages = &mut pages[..size * (last - first + 1) as usize];
        file.read_exact_at(pages, place(first))?;
        for (number, kind) in stretch {
            let page = &mut pages[size * (number - first) as usize..][..size];
            let is_changed = match kind {
                Kind::Tree => wipe_tree(page, if *number == 1 { FILE_HEADER } else { 0 })?,
                Kind::Overflow { payload } => fill(page, 4 + payload, size)?,
            };
            if is_changed {
                file.write_all_at(page, place(*number))?;
            }
        }
    }
    wipe_free_pages(&file, size)
}

/// What a page holds.
enum Kind {
    Tree,
    Overflow { payload: usize },
}

/// Returns the length of a page, and the pages in use in their order.
fn used_pages(connection: &Connection) -> rusqlite::Result<(usize, Vec<(u32, Kind)>)> {
    let size: u32 = connection.query_one("PRAGMA page_size", [], |row| row.get(0))?;
    let mut statement = connection.prepare("SELECT pageno, pagetype = 'overflow', payload FROM dbstat")?;
    let pages = statement.query_map([], |row| {
        let kind =
            if row.get(1)? { Kind::Overflow { payload: row.get::<_, u32>(2)? as usize } } else { Kind::Tree };
        Ok((row.get(0)?, kind))
    })?;
    let mut pages = pages.collect::<rusqlite::Result<Vec<_>>>()?;
    pages.sort_unstable_by_key(|(number, _)| *number);
    Ok((size as usize, pages))
}

/// Wipes a page of a tree: the gap before its cells and the blocks that are free among them.
fn wipe_tree(page: &mut [u8], header: usize) -> Result<bool, Flaw> {
    let is_leaf = matches!(number(page, header, 1)?, 10 | 13);
    let cells = number(page, header + 3, 2)?;
    let pointers_end = header + if is_leaf { 8 } else { 12 } + 2 * cells;
    let content = match number(page, header + 5, 2)? {
        0 => 1 << 16,
        start => start,
    };
    let mut is_changed = fill(page, pointers_end, content)?;
    let mut block = number(page, header + 1, 2)?;
    while block != 0 {
        let (next, length) = (number(page, block, 2)?, number(page, block + 2, 2)?);
        is_changed |= fill(page, block + 4, block + length)?;
        // Blocks come in rising order, or the chain would have no end.
        if next != 0 && next <= block {
            return Err(broken());
        }
        block = next;
    }
    Ok(is_changed)
}

/// Wipes the pages on the free list: the leaves whole, the trunks behind their lists.
fn wipe_free_pages(file: &fs::File, size: usize) -> Result<(), Error> {
    let pages = file.metadata()?.len() / size as u64;
    let blank = vec![0; size];
    let mut page = vec![0; size];
    file.read_exact_at(&mut page, 0)?;
    let mut left = number(&page, 36, 4)?;
    let mut trunk = number(&page, 32, 4)? as u64;
    while trunk != 0 && left > 0 {
        let place = |number: u64| match number {
            1.. if number <= pages => Ok((number - 1) * size as u64),
            _ => Err(broken()),
        };
        file.read_exact_at(&mut page, place(trunk)?)?;
        let count = number(&page, 4, 4)?;
        for leaf in 0..count {
            file.write_all_at(&blank, place(number(&page, 8 + 4 * leaf, 4)? as u64)?)?;
        }
        if fill(&mut page, 8 + 4 * count, size)? {
            file.write_all_at(&page, place(trunk)?)?;
        }
        left = left.saturating_sub(1 + count);
        trunk = number(&page, 0, 4)? as u64;
    }
    Ok(())
}

/// Fills a part of a page with zeros and tells whether anything else was there.
fn fill(page: &mut [u8], from: usize, to: usize) -> Result<bool, Flaw> {
    let to = to.min(page.len());
    if from >= to {
        return if from > page.len() { Err(broken()) } else { Ok(false) };
    }
    let part = &mut page[from..to];
    let is_changed = part.iter().any(|byte| *byte != 0);
    part.fill(0);
    Ok(is_changed)
}

fn number(page: &[u8], at: usize, length: usize) -> Result<usize, Flaw> {
    let bytes = page.get(at..at + length).ok_or_else(broken)?;
    Ok(bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

fn broken() -> Flaw {
    Flaw::Unsound("a page of the database is malformed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: &str = "a value that was replaced long ago";

    #[test]
    fn nothing_dead_is_left_and_nothing_living_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "PRAGMA secure_delete = OFF; PRAGMA auto_vacuum = 2; CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); \
                 CREATE INDEX i ON t (v)",
            )
            .unwrap();
        for id in 0..120_u32 {
            let value = format!("{LOST} {id} ").repeat(1 + id as usize * 3 % 400);
            connection.execute("INSERT INTO t VALUES (?1, ?2)", rusqlite::params![id, value]).unwrap();
        }
        connection
            .execute_batch(
                "DELETE FROM t WHERE id % 3 = 0; UPDATE t SET v = 'short ' || id WHERE id % 3 = 1; \
                 UPDATE t SET v = substr(replace(v, 'replaced', 'alive___'), 1, length(v) - 9) WHERE id % 3 = 2",
            )
            .unwrap();
        let rows = || -> Vec<(i64, String)> {
            let connection = Connection::open(&path).unwrap();
            let mut statement = connection.prepare("SELECT id, v FROM t ORDER BY v, id").unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect()
        };
        drop(connection);
        let before = rows();
        let count = || {
            let bytes = fs::read(&path).unwrap();
            bytes.windows(16).filter(|window| *window == b"that was replace").count()
        };
        assert!(count() > 20, "nothing was dead");

        wipe(&path).unwrap();

        assert_eq!(count(), 0);
        assert_eq!(rows(), before);
        let connection = Connection::open(&path).unwrap();
        let check: String = connection.query_one("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
    }
}
