//! What does a file of a branch say?

use data_encoding::BASE64;
use serde::Deserialize;

use crate::{
    client::{GitHub, segment},
    error::{Aim, Error},
};

/// Bytes that are read of it.
const LARGEST: usize = 256 << 10;

impl GitHub {
    /// Reads a file of a branch, the default one if none is named. Nothing if there is none.
    pub async fn file(&self, path: &str, branch: &str) -> Result<Option<String>, Error> {
        let aim = Aim::new(format!("read `{path}` of {}", self.repo()), "contents: read");
        let of = if branch.is_empty() { String::new() } else { format!("?ref={}", segment(branch)) };
        let path = format!("/repos/{}/contents/{path}{of}", self.repo());
        let answer = match self.get(&path).at_most(LARGEST).send().await {
            Ok(answer) => answer,
            Err(error) if error.status() == Some(404) => return Ok(None),
            Err(error) => return Err(aim.missed(error)),
        };
        let file: File = answer.json().map_err(|error| aim.missed(error))?;
        let letters: String = file.content.split_whitespace().collect();
        let bytes = BASE64.decode(letters.as_bytes()).unwrap_or_default();
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

#[derive(Deserialize)]
struct File {
    /// In base64, broken into lines; nothing for a folder of this name.
    #[serde(default)]
    content: String,
}
