//! The proxy of a company, where there is no other way out of its network: tunnels are asked of it.

use std::{ffi::OsString, io};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::{
    Request, Uri,
    client::conn::http1,
    header::{HOST, HeaderValue, PROXY_AUTHORIZATION},
    upgrade,
};
use hyper_util::{client::proxy::matcher::Matcher, rt::TokioIo};
use tokio::net::TcpStream;

use crate::egress::Host;

/// This machine, which is met directly whatever the job's variables say.
const OWN: &str = "localhost,127.0.0.0/8,::1";

/// The job's variables about proxies, read as those of every other request are.
#[derive(Debug)]
pub struct CorporateProxy(Matcher);

/// The way through a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tunnel {
    /// The proxy.
    place: String,
    /// What it wants to know of who asks; never shown.
    credential: Option<HeaderValue>,
}

impl CorporateProxy {
    /// Reads the job's variables.
    pub fn from_environment(environment: &[(OsString, OsString)]) -> Self {
        let text = |wanted: &str| {
            let found = environment.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.and_then(|(_, value)| value.to_str()).unwrap_or_default().to_owned()
        };
        let except = format!("{OWN},{}", text("NO_PROXY"));
        let variables = Matcher::builder().https(text("HTTPS_PROXY")).all(text("ALL_PROXY")).no(except);
        Self(variables.build())
    }

    /// Returns the way to a host, if it leads through a proxy. One that is itself asked by TLS is not known here.
    pub(super) fn towards(&self, host: &Host) -> Option<Tunnel> {
        let proxy = self.0.intercept(&format!("https://{host}/").parse::<Uri>().ok()?)?;
        let place = proxy.uri();
        (place.scheme_str() == Some("http")).then_some(())?;
        let place = format!("{}:{}", place.host()?, place.port_u16().unwrap_or(80));
        Some(Tunnel { place, credential: proxy.basic_auth().cloned() })
    }
}

impl Tunnel {
    /// Opens it as far as the host.
    pub(super) async fn open(&self, host: &Host) -> io::Result<TcpStream> {
        let stream = TokioIo::new(TcpStream::connect(&self.place).await?);
        // Some proxies are so old that they know names of headers only as they were first written.
        let mut speech = http1::Builder::new();
        let speech = speech.title_case_headers(true).handshake(stream);
        let (mut sender, connection) = speech.await.map_err(io::Error::other)?;
        tokio::spawn(connection.with_upgrades());
        let host = host.to_string();
        let request = Request::connect(&host).header(HOST, &host).body(Empty::<Bytes>::new());
        let mut request = request.map_err(io::Error::other)?;
        if let Some(credential) = &self.credential {
            request.headers_mut().insert(PROXY_AUTHORIZATION, credential.clone());
        }
        let answer = sender.send_request(request).await.map_err(io::Error::other)?;
        if !answer.status().is_success() {
            return Err(io::Error::other(format!("the network's proxy says {}", answer.status().as_u16())));
        }
        let opened = upgrade::on(answer).await.map_err(io::Error::other)?;
        match opened.downcast::<TokioIo<TcpStream>>() {
            Ok(parts) if parts.read_buf.is_empty() => Ok(parts.io.into_inner()),
            Ok(_) | Err(_) => Err(io::Error::other("the network's proxy spoke before it was asked")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn towards(host: &str, variables: &[(&str, &str)]) -> Option<Tunnel> {
        let variables: Vec<_> = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        CorporateProxy::from_environment(&variables).towards(&host.parse().unwrap())
    }

    #[test]
    fn the_job_s_variables_name_it() {
        let place =
            |url: &str| towards("packages.example", &[("https_proxy", url)]).map(|tunnel| tunnel.place);
        assert_eq!(place("http://proxy.corp.example:3128/").as_deref(), Some("proxy.corp.example:3128"));
        assert_eq!(place("proxy.corp.example").as_deref(), Some("proxy.corp.example:80"));
        assert_eq!(place("https://proxy.corp.example:3128"), None);
        assert_eq!(place(""), None);
        assert_eq!(towards("packages.example", &[("HTTP_PROXY", "http://proxy:1")]), None);
        let known = towards("packages.example", &[("HTTPS_PROXY", "http://ada:p%40ss@proxy:1")]).unwrap();
        assert_eq!(known.credential.as_ref().unwrap(), "Basic YWRhOnBAc3M=");
        assert!(!format!("{known:?}").contains("YWRh"), "{known:?}");
    }

    #[test]
    fn some_hosts_are_met_directly() {
        let leads = |host| {
            let variables = [("HTTPS_PROXY", "http://proxy:1"), ("NO_PROXY", "corp.example, .lab.example")];
            towards(host, &variables).is_some()
        };
        assert!(leads("packages.example") && leads("notcorp.example") && leads("10.0.0.7"));
        for host in ["corp.example", "git.Corp.example", "a.lab.example", "localhost", "127.0.0.2", "[::1]"] {
            assert!(!leads(host), "{host}");
        }
    }
}
