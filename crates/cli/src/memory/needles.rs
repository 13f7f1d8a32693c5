//! Looks for values in every file of a folder, byte by byte.

use std::path::{Path, PathBuf};

use fro_core::Fault;

/// Reads the values, one per line.
pub(super) fn read(file: &PathBuf) -> Result<Vec<String>, Fault> {
    let text = fs_err::read_to_string(file).map_err(|error| {
        Fault::yours(format!("cannot read the values: {error}"), "give a file with one value per line")
    })?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Returns the files in which a value was found, with its number and never the value itself.
pub(super) fn search(folder: &Path, needles: &[String]) -> Result<Vec<String>, Fault> {
    let failed = |error: std::io::Error| Fault::ours(format!("cannot search the memory: {error}"));
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop().filter(|_| !needles.is_empty()) {
        for entry in fs_err::read_dir(next).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs_err::read(&path).map_err(failed)?;
            for (number, needle) in (1..).zip(needles) {
                if contains(&bytes, needle.as_bytes()) {
                    found.push(format!("value {number} in {}", path.display()));
                }
            }
        }
    }
    Ok(found)
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("deep")).unwrap();
        fs_err::write(folder.path().join("deep/file"), b"\0\xffhunter2\0").unwrap();
        let needles = ["other".to_owned(), "hunter2".to_owned()];
        let found = search(folder.path(), &needles).unwrap();
        assert_eq!(found, [format!("value 2 in {}", folder.path().join("deep/file").display())]);
        assert_eq!(search(folder.path(), &needles[..1]).unwrap(), Vec::<String>::new());
    }
}
