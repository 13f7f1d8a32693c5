//! Installations: the pinned bytes or nothing, told as it goes.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::State,
    http::Uri,
    response::{IntoResponse as _, Response},
};
use data_encoding::BASE64;
use fro_http::{Client, ClientSettings, Retry};
use fro_opencode::{
    Engine, Error, InstallProgress, Platform, Stage, ToolCache, VERSION, Vectors, Wanted, install,
};
use fro_sim::ClaimedPort;
use futures::{StreamExt as _, stream};
use insta::assert_snapshot;
use serde_json::json;
use sha2::{Digest as _, Sha512};
use tokio::net::TcpListener;

use crate::world::{engine, environment, run, until};

/// A registry that has every package, each with the same bytes in it.
struct Registry {
    url: String,
    downloads: Arc<AtomicUsize>,
}

#[derive(Clone)]
enum Parcel {
    /// Bytes that are not what was published.
    Wrong,
    /// A beginning, and then nothing more.
    Endless,
}

impl Registry {
    async fn with(archive: Parcel) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let downloads = Arc::new(AtomicUsize::new(0));
        let state = (url.clone(), archive, Arc::clone(&downloads));
        let router = Router::new().fallback(serve).with_state(state);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, downloads }
    }

    fn setting(&self) -> (OsString, OsString) {
        ("npm_config_registry".into(), self.url.clone().into())
    }
}

async fn serve(
    State((base, archive, downloads)): State<(String, Parcel, Arc<AtomicUsize>)>,
    uri: Uri,
) -> Response {
    let wrong = Bytes::from_static(b"these are not the bytes that you are looking for");
    if uri.path().contains("/archive/") {
        downloads.fetch_add(1, Ordering::SeqCst);
        return match archive {
            Parcel::Wrong => wrong.into_response(),
            Parcel::Endless => {
                let first = stream::iter([Ok::<_, std::io::Error>(wrong)]);
                Body::from_stream(first.chain(stream::pending())).into_response()
            }
        };
    }
    let name = uri.path().trim_matches('/').split('/').next().unwrap().to_owned();
    let integrity = format!("sha512-{}", BASE64.encode(&Sha512::digest(&wrong)));
    let dist = json!({ "tarball": format!("{base}/archive/{name}"), "integrity": integrity });
    let version = json!({ "name": name, "version": VERSION, "dist": dist });
    let versions = json!({ VERSION: version });
    Json(json!({ "name": name, "versions": versions, "dist-tags": { "latest": VERSION }, "dist": dist }))
        .into_response()
}

/// An environment in which there is no npm client.
fn without_npm() -> Vec<(OsString, OsString)> {
    let nowhere = ["PATH", "HOME", "npm_config_globalconfig"];
    nowhere.map(|name| (name.into(), "/nowhere".into())).into()
}

fn wanted(environment: Vec<(OsString, OsString)>) -> Wanted {
    let settings = ClientSettings { retry: Retry::never(), ..ClientSettings::default() };
    Wanted::pinned(environment, Client::new(settings).unwrap())
}

async fn try_install(wanted: &Wanted, cache: &Path) -> Error {
    install(wanted, &ToolCache::new(cache), &mut |_| {}).await.unwrap_err()
}

/// What a person is told of an error, with what depends on the machine taken out.
fn describe(error: &Error, machine: &[(&str, &str)]) -> String {
    let fault = error.fault();
    let told = format!("{}\nhint: {}\nexit code {}", fault.what(), fault.hint(), fault.exit_code());
    machine.iter().fold(told, |told, (from, to)| told.replace(from, to))
}

/// Everything in a cache but the empty folders and locks.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => files(&path),
        path => vec![path],
    });
    files.filter(|path| path.extension().is_none_or(|end| end != "lock")).collect()
}

