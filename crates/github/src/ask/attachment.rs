//! What is in a file that somebody attached to their words?

use fro_http::Incoming;

use crate::client::GitHub;

/// How often GitHub may send us on.
const MOST_HOPS: usize = 3;

/// GitHub's own stores, where it sends those on who may see a file.
const STORES: [&str; 2] = [".githubusercontent.com", ".s3.amazonaws.com"];
/// Anybody can have a bucket there, so its name must be GitHub's too.
const BUCKETS: &str = "github-production-";

/// An attached file as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The type that came with it.
    pub told: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl GitHub {
    /// Downloads an attached file of at most so many bytes.
    ///
    /// GitHub answers with a way to its store that needs no token, so the token goes to the first address alone, and
    /// the way is followed to GitHub's own hosts only. Why it was not taken is told in words for the model.
    pub async fn attachment(&self, url: &str, at_most: usize) -> Result<Attachment, String> {
        let (mut place, mut first) = (url.to_owned(), true);
        for _ in 0..=MOST_HOPS {
            let request = if first { self.fetch_signed(&place) } else { self.fetch(&place) };
            let answer = request.relay().await.map_err(|_| "GitHub did not answer".to_owned())?;
            match (answer.status(), answer.header("location")) {
                (200, _) => return read(answer, at_most).await,
                (301 | 302 | 303 | 307 | 308, Some(next)) => {
                    place = self.next_place(&place, next).ok_or("it leads away from GitHub")?;
                    first = false;
                }
                (status, _) => return Err(format!("GitHub answered {status}")),
            }
        }
        Err("it leads from one place to another".to_owned())
    }

    /// Returns where a redirect leads, if it stays with GitHub.
    fn next_place(&self, from: &str, location: &str) -> Option<String> {
        let web = self.web();
        let next = match location.strip_prefix('/') {
            Some(path) => format!("{}/{path}", origin(from)?),
            None => location.to_owned(),
        };
        let place = origin(&next)?;
        let known = self.stores().iter().any(|store| store == place);
        (known || place == origin(web)? || is_store(&next)).then_some(next)
    }
}

/// Returns the scheme and the host of an address; nothing if a user name stands before the host.
fn origin(url: &str) -> Option<&str> {
    let start = url.find("://")? + 3;
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |length| start + length);
    let origin = &url[..end];
    (!origin.contains(['@', '\\'])).then_some(origin)
}

fn is_store(url: &str) -> bool {
    let Some(host) = origin(url).and_then(|origin| origin.strip_prefix("https://")) else { return false };
    let [own, buckets] = STORES;
    host.ends_with(own) || (host.ends_with(buckets) && host.starts_with(BUCKETS))
}

/// Reads a file, and stops as soon as it is too large, whatever length was announced.
async fn read(mut answer: Incoming, at_most: usize) -> Result<Attachment, String> {
    let told = answer.header("content-type").unwrap_or_default().to_owned();
    let mut bytes = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|_| "the download broke off".to_owned())? {
        if bytes.len() + piece.len() > at_most {
            return Err(format!("it is larger than the {at_most} bytes that are left for it"));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(Attachment { told, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_github_s_own_stores_are_followed() {
        for url in [
            "https://private-user-images.githubusercontent.com/1/x.png?jwt=y",
            "https://objects.githubusercontent.com/x",
            "https://github-production-user-asset-6210df.s3.amazonaws.com/x",
        ] {
            assert!(is_store(url), "{url}");
        }
        for url in [
            "http://objects.githubusercontent.com/x",
            "https://evil.example/objects.githubusercontent.com",
            "https://githubusercontent.com.evil.example/x",
            "https://mallory.s3.amazonaws.com/x",
            "https://evil.example@objects.githubusercontent.com",
            "https://evil.example\\.githubusercontent.com/x",
        ] {
            assert!(!is_store(url), "{url}");
        }
    }
}
