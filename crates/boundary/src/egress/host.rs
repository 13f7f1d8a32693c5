//! The hosts on the operator's list, and the addresses that they had when the run began.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use hyper::Uri;
use tokio::net::lookup_host;

use crate::egress::corporate_proxy::{CorporateProxy, Tunnel};

/// A host and a port that may be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    name: String,
    port: u16,
}

/// An entry of the list that is no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host; write `host` or `host:port`, such as `packages.example.org`")]
pub struct BadHost(String);

/// A host of the list with its addresses, which are asked for once: an answer that changes later changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedHost {
    pub(super) host: Host,
    /// Where it leads, or why nowhere.
    pub(super) leads: Result<HostRoute, String>,
}

/// The way to a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HostRoute {
    /// Its addresses.
    Direct(Vec<SocketAddr>),
    /// The operator's own proxy, which knows where it is.
    CorporateProxy(Tunnel),
}

/// The port of an entry without one.
const HTTPS: u16 = 443;
/// The port of an address without one, if it is not encrypted.
const HTTP: u16 = 80;

impl Host {
    /// Returns the host of an address like `https://packages.example.org/npm/`; one with a password in it has none for
    /// the agent.
    pub fn from_url(url: &str) -> Option<Self> {
        let url: Uri = url.parse().ok()?;
        let authority = url.authority().filter(|authority| !authority.as_str().contains('@'))?;
        let usual = if url.scheme_str()? == "http" { HTTP } else { HTTPS };
        format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(usual)).parse().ok()
    }

    /// Tells whether a request is for this host.
    pub(super) fn is(&self, name: &str, port: u16) -> bool {
        self.port == port && self.name.eq_ignore_ascii_case(name)
    }

    /// Returns the host's address if it is written as one.
    fn literal(&self) -> Option<IpAddr> {
        self.name.trim_matches(['[', ']']).parse().ok()
    }
}

impl FromStr for Host {
    type Err = BadHost;

    fn from_str(text: &str) -> Result<Self, BadHost> {
        let bad = || BadHost(text.chars().take(100).collect());
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().map_err(|_| bad())?),
            _ => (text, HTTPS),
        };
        let is_label = |label: &str| {
            !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let host = Self { name: name.to_ascii_lowercase(), port };
        let is_written_out = name.starts_with('[') && host.literal().is_some_and(|address| address.is_ipv6());
        if (is_written_out || name.split('.').all(is_label)) && port > 0 { Ok(host) } else { Err(bad()) }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.port)
    }
}

impl ResolvedHost {
    /// Finds out where a host is.
    ///
    /// A name that leads into a private network is refused: whoever answers for the name would choose what the agent
    /// reaches there. An address that the operator wrote out is meant. What lies beyond a proxy is for that to find.
    pub async fn find(host: Host, proxy: &CorporateProxy) -> Self {
        if let Some(tunnel) = proxy.towards(&host) {
            return Self { host, leads: Ok(HostRoute::CorporateProxy(tunnel)) };
        }
        let addresses = match host.literal() {
            Some(address) => Ok(vec![SocketAddr::new(address, host.port)]),
            None => match lookup_host((host.name.as_str(), host.port)).await {
                Ok(found) => public(&host, found.collect()),
                Err(error) => Err(format!("`{}` cannot be found: {error}", host.name)),
            },
        };
        Self { host, leads: addresses.map(HostRoute::Direct) }
    }

    /// Returns why it leads nowhere, if so.
    pub fn closed(&self) -> Option<&str> {
        self.leads.as_ref().err().map(String::as_str)
    }
}

