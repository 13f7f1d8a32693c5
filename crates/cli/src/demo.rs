//! `fro-bot demo`: a whole run on a little GitHub of its own, offline, with the real engine.

mod garden;
mod show;

use std::{path::Path, process::ExitCode};

use anstream::println;
use clap::Args;
use fro_core::{Fault, Login, Permission, Secret, gate::Policy, prompt::Wishes, say::summary::RunLink};
use fro_github::Address;
use fro_http::RoadSettings;
use fro_run::{Ending, EngineSettings, Event, Settings, Unwalled};
use fro_sim::World;
use jiff::Timestamp;

use crate::{
    demo::show::Show,
    env::Env,
    interrupt::{self, Interrupt},
    settings::{own_program, scratch, tool_cache},
};

/// What can be asked of the demo.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Leave the little GitHub open afterwards, as a web page
    #[arg(long)]
    keep: bool,
    /// Port of the little GitHub; a free one if not given
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
}

/// Plays the demo.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let began = Timestamp::now();
    let mut interrupt = Interrupt::listen()?;
    let show = Show::new();
    let folder = tempfile::Builder::new().prefix("fro-bot-demo-").tempdir_in(scratch(env));
    let folder = folder.map_err(|error| Fault::ours(format!("cannot make a temporary folder: {error}")))?;
    let world = open_world(options.port).await?;
    let garden = garden::plant(folder.path()).await?;
    garden::rehearse(&world.model(), &garden);
    let request = garden::ask(&world)?;
    show.opening(&world.page_url(request.issue));

    let settings = settings(&world, folder.path(), &garden, request.event, env, began)?;
    let ending = fro_run::run(&settings, &|news| show.tell(&news), interrupt.asked()).await;
    show.done();
    let ending = ending?;
    if ending == Ending::Interrupted {
        println!("interrupted; nothing is left behind");
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    show.comment(&garden::answer(&world, request.issue)?);
    show.times();
    if options.keep {
        println!("\nThe little GitHub stays open at {} until Ctrl-C", world.page_url(request.issue));
        interrupt.asked().await;
    }
    Ok(ExitCode::SUCCESS)
}

async fn open_world(port: Option<u16>) -> Result<World, Fault> {
    let world = match port {
        Some(port) => World::start_on(port).await,
        None => World::start().await,
    };
    world.map_err(|error| match port {
        Some(port) => Fault::yours(
            format!("cannot open port {port}: {error}"),
            "choose another with `--port`, or leave it out",
        ),
        None => Fault::ours(format!("cannot open a port on this machine: {error}")),
    })
}

fn settings(
    world: &World,
    folder: &Path,
    garden: &Path,
    event: Event,
    env: &Env,
    began: Timestamp,
) -> Result<Settings, Fault> {
    Ok(Settings {
        event,
        github: Address { api: world.api_url(), graphql: world.graphql_url() },
        road: RoadSettings::loopback(),
        token: Secret::new(world.token(garden::BOT)),
        policy: Policy { mention: Login::new(garden::BOT), needed: Permission::Write },
        wishes: Wishes::default(),
        engine: EngineSettings {
            tool_cache: tool_cache(env),
            program: own_program()?,
            environment: env.all().to_vec(),
            config: world.model().provider(),
            agent: None,
            model: None,
            timeout: Some(std::time::Duration::from_mins(5)),
            unwalled: Unwalled::Refused,
        },
        memory: Some(folder.join("memory")),
        workspace: garden.to_owned(),
        scratch: folder.to_owned(),
        run: RunLink { id: "demo".to_owned(), url: None },
        git_ref: Some("main".to_owned()),
        began,
        seed: u64::from(began.subsec_nanosecond().unsigned_abs()),
    })
}