#[test]
fn two_at_once_download_once_and_tell_how_far_they_are() {
    run(async || {
        let folder = tempfile::tempdir().unwrap();
        let (wanted, cache) = (wanted(environment()), ToolCache::new(folder.path()));
        let (mut one, mut two) = (Vec::new(), Vec::new());
        let mut tell_one = |progress: InstallProgress| one.push(progress);
        let mut tell_two = |progress: InstallProgress| two.push(progress);
        let (first, second) =
            tokio::join!(install(&wanted, &cache, &mut tell_one), install(&wanted, &cache, &mut tell_two));

        let engine = first.unwrap();
        assert_eq!(second.unwrap(), engine);
        let home = folder.path().join("opencode").join(VERSION);
        assert_eq!(engine.binary, home.join("x64/opencode"));
        assert!(home.join("x64.complete").exists());
        assert_eq!(files(folder.path()).len(), 4);

        let busy = |told: &[InstallProgress]| {
            told.iter().any(|progress| progress.what == "opencode" && progress.stage != Stage::Ready)
        };
        assert_eq!(usize::from(busy(&one)) + usize::from(busy(&two)), 1);
        let downloads: Vec<_> = [one, two].concat();
        let sizes: Vec<_> = downloads
            .iter()
            .filter_map(|progress| match progress {
                InstallProgress { what: "opencode", stage: Stage::Downloading { done, total } } => {
                    Some((*done, *total))
                }
                _ => None,
            })
            .collect();
        assert!(sizes.is_sorted() && sizes.iter().all(|(done, total)| done <= total), "{sizes:?}");
        assert!(sizes.iter().any(|(done, _)| *done > 1_000_000), "{sizes:?}");
    });
}

#[test]
fn what_is_installed_is_found_at_once_without_npm_and_without_a_registry() {
    run(async || {
        let installed = engine().await;
        let root = installed.binary.ancestors().nth(4).unwrap();
        let mut told = Vec::new();
        let found =
            install(&wanted(without_npm()), &ToolCache::new(root), &mut |progress| told.push(progress)).await;

        assert_eq!(found.unwrap(), installed);
        assert_eq!(told.iter().map(|progress| progress.stage).collect::<Vec<_>>(), [Stage::Ready; 2]);
    });
}

