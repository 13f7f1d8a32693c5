//! `fro-bot demo`: a whole run on a simulated GitHub of its own, offline, with the real engine.

mod cast;
mod discord;
mod garden;
mod review;
mod show;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anstream::println;
use clap::Args;
use fro_agent::{Delegation, Elevated, EngineSettings};
use fro_core::{
    Fault, Login, Secret,
    event::Event,
    gate::Policy,
    prompt::Wishes,
    say::{answer::SummaryPlace, summary::RunLink},
};
use fro_github::Address;
use fro_memory::{Retention, StoreSettings};
use fro_run::{
    Admission, Card, Ending, Occasion, Process, ProgressPlace, ReviewSettings, Settings, ShareSettings,
    Sharing, Tell,
};
use fro_sim::World;
use jiff::Timestamp;
use tempfile::TempDir;

use crate::{
    action,
    demo::{
        cast::{Cast, Choice},
        show::DemoScreen,
    },
    env::Env,
    interrupt::{self, Interrupt},
    settings::{own_program, scratch, tool_cache},
};

/// What can be asked of the demo.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Leave the simulated GitHub, or Discord, open afterwards, as a web page
    #[arg(long)]
    keep: bool,
    /// Play Discord instead: a question in a channel, one more in its thread, and an issue on GitHub where both are
    /// remembered
    #[arg(long, conflicts_with_all = ["model", "review"])]
    discord: bool,
    /// Play the reviewer instead: three pushes to a pull request, and an objection in between
    #[arg(long, conflicts_with = "model")]
    review: bool,
    /// The port of the simulated GitHub; a free one if not given
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    #[command(flatten)]
    choice: Choice,
}

const NEXT: [&str; 4] = [
    "  fro-bot demo --keep      leaves it open, to be looked at in a browser",
    "  fro-bot demo --review    plays the reviewer on a pull request",
    "  fro-bot demo --discord   plays a channel on Discord",
    "  fro-bot init             writes the workflow for a repository of yours",
];

/// Says what can be tried next, but for what has just been played.
fn next(played: Option<&str>) -> String {
    let is_new = |line: &&str| played.is_none_or(|played| !line.contains(played));
    let lines: Vec<&str> = NEXT.into_iter().filter(is_new).collect();
    format!("\nEverything is closed again. Next:\n{}", lines.join("\n"))
}

/// What the demo is played on. It is gone when this is dropped.
struct Stage {
    world: World,
    garden: PathBuf,
    folder: TempDir,
}

