//! The network of one run: nothing, or the operator's list of hosts if somebody who may push set it off.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use fro_boundary::{Address, CorporateProxy, Egress, EgressCalls, Host, ResolvedHost};
use fro_core::{Fault, Permit, Reach};

use crate::{
    settings::{Destination, Settings},
    wall::WallOpenings,
};

/// Variables that lead tools to a proxy, in all the spellings that they look for.
const PROXIES: [&str; 6] =
    ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "https_proxy", "http_proxy"];

/// Variables that name certificate authorities; a company's network has its own.
const AUTHORITIES: [&str; 5] =
    ["CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"];

/// An open way out.
pub(crate) struct Network {
    egress: Egress,
    registry: Option<String>,
    authorities: Vec<(OsString, OsString)>,
    /// Why parts of the list cannot be reached.
    pub(crate) warnings: Vec<String>,
}

impl Network {
    /// Opens the way out, if there is one for this run.
    pub(crate) async fn open(settings: &Settings, permit: &Permit) -> Result<Option<Self>, Fault> {
        let wanted = wanted(settings, permit);
        if wanted.is_empty() {
            return Ok(None);
        }
        let environment = &settings.engine.environment;
        let registry = if wanted.contains(&Destination::NpmRegistry) {
            fro_opencode::registry(environment).await
        } else {
            None
        };
        let proxy = CorporateProxy::from_environment(environment);
        let (mut doors, mut warnings) = (Vec::new(), Vec::new());
        for destination in wanted {
            match host_of(destination, registry.as_deref()) {
                Ok(host) => doors.push(ResolvedHost::find(host, &proxy).await),
                Err(why) => warnings.push(why),
            }
        }
        warnings.extend(doors.iter().filter_map(ResolvedHost::closed).map(|why| format!("`network`: {why}")));
        let egress = Egress::open(doors).await;
        let egress = egress
            .map_err(|error| Fault::ours(format!("cannot open a port for the network's proxy: {error}")))?;
        let is_authority = |(name, _): &&(OsString, OsString)| AUTHORITIES.iter().any(|known| name == known);
        let authorities = environment.iter().filter(is_authority).cloned().collect();
        Ok(Some(Self { egress, registry, authorities, warnings }))
    }

    /// Puts the proxy on the wall's list and leads tools to it; what is on this machine is met directly.
    pub(crate) fn offer(&self, openings: &mut WallOpenings) {
        openings.connect.push(Address::Tcp(self.egress.address()));
        let proxy = format!("http://{}", self.egress.address());
        let mut lead = |name: &str, value: &OsStr| openings.environment.push((name.into(), value.to_owned()));
        for name in PROXIES {
            lead(name, proxy.as_ref());
        }
        for name in ["NO_PROXY", "no_proxy"] {
            lead(name, "127.0.0.1,localhost".as_ref());
        }
        if let Some(registry) = &self.registry {
            lead("NPM_CONFIG_REGISTRY", registry.as_ref());
        }
        openings.environment.extend(self.authorities.iter().cloned());
        openings.read.extend(self.authorities.iter().map(|(_, file)| PathBuf::from(file)));
    }

    /// Returns how often it was used.
    pub(crate) fn calls(&self) -> EgressCalls {
        self.egress.calls()
    }
}

/// Returns the hosts that the tools of a run can reach, as the agent is told them.
pub fn reachable(settings: &Settings, permit: &Permit) -> Vec<String> {
    let hosts = wanted(settings, permit).iter().map(|destination| match destination {
        Destination::Host(host) => host.to_string(),
        Destination::NpmRegistry => "the registry of the npm client".to_owned(),
    });
    hosts.collect()
}

/// Returns the hosts of `network`, if the asker may push; none otherwise.
fn wanted<'a>(settings: &'a Settings, permit: &Permit) -> &'a [Destination] {
    match permit.reach() {
        Reach::Work => &settings.engine.network,
        Reach::Answer | Reach::ReadOnly => &[],
    }
}

fn host_of(destination: &Destination, registry: Option<&str>) -> Result<Host, String> {
    match destination {
        Destination::Host(host) => Ok(host.clone()),
        Destination::NpmRegistry => {
            let named = registry.and_then(Host::from_url);
            named.ok_or_else(|| "`network`: the npm client's configuration names no registry".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{permit, settings};

    #[test]
    fn the_network_is_open_for_those_who_may_push() {
        let mut settings = settings(serde_json::json!({}));
        let host = Host::from_url("https://packages.example.org/npm/").unwrap();
        settings.engine.network = vec![Destination::Host(host), Destination::NpmRegistry];
        let all = ["packages.example.org:443", "the registry of the npm client"];
        assert_eq!(reachable(&settings, &permit(Reach::Work)), all);
        assert_eq!(reachable(&settings, &permit(Reach::Answer)), [""; 0]);
        assert_eq!(reachable(&settings, &permit(Reach::ReadOnly)), [""; 0]);
    }

    #[tokio::test]
    async fn without_a_list_there_is_no_way_out() {
        let settings = settings(serde_json::json!({}));
        assert!(Network::open(&settings, &permit(Reach::Work)).await.unwrap().is_none());
    }

    #[test]
    fn a_registry_that_nobody_named_is_a_warning() {
        let named = host_of(&Destination::NpmRegistry, Some("https://registry.example.org/")).unwrap();
        assert_eq!(named.to_string(), "registry.example.org:443");
        let told = host_of(&Destination::NpmRegistry, None).unwrap_err();
        assert_eq!(told, "`network`: the npm client's configuration names no registry");
    }

    #[tokio::test]
    async fn tools_are_led_to_the_proxy_but_not_on_this_machine() {
        let mut settings = settings(serde_json::json!({}));
        settings.engine.network = vec![Destination::Host(Host::from_url("https://127.0.0.1/").unwrap())];
        settings.engine.environment = vec![("SSL_CERT_FILE".into(), "/etc/company.pem".into())];
        let network = Network::open(&settings, &permit(Reach::Work)).await.unwrap().unwrap();
        let mut openings = WallOpenings { connect: Vec::new(), environment: Vec::new(), read: Vec::new() };
        network.offer(&mut openings);
        let value =
            |name: &str| openings.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let proxy = value("HTTPS_PROXY").unwrap().to_str().unwrap();
        assert!(proxy.starts_with("http://127.0.0.1:"), "{proxy}");
        assert_eq!(value("NO_PROXY").unwrap(), "127.0.0.1,localhost");
        assert_eq!(value("SSL_CERT_FILE").unwrap(), "/etc/company.pem");
        assert_eq!((openings.connect.len(), openings.read.len()), (1, 1));
        assert_eq!(network.calls(), EgressCalls::default());
    }
}