#[test]
fn a_corrupt_download_is_not_installed_by_npm_nor_without_it() {
    run(async || {
        let registry = Registry::with(Parcel::Wrong).await;
        let folder = tempfile::tempdir().unwrap();
        let mut with_npm = environment();
        with_npm.push(registry.setting());
        let mut without_npm = without_npm();
        without_npm.push(registry.setting());
        let by_npm = try_install(&wanted(with_npm), folder.path()).await;
        let by_us = try_install(&wanted(without_npm), folder.path()).await;

        assert_snapshot!(describe(&by_npm, &[]), @"
        the download of opencode-linux-x64@1.18.33 is corrupt: its SHA-512 is RzUarcd8ZPjhDx0zltgRrNlcvh6xGrxwml8GKa4pvw3I3ci1r1pqPF5KJgcQHdh4J2fBzL5fPGZ9VDRCh8ov0g==, not q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==
        hint: nothing was installed; try again, and if it stays so, see which proxy or registry changes packages
        exit code 2
        ");
        assert_eq!(describe(&by_us, &[]), describe(&by_npm, &[]));
        assert_eq!(registry.downloads.load(Ordering::SeqCst), 2);
        assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
    });
}

#[test]
fn without_npm_and_without_a_registry_the_next_step_is_told() {
    run(async || {
        let folder = tempfile::tempdir().unwrap();
        let error = try_install(&wanted(without_npm()), folder.path()).await;
        assert_snapshot!(describe(&error, &[]), @"
        cannot download opencode-linux-x64@1.18.33: there is no `npm` and no registry is configured
        hint: install Node.js, which brings `npm`, or set `npm_config_registry` to your registry
        exit code 2
        ");
    });
}

#[test]
fn a_registry_that_is_not_there_is_told() {
    run(async || {
        let folder = tempfile::tempdir().unwrap();
        let closed = ClaimedPort::find();
        let port = closed.number;
        let registry = format!("http://127.0.0.1:{port}");
        let settings = [("npm_config_registry", registry.as_str()), ("npm_config_fetch_retries", "0")];
        let settings = settings.map(|(name, value)| (name.into(), value.into()));
        let by_npm = wanted(environment().into_iter().chain(settings.clone()).collect());
        let by_us = wanted(without_npm().into_iter().chain(settings).collect());
        let machine = [(registry.as_str(), "[registry]"), (&port.to_string(), "[port]")];

        assert_snapshot!(describe(&try_install(&by_npm, folder.path()).await, &machine), @"
        `npm pack opencode-linux-x64@1.18.33` failed (exit status: 1): code ECONNREFUSED; syscall connect; errno ECONNREFUSED; FetchError: request to [registry]/opencode-linux-x64 failed, reason: connect ECONNREFUSED 127.0.0.1:[port]
        hint: try again in a few minutes
        exit code 3
        ");
        assert_snapshot!(describe(&try_install(&by_us, folder.path()).await, &machine), @"
        cannot download opencode-linux-x64@1.18.33: GET [registry]/opencode-linux-x64/1.18.33: no connection: Connection refused (os error 111)
        hint: try again in a few minutes
        exit code 3
        ");
        assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
    });
}

#[test]
fn an_interrupted_installation_leaves_nothing() {
    run(async || {
        let registry = Registry::with(Parcel::Endless).await;
        for environment in [environment(), without_npm()] {
            let folder = tempfile::tempdir().unwrap();
            let mut environment = environment;
            environment.push(registry.setting());
            let (wanted, cache) = (wanted(environment), ToolCache::new(folder.path()));
            let before = registry.downloads.load(Ordering::SeqCst);
            let mut ignore = |_| {};
            tokio::select! {
                installed = install(&wanted, &cache, &mut ignore) => panic!("{installed:?}"),
                () = until("the download began", || registry.downloads.load(Ordering::SeqCst) > before) => {}
            }
            assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
        }
    });
}

#[test]
fn a_download_that_stands_still_is_given_up() {
    run(async || {
        let registry = Registry::with(Parcel::Endless).await;
        for environment in [environment(), without_npm()] {
            let folder = tempfile::tempdir().unwrap();
            let mut wanted = wanted(environment);
            wanted.environment.push(registry.setting());
            wanted.patience = Duration::from_secs(2);
            let error = try_install(&wanted, folder.path()).await;
            assert_eq!(
                error.to_string(),
                format!("the download of opencode-linux-x64@{VERSION} made no progress for 2 s")
            );
            assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
        }
    });
}

#[test]
fn what_a_killed_installation_left_is_cleared_away() {
    run(async || {
        let folder = tempfile::tempdir().unwrap();
        let shelf = folder.path().join("opencode").join(VERSION);
        fs::create_dir_all(shelf.join(".installing-dead")).unwrap();
        fs::write(shelf.join(".installing-dead/half"), "half").unwrap();
        fs::create_dir_all(shelf.join("x64")).unwrap();
        fs::write(shelf.join("x64/opencode"), "unmarked, so never finished").unwrap();

        try_install(&wanted(without_npm()), folder.path()).await;
        assert_eq!(files(folder.path()), [shelf.join("x64/opencode")]);
    });
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    run(async || {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("opencode"), "in the way").unwrap();
        let error = try_install(&wanted(environment()), folder.path()).await;
        let machine = folder.path().to_str().unwrap();
        assert_snapshot!(describe(&error, &[(machine, "[cache]")]), @"
        cannot make the folder `[cache]/opencode/1.18.33`: Not a directory (os error 20)
        hint: see that the folder can be written and has room
        exit code 2
        ");
    });
}

#[test]
fn a_machine_without_a_pin_gets_nothing_unverified() {
    run(async || {
        let folder = tempfile::tempdir().unwrap();
        let mut wanted = wanted(environment());
        wanted.platform = Platform { os: "linux", arch: "aarch64", vectors: Vectors::Baseline };
        let error = try_install(&wanted, folder.path()).await;
        assert_snapshot!(describe(&error, &[]), @"
        no OpenCode is pinned for linux on aarch64
        hint: run this on Linux with an x86-64 processor
        exit code 2
        ");
    });
}

#[test]
fn the_engine_is_the_one_that_is_pinned() {
    run(async || {
        let Engine { binary, rg, version } = engine().await;
        let says = |program: &Path| {
            let output = std::process::Command::new(program).arg("--version").output().unwrap();
            String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned()
        };
        assert_eq!((says(&binary), version), (VERSION.to_owned(), VERSION.to_owned()));
        assert!(says(&rg).starts_with("ripgrep 15."), "{}", says(&rg));
    });
}
