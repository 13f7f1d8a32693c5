//! The network of one run: nothing, or the operator's list of hosts if somebody who may push set it off.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use fro_boundary::{Address, CorporateProxy, Door, Egress, EgressCalls, Host};
use fro_core::{Fault, Permit, Reach};

use crate::{
    settings::{Destination, Settings},
    wall::Offers,
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
        let proxy = CorporateProxy::of(environment);
        let (mut doors, mut warnings) = (Vec::new(), Vec::new());
        for destination in wanted {
            match host_of(destination, registry.as_deref()) {
                Ok(host) => doors.push(Door::find(host, &proxy).await),
                Err(why) => warnings.push(why),
            }
        }
        warnings.extend(doors.iter().filter_map(Door::closed).map(|why| format!("`network`: {why}")));
        let egress = Egress::open(doors).await;
        let egress = egress
            .map_err(|error| Fault::ours(format!("cannot open a port for the network's proxy: {error}")))?;
        let is_authority = |(name, _): &&(OsString, OsString)| AUTHORITIES.iter().any(|known| name == known);
        let authorities = environment.iter().filter(is_authority).cloned().collect();
        Ok(Some(Self { egress, registry, authorities, warnings }))
    }

    /// Puts the proxy on the wall's list and leads tools to it; what is on this machine is met directly.
    pub(crate) fn offer(&self, offers: &mut Offers) {
        offers.connect.push(Address::Tcp(self.egress.address()));
        let proxy = format!("http://{}", self.egress.address());
        let mut lead = |name: &str, value: &OsStr| offers.environment.push((name.into(), value.to_owned()));
        for name in PROXIES {
            lead(name, proxy.as_ref());
        }
        for name in ["NO_PROXY", "no_proxy"] {
            lead(name, "127.0.0.1,localhost".as_ref());
        }
        if let Some(registry) = &self.registry {
            lead("NPM_CONFIG_REGISTRY", registry.as_ref());
        }
        offers.environment.extend(self.authorities.iter().cloned());
        offers.read.extend(self.authorities.iter().map(|(_, file)| PathBuf::from(file)));
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
            let named = registry.and_then(Host::of);
            named.ok_or_else(|| "`network`: the npm client's configuration names no registry".to_owned())
        }
    }
}
