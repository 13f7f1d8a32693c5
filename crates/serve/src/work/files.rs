//! Brings the files that somebody sent with their words: few, small, from Discord's own store, and what they say they are.

use std::{ops::Range, time::Duration};

use fro_agent::Process;
use fro_core::{
    attachment::{Attachments, FileLink},
    chat::SaidFile,
};
use fro_http::{Client, Url};
use tokio::time::timeout;

/// How long all downloads together may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// Downloads the files. They stay in memory, and only addresses on one of these hosts are followed.
pub(super) async fn bring(process: &Process, hosts: &[String], said: &[SaidFile]) -> Attachments {
    let mut files = Attachments::default();
    let Ok(client) = process.client() else { return files };
    let bring_all = async {
        for file in said {
            let got = match files.room() {
                Ok(left) => download(&client, hosts, file, left).await,
                Err(full) => Err(full),
            };
            let mark = FileLink { at: Range::default(), url: file.url.clone(), called: file.name.clone() };
            files.take(&mark, got);
        }
    };
    if timeout(PATIENCE, bring_all).await.is_err() {
        tracing::warn!("attached files took too long; the rest of them is left out");
    }
    files
}

/// Returns the type that came with a file, and what is in it.
async fn download(
    client: &Client,
    hosts: &[String],
    file: &SaidFile,
    left: usize,
) -> Result<(String, Vec<u8>), String> {
    if !is_from(&file.url, hosts) {
        return Err("it is not kept by Discord".to_owned());
    }
    let too_large = || format!("it is larger than the {left} bytes that are left for it");
    if usize::try_from(file.size).map_or(true, |size| size > left) {
        return Err(too_large());
    }
    let answer = client.get(&file.url).relay().await.map_err(|_| "Discord did not answer".to_owned())?;
    let mut answer = match answer.status() {
        200 => answer,
        status => return Err(format!("Discord answered {status}")),
    };
    let told = answer.header("content-type").unwrap_or_default().to_owned();
    let mut bytes = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|_| "the download broke off".to_owned())? {
        if bytes.len() + piece.len() > left {
            return Err(too_large());
        }
        bytes.extend_from_slice(&piece);
    }
    Ok((told, bytes))
}

/// Tells whether an address is on one of the hosts, which are written as `https://host`.
fn is_from(address: &str, hosts: &[String]) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    let plain = url.username().is_empty() && url.password().is_none();
    plain && hosts.contains(&url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_on_discord_s_own_hosts_are_taken() {
        let hosts = ["https://cdn.discordapp.com".to_owned()];
        assert!(is_from("https://cdn.discordapp.com/attachments/1/2/tap.png?ex=3", &hosts));
        for address in [
            "http://cdn.discordapp.com/attachments/1/2/tap.png",
            "https://cdn.discordapp.com.evil.example/x",
            "https://evil.example/cdn.discordapp.com",
            "https://cdn.discordapp.com@evil.example/x",
            "https://cdn.discordapp.com:444/x",
            "https://maya:planted@cdn.discordapp.com/x",
            "file:///etc/passwd",
            "tap.png",
        ] {
            assert!(!is_from(address, &hosts), "{address}");
        }
    }
}
