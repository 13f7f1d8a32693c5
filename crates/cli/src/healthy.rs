//! `fro-bot healthy`: asks a process of the daemon on this machine whether it is sound, for a container without `curl`.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::ExitCode,
};

use clap::Args;
use fro_core::Fault;
use fro_http::{Client, ClientSettings};

use crate::{env::Env, window};

/// Whom to ask.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The port or address that `serve` or `work` was given in `--metrics`; without it, what `FRO_METRICS` says
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    metrics: Option<String>,
}

/// Asks, prints what it says, and ends with 1 if it is not sound.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let address = window::address(options.metrics.as_deref(), env)?.ok_or_else(|| {
        Fault::yours("it is not known where to ask", "give the port of `--metrics`, or set `FRO_METRICS`")
    })?;
    let client = Client::new(ClientSettings::loopback()).map_err(|error| error.fault())?;
    let asked = client.get(format!("http://{}/healthz", reachable(address))).relay().await;
    let Ok(mut answer) = asked else {
        anstream::println!("nobody answers at {address}");
        return Ok(ExitCode::FAILURE);
    };
    let mut body = Vec::new();
    while let Ok(Some(piece)) = answer.chunk().await {
        body.extend_from_slice(&piece);
    }
    anstream::println!("{}", String::from_utf8_lossy(&body).trim());
    Ok(if answer.status() == 200 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whoever listens everywhere listens here.
fn reachable(address: SocketAddr) -> SocketAddr {
    let near = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(near, address.port())
}
