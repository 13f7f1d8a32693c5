//! What does a file of a branch say, and what is in a folder?

use data_encoding::BASE64;
use serde::Deserialize;

use crate::{
    client::{GitHub, segment},
    error::{Attempted, Error},
};

/// Bytes that are read of it.
const LARGEST: usize = 256 << 10;

impl GitHub {
    /// Reads a file of a branch, the default one if none is named. Nothing if there is none.
    pub async fn file(&self, path: &str, branch: &str) -> Result<Option<String>, Error> {
        let aim = Attempted::new(format!("read `{path}` of {}", self.repo()), "contents: read");
        let of = if branch.is_empty() { String::new() } else { format!("?ref={}", segment(branch)) };
        let path = format!("/repos/{}/contents/{path}{of}", self.repo());
        let answer = match self.get(&path).at_most(LARGEST).send().await {
            Ok(answer) => answer,
            Err(error) if error.status() == Some(404) => return Ok(None),
            Err(error) => return Err(aim.missed(error)),
        };
        let file: FileContent = answer.json().map_err(|error| aim.missed(error))?;
        let letters: String = file.content.split_whitespace().collect();
        let bytes = BASE64.decode(letters.as_bytes()).unwrap_or_default();
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Names what is in a folder of the default branch; nothing if there is none.
    pub async fn folder(&self, path: &str) -> Result<Vec<String>, Error> {
        let aim = Attempted::new(format!("list `{path}` of {}", self.repo()), "contents: read");
        let path = format!("/repos/{}/contents/{path}", self.repo());
        // The top of a repository has no slash at its end.
        match self.get(path.trim_end_matches('/')).at_most(LARGEST).send().await {
            Ok(answer) => {
                let entries: Vec<Entry> = answer.json().map_err(|error| aim.missed(error))?;
                Ok(entries.into_iter().map(|entry| entry.name).collect())
            }
            Err(error) if error.status() == Some(404) => Ok(Vec::new()),
            Err(error) => Err(aim.missed(error)),
        }
    }
}

#[derive(Deserialize)]
struct Entry {
    name: String,
}

#[derive(Deserialize)]
struct FileContent {
    /// In base64, broken into lines; nothing for a folder of this name.
    #[serde(default)]
    content: String,
}
