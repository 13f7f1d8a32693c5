//! A run in an office: whatever leaves the machine goes through a proxy that shows certificates of the office's own.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener as Listener},
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
    thread,
};

use fro_stories::{Mention, Sim, tool_cache};
use fs_err::os::unix::fs::symlink;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer},
    },
};

/// The proxy, which knows these hosts alone.
pub(crate) struct Office {
    pub(crate) proxy: String,
    /// The file with the office's own authority.
    pub(crate) authority: PathBuf,
    visited: Arc<Mutex<BTreeSet<String>>>,
}

impl Office {
    pub(crate) async fn open(folder: &Path, hosts: &[(&'static str, u16)]) -> Self {
        let hosts: BTreeMap<_, _> = hosts.iter().copied().collect();
        let (authority, config) = certificates(hosts.keys().copied());
        let file = folder.join("office.pem");
        fs_err::write(&file, authority).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let proxy = format!("http://{}", listener.local_addr().unwrap());
        let visited = Arc::<Mutex<BTreeSet<String>>>::default();
        let (seen, acceptor) = (Arc::clone(&visited), TlsAcceptor::from(Arc::new(config)));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (seen, acceptor, hosts) = (Arc::clone(&seen), acceptor.clone(), hosts.clone());
                // Who breaks a connection off has its reasons; what counts is what the run came to.
                tokio::spawn(async move { pass(stream, &hosts, &acceptor, &seen).await });
            }
        });
        Self { proxy, authority: file, visited }
    }

    /// Returns the hosts that were asked for, and everything that was not a question for a host.
    pub(crate) fn visited(&self) -> Vec<String> {
        self.visited.lock().unwrap().iter().cloned().collect()
    }

    /// Puts a run into the office. That loopback is met directly is nothing that anybody has to say.
    fn around<'a>(&self, sim: &'a Sim, mention: Mention<'a>) -> Mention<'a> {
        let graphql = sim.world().graphql_url().replace(&sim.world().api_url(), "https://api.garden.example");
        let models = sim.model().base_url();
        let config = sim.model().provider().to_string().replace(&models, "https://models.garden.example/v1");
        mention
            .variable("HTTP_PROXY", &self.proxy)
            .variable("HTTPS_PROXY", &self.proxy)
            .variable("GITHUB_API_URL", "https://api.garden.example")
            .variable("GITHUB_GRAPHQL_URL", graphql)
            .variable("GITHUB_SERVER_URL", "https://garden.example")
            .variable("npm_config_registry", "https://packages.garden.example/")
            .variable("npm_config_fetch_retries", "0")
            // A machine's own settings may name authorities that npm trusts instead.
            .variable("npm_config_globalconfig", "/dev/null")
            .variable("INPUT_OPENCODE-CONFIG", config)
    }
}

/// Makes an authority, and the certificate that it gives to these hosts.
fn certificates<'a>(hosts: impl Iterator<Item = &'a str>) -> (String, ServerConfig) {
    let mut about = CertificateParams::new([]).unwrap();
    about.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    about.distinguished_name.push(DnType::CommonName, "The office");
    let key = KeyPair::generate().unwrap();
    let authority = about.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(about, key);
    let key = KeyPair::generate().unwrap();
    let names: Vec<_> = hosts.map(str::to_owned).collect();
    let shown = CertificateParams::new(names).unwrap().signed_by(&key, &issuer).unwrap();
    let shown: Vec<CertificateDer<'static>> = vec![shown.der().clone()];
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(shown, PrivateKeyDer::Pkcs8(key.serialize_der().into()));
    (authority, config.unwrap())
}

/// Takes one connection in and, if it asks for a host that is known, opens it and passes it on.
async fn pass(
    mut stream: TcpStream,
    hosts: &BTreeMap<&'static str, u16>,
    acceptor: &TlsAcceptor,
    visited: &Mutex<BTreeSet<String>>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let line = head.lines().next().unwrap_or_default();
    let host = line.strip_prefix("CONNECT ").and_then(|rest| rest.split(':').next()).unwrap_or(line);
    visited.lock().unwrap().insert(host.to_owned());
    let Some(port) = hosts.get(host) else {
        return stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await;
    };
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    let mut inside = acceptor.accept(stream).await?;
    let mut outside = TcpStream::connect((Ipv4Addr::LOCALHOST, *port)).await?;
    copy_bidirectional(&mut inside, &mut outside).await.map(drop)
}

/// Opens a registry that has the search tool, as it was published, and returns its port.
fn registry(folder: &Path, version: &str) -> u16 {
    const NAME: &str = "@vscode/ripgrep-linux-x64";
    let packed = Command::new("npm")
        .args(["pack", "--silent", &format!("{NAME}@{version}")])
        .current_dir(folder)
        .output();
    let packed = String::from_utf8(packed.unwrap().stdout).unwrap();
    let packed = fs_err::read(folder.join(packed.trim())).unwrap();
    let dist = json!({ "tarball": "https://packages.garden.example/packed.tgz" });
    let about = json!({
        "name": NAME,
        "dist-tags": { "latest": version },
        "versions": { version: { "name": NAME, "version": version, "dist": dist } },
    });
    let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 65_536];
            let length = stream.read(&mut request).unwrap_or_default();
            let is_packed = request[..length].starts_with(b"GET /packed.tgz");
            let body = if is_packed { packed.clone() } else { about.to_string().into_bytes() };
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            // Who has gone needs no answer.
            drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)));
        }
    });
    port
}

#[tokio::test]
async fn a_run_reaches_all_it_needs_through_the_proxy_and_trusts_the_office() {
    let sim = Sim::cloned().await;
    let tools = sim.folder().join("tools");
    fs_err::create_dir(&tools).unwrap();
    for tool in ["opencode", "opencode-baseline"] {
        symlink(tool_cache().join(tool), tools.join(tool)).unwrap();
    }
    let version =
        fs_err::read_dir(tool_cache().join("ripgrep")).unwrap().next().unwrap().unwrap().file_name();
    let packages = registry(sim.folder(), version.to_str().unwrap());
    let (github, models) = (sim.world().port(), sim.model().port());
    let hosts = [
        ("api.garden.example", github),
        ("garden.example", github),
        ("models.garden.example", models),
        ("packages.garden.example", packages),
    ];
    let office = Office::open(sim.folder(), &hosts).await;
    let fix = || {
        office.around(&sim, sim.mention("@fro-bot fix it")).variable("RUNNER_TOOL_CACHE", tools.as_os_str())
    };

    let run = fix().run().await;
    assert_eq!((run.code, run.answers.len()), (Some(2), 0), "{run}");
    assert!(run.log_and_errors().contains("invalid peer certificate: UnknownIssuer"), "{run}");
    assert!(
        run.log_and_errors().contains("name the certificate authority that vouches for this server"),
        "{run}"
    );

    let push = "echo '// mended' >> tap.rs && git commit -qam 'Mend the tap' && git push origin HEAD 2>&1";
    sim.model().calls("bash", json!({ "command": push, "description": "Mends" }));
    sim.model().says("Mended.");
    let run = fix().variable("NODE_EXTRA_CA_CERTS", office.authority.as_os_str()).run().await;
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.only_comment().contains("I opened #4 from `opencode/issue1-"), "{run}");
    assert_eq!(office.visited(), hosts.map(|(host, _)| host), "{run}");
    assert!(tools.join("ripgrep").join(version).join("x64.complete").exists());
    sim.finish().await;
}
