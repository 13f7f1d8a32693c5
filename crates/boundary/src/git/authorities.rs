//! Who vouches for GitHub's certificate. git takes one file, so that the machine's authorities and further ones are put
//! into one.

use std::path::{Path, PathBuf};

use crate::git::{Git, GitError};

/// How git calls the file with the authorities that it trusts.
pub(super) const BUNDLE: &str = "GIT_SSL_CAINFO";

/// Where systems keep theirs.
const MACHINE: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

impl Git {
    /// Returns a git that trusts further authorities beside the usual ones, by a file that is made in `folder`.
    pub fn with_authorities(mut self, further: &[PathBuf], folder: &Path) -> Result<Self, GitError> {
        let named = self.environment.iter().position(|(name, _)| name == BUNDLE);
        let usual = match named {
            Some(place) => Some(PathBuf::from(&self.environment[place].1)),
            None => MACHINE.iter().map(PathBuf::from).find(|file| file.exists()),
        };
        let further: Vec<_> = further.iter().filter(|file| Some(*file) != usual.as_ref()).collect();
        if further.is_empty() {
            return Ok(self);
        }
        let mut all = Vec::new();
        for file in further.into_iter().chain(&usual) {
            all.extend(fs_err::read(file).map_err(GitError::prepare(file))?);
            all.push(b'\n');
        }
        let bundle = folder.join("authorities.pem");
        fs_err::write(&bundle, all).map_err(GitError::prepare(&bundle))?;
        self.environment.retain(|(name, _)| name != BUNDLE);
        self.environment.push((BUNDLE.into(), bundle.into()));
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(host: &[(std::ffi::OsString, std::ffi::OsString)]) -> Git {
        let (strictness, enclosure) = (crate::Strictness::Required, crate::Enclosure::Open);
        Git::new(host, crate::Confinement { launcher: Vec::new(), strictness, enclosure })
    }

    #[test]
    fn further_authorities_stand_beside_the_usual_ones() {
        let folder = tempfile::tempdir().unwrap();
        let [usual, further] = ["usual", "further"].map(|name| folder.path().join(name));
        fs_err::write(&usual, "one").unwrap();
        fs_err::write(&further, "two").unwrap();
        let host = [("SSL_CERT_FILE".into(), usual.clone().into())];
        let bundle = |git: Git| {
            let (_, file) = git.environment.into_iter().find(|(name, _)| name == BUNDLE).unwrap();
            PathBuf::from(file)
        };
        let alone = git(&host).with_authorities(std::slice::from_ref(&usual), folder.path()).unwrap();
        assert_eq!(bundle(alone), usual);
        let both = git(&host).with_authorities(&[usual, further], folder.path()).unwrap();
        assert_eq!(fs_err::read_to_string(bundle(both)).unwrap(), "two\none\n");
    }
}
