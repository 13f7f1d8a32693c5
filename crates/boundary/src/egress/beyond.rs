//! The proxy of a company, where there is no other way out of its network: tunnels are asked of it.

use std::{ffi::OsString, io, net::IpAddr};

use data_encoding::BASE64;
use fro_core::Secret;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// The most that a proxy may say before its tunnel is open.
const LONGEST: usize = 16 << 10;

/// The operator's own proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beyond {
    place: String,
    /// What it wants to know of who asks; never shown.
    credential: Option<Secret>,
    /// Hosts that are met directly.
    except: Vec<String>,
}

impl Beyond {
    /// Reads the job's variables. A proxy that is itself asked by TLS is not known here.
    pub fn of(environment: &[(OsString, OsString)]) -> Option<Self> {
        let text = |wanted: &str| {
            let found = environment.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.and_then(|(_, value)| value.to_str()).filter(|value| !value.is_empty())
        };
        let url = text("HTTPS_PROXY").or(text("ALL_PROXY"))?;
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            Some(_) => return None,
            None => url,
        };
        let whole = rest.split('/').next()?;
        let (user, place) = whole.rsplit_once('@').map_or((None, whole), |(user, place)| (Some(user), place));
        let has_port = place.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let place = if has_port { place.to_owned() } else { format!("{place}:80") };
        let credential = user.map(|user| Secret::new(BASE64.encode(&unescaped(user))));
        let except = text("NO_PROXY")
            .unwrap_or_default()
            .split(',')
            .map(|host| host.trim().trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase());
        Some(Self { place, credential, except: except.filter(|host| !host.is_empty()).collect() })
    }

    /// Tells whether a host is to be reached through it: what is on this machine and what is excepted is not.
    pub(super) fn leads_to(&self, name: &str) -> bool {
        let name = name.trim_matches(['[', ']']).to_ascii_lowercase();
        let below = |host: &String| name.strip_suffix(host.as_str()).is_some_and(|rest| rest.ends_with('.'));
        let is_own = name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        !is_own && !self.except.iter().any(|host| host == "*" || *host == name || below(host))
    }

    /// Opens a tunnel to `place`, a host with its port.
    pub(super) async fn tunnel(&self, place: &str) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.place).await?;
        let credential = self.credential.as_ref();
        let credential =
            credential.map(|secret| format!("Proxy-Authorization: Basic {}\r\n", secret.expose()));
        let request =
            format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{}\r\n", credential.unwrap_or_default());
        stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        // Byte by byte: what follows the head is the other side's.
        while !head.ends_with(b"\r\n\r\n") && head.len() < LONGEST {
            head.push(stream.read_u8().await?);
        }
        let head = String::from_utf8_lossy(&head);
        match head.split_whitespace().nth(1) {
            Some(status) if status.starts_with('2') => Ok(stream),
            status => {
                Err(io::Error::other(format!("the network's proxy says {}", status.unwrap_or("nothing"))))
            }
        }
    }
}

/// Reads what a URL escapes, such as `%40`.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let escaped = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(b'%'));
        bytes.extend_from_slice(&part.as_bytes()[if escaped.is_some() { 2 } else { 0 }..]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variables: &[(&str, &str)]) -> Option<Beyond> {
        let variables: Vec<_> = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Beyond::of(&variables)
    }

    #[test]
    fn the_job_s_variables_name_it() {
        let place = |url: &str| told(&[("https_proxy", url)]).map(|beyond| beyond.place);
        assert_eq!(place("http://proxy.corp.example:3128/").as_deref(), Some("proxy.corp.example:3128"));
        assert_eq!(place("proxy.corp.example").as_deref(), Some("proxy.corp.example:80"));
        assert_eq!(place("https://proxy.corp.example:3128"), None);
        assert_eq!(place(""), None);
        assert_eq!(told(&[("HTTP_PROXY", "http://proxy:1")]), None);
        let known = told(&[("HTTPS_PROXY", "http://ada:p%40ss@proxy:1")]).unwrap();
        assert_eq!(known.credential.unwrap().expose(), BASE64.encode(b"ada:p@ss"));
    }

    #[test]
    fn some_hosts_are_met_directly() {
        let beyond = told(&[("HTTPS_PROXY", "http://proxy:1"), ("NO_PROXY", "corp.example, .lab.example")]);
        let leads = |name| beyond.as_ref().unwrap().leads_to(name);
        assert!(leads("packages.example") && leads("notcorp.example") && leads("10.0.0.7"));
        for name in ["corp.example", "git.Corp.example", "a.lab.example", "localhost", "127.0.0.2", "[::1]"] {
            assert!(!leads(name), "{name}");
        }
    }
}