/// Keeps the addresses that anybody could reach.
fn public(host: &Host, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, String> {
    let kept: Vec<_> = found.into_iter().filter(|address| !is_private(address.ip())).collect();
    if kept.is_empty() {
        return Err(format!("`{}` leads into a private network", host.name));
    }
    Ok(kept)
}

/// Tells whether an address is of a network that not everybody can reach.
pub(crate) fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        // This network, carriers' own networks, test benches, and what is reserved.
        || first == 0
        || (first == 100 && second & 0xc0 == 64)
        || (first == 198 && second & 0xfe == 18)
        || first >= 240
        // What a cloud tells its own machines: Oracle's among the protocols' addresses, Azure's in the public range.
        || (first == 192 && second == 0 && third == 0)
        || address == Ipv4Addr::new(168, 63, 129, 16)
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let [first, second, rest @ ..] = address.segments();
    address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        // A site's own, as it was once.
        || first & 0xffc0 == 0xfec0
        // An IPv4 address in disguise: NAT64, 6to4, Teredo, and written at the end of nothing.
        || (first == 0x64 && second == 0xff9b)
        || first == 0x2002
        || (first == 0x2001 && second == 0)
        || (first == 0 && second == 0 && rest[..4] == [0; 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_is_a_host() {
        let told = |url: &str| Host::from_url(url).map(|host| host.to_string());
        assert_eq!(told("https://packages.example.org/npm/").as_deref(), Some("packages.example.org:443"));
        assert_eq!(told("http://packages.example.org").as_deref(), Some("packages.example.org:80"));
        assert_eq!(told("http://127.0.0.1:4873/").as_deref(), Some("127.0.0.1:4873"));
        assert_eq!(told("https://maya:secret@packages.example.org/"), None);
        assert_eq!(told("nonsense"), None);
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let read = text.parse::<Host>().map_or_else(|bad| bad.to_string(), |host| host.to_string());
        assert_eq!(read, expected);
    }

    #[test]
    fn a_host_has_a_port() {
        check("Packages.Example.org", "packages.example.org:443");
        check("packages.example.org:8443", "packages.example.org:8443");
        check("10.0.0.7:4873", "10.0.0.7:4873");
        check("[::1]:80", "[::1]:80");
        check("[::1]", "[::1]:443");
    }

    #[test]
    fn what_not_everybody_reaches_is_private_in_every_disguise() {
        let is = |text: &str| is_private(text.parse().unwrap());
        for private in [
            "10.0.0.1",
            "100.100.100.200",
            "127.9.9.9",
            "168.63.129.16",
            "169.254.169.254",
            "192.0.0.192",
            "0.0.0.0",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::a00:1",
            "2001:0:a9fe:a9fe::1",
            "2002:a9fe:a9fe::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(is(private), "{private}");
        }
        for public in
            ["8.8.8.8", "168.63.129.17", "192.0.66.2", "2606:4700:4700::1111", "2001:4860:4860::8888"]
        {
            assert!(!is(public), "{public}");
        }
    }

    #[test]
    fn what_is_no_host_is_named() {
        for text in
            ["", "https://a.example", "a.example/x", "*.example", "a..b", "a:0", "a:99999", "a b", "[x]"]
        {
            check(
                text,
                &format!(
                    "`{text}` is not a host; write `host` or `host:port`, such as `packages.example.org`"
                ),
            );
        }
    }

    #[test]
    fn a_name_does_not_lead_into_a_private_network() {
        let told = |addresses: &[&str]| {
            let found = addresses.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 443)).collect();
            public(&"a.example".parse().unwrap(), found).map(|kept| kept.len())
        };
        let refused = Err("`a.example` leads into a private network".to_owned());
        for address in [
            "10.1.2.3",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "198.18.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
        ] {
            assert_eq!(told(&[address]), refused, "{address}");
        }
        assert_eq!(told(&["10.1.2.3", "1.1.1.1", "2606:4700::1111"]), Ok(2));
    }

    #[tokio::test]
    async fn names_are_looked_up_once_and_addresses_not_at_all() {
        let door =
            ResolvedHost::find("localhost:80".parse().unwrap(), &CorporateProxy::from_environment(&[])).await;
        assert_eq!(door.closed(), Some("`localhost` leads into a private network"));
        let door =
            ResolvedHost::find("127.0.0.1:80".parse().unwrap(), &CorporateProxy::from_environment(&[])).await;
        assert_eq!(door.leads, Ok(HostRoute::Direct(vec!["127.0.0.1:80".parse().unwrap()])));
    }
}
