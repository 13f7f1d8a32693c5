//! Whether a disk has room left: a full one looks like a program that failed for no reason.

use std::path::Path;

use rustix::fs::{StatVfs, statvfs};

/// With less than this left a disk is full to a database, which writes whole pages and a journal besides.
const LEAST: u64 = 1 << 20;

/// Tells whether the file system that a folder is on has no room left, for what is in files or for files.
pub fn disk_is_full(folder: &Path) -> bool {
    statvfs(folder).is_ok_and(|room| is_full(&room))
}

/// Some file systems count no files at all.
fn is_full(room: &StatVfs) -> bool {
    let bytes = room.f_bavail.saturating_mul(room.f_frsize);
    bytes < LEAST || (room.f_files > 0 && room.f_favail == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_full_without_room_for_bytes_or_for_files() {
        let check = |(blocks, size): (u64, u64), (files, free): (u64, u64), expect: bool| {
            let mut room = statvfs("/").unwrap();
            (room.f_bavail, room.f_frsize, room.f_files, room.f_favail) = (blocks, size, files, free);
            assert_eq!(is_full(&room), expect, "{blocks} blocks of {size}, {free} files");
        };
        check((1_000, 4_096), (1_000, 1_000), false);
        check((255, 4_096), (1_000, 1_000), true);
        check((256, 4_096), (1_000, 1), false);
        check((1_000, 4_096), (1_000, 0), true);
        check((1_000, 4_096), (0, 0), false);
    }

    #[test]
    fn a_folder_that_is_not_there_is_on_no_full_disk() {
        assert!(!disk_is_full(Path::new("/nowhere/at/all")));
    }
}
