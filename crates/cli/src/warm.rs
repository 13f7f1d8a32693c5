//! `fro-bot warm`: fills the tool cache, so that the next run finds everything there.

use std::process::ExitCode;

use anstream::println;
use clap::Args;
use fro_core::Fault;
use fro_http::{Client, ClientSettings, Proxy};
use fro_opencode::{InstallProgress, ToolCache, Version, Wanted, install, install_omo};

use crate::{env::Env, settings::tool_cache, waiting::Waiting};

/// What to bring.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The engine's version: the pinned one if left out, `latest`, or a number
    #[arg(long, value_name = "VERSION", default_value = "pinned", hide_default_value = true)]
    opencode_version: Version,

    /// Oh My OpenCode's version: the pinned one if left out, `latest`, or a number
    #[arg(long, value_name = "VERSION", default_value = "pinned", hide_default_value = true)]
    omo_version: Version,

    /// Do not fetch Oh My OpenCode
    #[arg(long)]
    without_omo: bool,
}

/// Brings everything into the tool cache.
pub(crate) async fn main(options: Options, env: &Env) -> Result<ExitCode, Fault> {
    let extra_ca = env.authorities();
    let client = Client::new(ClientSettings { proxy: Proxy::System, extra_ca, ..ClientSettings::default() });
    let client = client.map_err(|error| error.fault())?;
    let wanted = Wanted { version: options.opencode_version, ..Wanted::pinned(env.all().to_vec(), client) };
    let cache = ToolCache::new(tool_cache(env));
    let waiting = Waiting::begin(env, "looking for the engine");
    let mut tell = |progress: InstallProgress| waiting.installs(&progress);
    let engine = install(&wanted, &cache, &mut tell).await.map_err(|error| error.fault())?;
    waiting.print(|| {
        println!("OpenCode {}  {}", engine.version, engine.binary.display());
        println!("ripgrep  {}", engine.rg.display());
    });
    if !options.without_omo {
        waiting.goes_on("looking for Oh My OpenCode");
        let omo = install_omo(&wanted, &options.omo_version, &cache, &mut tell).await;
        let omo = omo.map_err(|error| error.fault())?;
        waiting.print(|| println!("Oh My OpenCode  {}", omo.display()));
    }
    Ok(ExitCode::SUCCESS)
}