/// Plays the demo.
pub(crate) async fn main(options: &Options, env: &Env) -> Result<ExitCode, Fault> {
    let mut interrupt = Interrupt::listen()?;
    let began = Timestamp::now();
    let show = DemoScreen::new(env);
    let stage = Stage::open(options.port, env).await?;
    let cast = Cast::find(&options.choice, &stage.world, env)?;
    if options.discord {
        let settings = stage.settings(cast, env)?;
        return Box::pin(discord::main(&stage, settings, (&show, options.keep), &mut interrupt)).await;
    }
    let (page, ending) = if options.review {
        Box::pin(review(&stage, cast, (&show, env), &mut interrupt)).await?
    } else {
        Box::pin(mention(&stage, cast, (&show, env), (began, &mut interrupt))).await?
    };
    show.done();
    if ending == Ending::Interrupted {
        println!("interrupted; nothing is left behind");
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    show.times();
    if options.keep {
        println!("\nThe simulated GitHub stays open until Ctrl-C:\n  {page}");
        interrupt.asked().await;
    } else {
        println!("{}", next(options.review.then_some("--review")));
    }
    Ok(action::exit_code(&ending))
}

/// Plays a mention, and shows the answer.
async fn mention(
    stage: &Stage,
    cast: Cast,
    (show, env): (&DemoScreen, &Env),
    (began, interrupt): (Timestamp, &mut Interrupt),
) -> Result<(String, Ending), Fault> {
    let request = garden::ask(&stage.world)?;
    let page = stage.world.page_url(request.issue);
    if cast.model.is_none() {
        garden::rehearse(&stage.world.model());
    }
    show.opening(("GitHub", &page), "a mention on octo/garden, answered", &cast.announced());
    let process = Process::new(stage.settings(cast, env)?);
    process.agent.settings.models()?;
    let occasion = stage.occasion(request.event, began);
    let tell = |news| show.tell(&news);
    let ending = Box::pin(play(&process, &occasion, &tell, interrupt)).await.inspect_err(|_| show.done())?;
    if ending != Ending::Interrupted {
        show.comment(&garden::answer(&stage.world, request.issue)?);
    }
    Ok((page, ending))
}

/// Plays a pull request and its reviewer.
async fn review(
    stage: &Stage,
    cast: Cast,
    (show, env): (&DemoScreen, &Env),
    interrupt: &mut Interrupt,
) -> Result<(String, Ending), Fault> {
    let page = stage.world.page_url(review::PULL);
    show.opening(("GitHub", &page), "a pull request on octo/garden, reviewed", &cast.announced());
    let settings = Settings { policy: review::policy(), ..stage.settings(cast, env)? };
    let process = Process::new(settings);
    let ending = review::review(stage, &process, show, interrupt).await.inspect_err(|_| show.done())?;
    Ok((page, ending))
}

/// Answers the request. The garden has no settings of its own.
async fn play(
    process: &Process,
    occasion: &Occasion,
    tell: Tell<'_>,
    interrupt: &mut Interrupt,
) -> Result<Ending, Fault> {
    match fro_run::admit(process, occasion, tell, interrupt.asked()).await? {
        Admission::Ended(ending) => Ok(ending),
        Admission::Admitted(admitted) => {
            Box::pin(admitted.answer(process, occasion, tell, interrupt.asked())).await
        }
    }
}

impl Stage {
    async fn open(port: Option<u16>, env: &Env) -> Result<Self, Fault> {
        let folder = tempfile::Builder::new().prefix("fro-bot-demo-").tempdir_in(scratch(env));
        let folder =
            folder.map_err(|error| Fault::in_temporary_folder("cannot make a temporary folder", &error))?;
        let world = open_world(port).await?;
        garden::make_bot(&world);
        let garden = garden::plant(folder.path()).await?;
        Ok(Self { world, garden, folder })
    }

    fn occasion(&self, event: Event, began: Timestamp) -> Occasion {
        Occasion {
            audience: event.audience(),
            event,
            run: RunLink { id: "demo".to_owned(), url: None },
            action: None,
            run_page: None,
            checkout: self.garden.clone(),
            git_ref: Some("main".to_owned()),
            job_began: None,
            began,
            requested: began,
            seed: u64::from(began.subsec_nanosecond().unsigned_abs()),
        }
    }

    fn settings(&self, cast: Cast, env: &Env) -> Result<Settings, Fault> {
        Ok(Settings {
            agent: self.engines(cast, env)?,
            policy: Policy { mention: Login::new(garden::BOT), ..Policy::usual() },
            wishes: Wishes::default(),
            output: None,
            summary: SummaryPlace::default(),
            progress: ProgressPlace::default(),
            share: ShareSettings { sharing: Sharing::Never, host: String::new(), card: Card::Link },
            review: ReviewSettings::default(),
        })
    }

    fn engines(&self, cast: Cast, env: &Env) -> Result<fro_agent::Settings, Fault> {
        Ok(fro_agent::Settings {
            github: Address {
                api: self.world.api_url(),
                graphql: self.world.graphql_url(),
                web: self.world.api_url(),
                stores: Vec::new(),
            },
            server: self.world.api_url(),
            client: cast.client,
            token: Secret::new(self.world.token(garden::BOT)),
            hidden: env.credentials(),
            elevated: Elevated::None,
            delegation: Delegation::default(),
            engine: EngineSettings {
                tool_cache: tool_cache(env),
                program: own_program()?,
                environment: env.all().to_vec(),
                keys: cast.keys,
                pause: fro_core::conversation::again::PAUSE,
                model: cast.model,
                timeout: Some(Duration::from_mins(5)),
                ..EngineSettings::pinned(cast.config)
            },
            memory: StoreSettings::folder(self.folder.path().join("memory")),
            retention: Retention::default(),
            scratch: self.folder.path().to_owned(),
        })
    }
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
