//! Pages of the public web, read by the harness for a model that may ask for them.
//!
//! A name is looked up once and the connection goes to what was found: an answer that changes in between changes nothing.
//! Every redirect is a new question. Nothing in a private network is met, whatever the address looks like.

use std::{net::SocketAddr, time::Duration};

use bytes::BytesMut;
use fro_http::{Client, ClientSettings, Incoming, Proxy, Retry, Url};
use tokio::{net::lookup_host, time::timeout};

use crate::egress::is_private;

/// How long one page may take, redirects included.
const PATIENCE: Duration = Duration::from_secs(20);

/// Redirects that are followed.
const MOST_HOPS: usize = 5;

/// Bytes that are read of a page; the rest is left.
const LARGEST: usize = 1 << 20;

/// Letters of an address: a long one carries something out.
const LONGEST: usize = 1_000;

/// Reads pages.
#[derive(Debug, Clone)]
pub struct Web {
    settings: ClientSettings,
    admits: fn(SocketAddr) -> bool,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Where it was found in the end.
    pub url: String,
    /// What kind of text it is, as its server says.
    pub kind: String,
    /// What it says.
    pub text: String,
}

/// A page that is not read, and why; the complaint is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageRefusal {
    /// The text is not the address of a page.
    #[error(
        "`{0}` is no address of a page: write it out, with `https://`, without a name or a password in it"
    )]
    BadAddress(String),
    /// The address leads into a private network.
    #[error("`{0}` does not lead to the public web, so it is not read")]
    Private(String),
    /// The name leads nowhere.
    #[error("`{0}` cannot be found")]
    Unknown(String),
    /// The server says no.
    #[error("`{host}` answers with status {status}")]
    Refused {
        /// The host.
        host: String,
        /// What it says.
        status: u16,
    },
    /// The page redirects too often.
    #[error("`{0}` leads from one place to another without an end")]
    Circle(String),
    /// The page is not text.
    #[error("`{host}` answers with `{kind}`, which is no text")]
    NoText {
        /// The host.
        host: String,
        /// What it is.
        kind: String,
    },
    /// Nothing came.
    #[error("`{0}` did not answer as it should")]
    Broken(String),
}

impl Web {
    /// Reads what anybody could read. What the operator says of certificates counts; a proxy is not gone through, since
    /// nobody could tell what lies behind it.
    pub fn public(settings: &ClientSettings) -> Self {
        let admits = |address: SocketAddr| !is_private(address.ip()) && matches!(address.port(), 80 | 443);
        Self { settings: settings.clone(), admits }
    }

    /// Reads a page.
    pub async fn page(&self, url: &str) -> Result<Page, PageRefusal> {
        let asked = parsed(url)?;
        let host = named(&asked);
        timeout(PATIENCE, self.follow(asked)).await.unwrap_or(Err(PageRefusal::Broken(host)))
    }

    async fn follow(&self, mut url: Url) -> Result<Page, PageRefusal> {
        for _ in 0..=MOST_HOPS {
            let host = named(&url);
            let answer = self.knock(&url).await?;
            match (answer.status(), answer.header("location")) {
                (300..400, Some(to)) => {
                    let to = url.join(to).map_err(|_| PageRefusal::Broken(host))?;
                    url = parsed(to.as_str())?;
                }
                (200..300, _) => return read(&url, answer).await,
                (status, _) => return Err(PageRefusal::Refused { host, status }),
            }
        }
        Err(PageRefusal::Circle(named(&url)))
    }

    /// Asks once, where the name led when it was looked up.
    async fn knock(&self, url: &Url) -> Result<Incoming, PageRefusal> {
        let (host, broken) = (named(url), || PageRefusal::Broken(named(url)));
        let port = url.port_or_known_default().ok_or_else(broken)?;
        let name = url.host_str().ok_or_else(broken)?;
        let found = lookup_host((name.trim_matches(['[', ']']), port)).await;
        let found = found.map_err(|_| PageRefusal::Unknown(host.clone()))?;
        let addresses: Vec<SocketAddr> = found.filter(|address| (self.admits)(*address)).collect();
        if addresses.is_empty() {
            return Err(PageRefusal::Private(host));
        }
        let settings = ClientSettings {
            proxy: Proxy::None,
            retry: Retry::never(),
            timeout: PATIENCE,
            pinned: Some((name.to_owned(), addresses)),
            ..self.settings.clone()
        };
        let client = Client::new(settings).map_err(|_| broken())?;
        client.get(url).relay().await.map_err(|_| broken())
    }
}

fn parsed(url: &str) -> Result<Url, PageRefusal> {
    let bad = || PageRefusal::BadAddress(url.chars().take(100).collect());
    let parsed = Url::parse(url.trim()).map_err(|_| bad())?;
    let is_web = matches!(parsed.scheme(), "http" | "https");
    let is_plain = parsed.username().is_empty() && parsed.password().is_none();
    if is_web && is_plain && parsed.has_host() && url.len() <= LONGEST { Ok(parsed) } else { Err(bad()) }
}

fn named(url: &Url) -> String {
    url.host_str().unwrap_or_default().chars().take(100).collect()
}

async fn read(url: &Url, mut answer: Incoming) -> Result<Page, PageRefusal> {
    let host = named(url);
    let kind = answer.header("content-type").unwrap_or("text/plain").to_ascii_lowercase();
    let is_text = kind.starts_with("text/") || ["json", "xml"].iter().any(|form| kind.contains(form));
    if !is_text {
        return Err(PageRefusal::NoText { host, kind: kind.chars().take(100).collect() });
    }
    let mut body = BytesMut::new();
    while body.len() < LARGEST {
        let Some(piece) = answer.chunk().await.map_err(|_| PageRefusal::Broken(host.clone()))? else { break };
        body.extend_from_slice(&piece);
    }
    body.truncate(LARGEST);
    Ok(Page { url: url.to_string(), kind, text: String::from_utf8_lossy(&body).into_owned() })
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// Answers everybody on an address with the same bytes.
    async fn serve(address: &str, answer: String) -> SocketAddr {
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        let place = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut asked = [0; 4096];
                drop(stream.read(&mut asked).await);
                drop(stream.write_all(answer.as_bytes()).await);
            }
        });
        place
    }

    fn answer(status: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}")
    }

    /// Takes one address of this machine for the public web, and all others for private ones.
    fn little_web() -> Web {
        let admits = |address: SocketAddr| address.ip().to_string() == "127.0.0.1";
        Web { settings: ClientSettings::loopback(), admits }
    }

    #[tokio::test]
    async fn a_page_is_read_wherever_it_has_moved_to() {
        let page = serve("127.0.0.1", answer("200 OK", "content-type: text/html\r\n", "<p>Seals</p>")).await;
        let moved =
            serve("127.0.0.1", answer("302 Found", &format!("location: http://{page}/new\r\n"), "")).await;
        let read = little_web().page(&format!("http://{moved}/old")).await.unwrap();
        let (url, kind) = (format!("http://{page}/new"), "text/html".to_owned());
        assert_eq!(read, Page { url, kind, text: "<p>Seals</p>".to_owned() });
    }

    #[tokio::test]
    async fn a_redirect_into_a_private_network_is_not_followed() {
        let private = serve("127.0.0.2", answer("200 OK", "", "secret")).await;
        let moved =
            serve("127.0.0.1", answer("307 Moved", &format!("location: http://{private}/\r\n"), "")).await;
        let refused = little_web().page(&format!("http://{moved}/")).await.unwrap_err();
        assert_eq!(refused, PageRefusal::Private("127.0.0.2".to_owned()));
    }

    #[tokio::test]
    async fn what_is_no_page_of_the_public_web_is_refused() {
        let web = Web::public(&ClientSettings::loopback());
        let mut told = Vec::new();
        for url in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::ffff:10.0.0.1]/",
            "http://169.254.169.254/latest/meta-data/",
            "http://localhost/",
            "http://8.8.8.8:22/",
            "https://maya:secret@example.org/",
            "file:///etc/passwd",
            "nonsense",
        ] {
            told.push(format!("{url}: {}", web.page(url).await.unwrap_err()));
        }
        let long = format!("https://example.org/?q={}", "x".repeat(LONGEST));
        assert!(matches!(web.page(&long).await, Err(PageRefusal::BadAddress(_))));
        insta::assert_snapshot!(told.join("\n"));
    }

    #[tokio::test]
    async fn bounds_hold_whatever_a_server_does() {
        let large = serve("127.0.0.1", answer("200 OK", "", &"x".repeat(LARGEST + 9))).await;
        let read = little_web().page(&format!("http://{large}/")).await.unwrap();
        assert_eq!(read.text.len(), LARGEST);
        let picture = serve("127.0.0.1", answer("200 OK", "content-type: image/png\r\n", "x")).await;
        let told = |error: PageRefusal| error.to_string();
        let page = little_web().page(&format!("http://{picture}/")).await.unwrap_err();
        assert_eq!(told(page), "`127.0.0.1` answers with `image/png`, which is no text");
        let gone = serve("127.0.0.1", answer("404 Not Found", "", "")).await;
        let page = little_web().page(&format!("http://{gone}/")).await.unwrap_err();
        assert_eq!(told(page), "`127.0.0.1` answers with status 404");
        let circle = serve("127.0.0.1", answer("302 Found", "location: /\r\n", "")).await;
        let page = little_web().page(&format!("http://{circle}/")).await.unwrap_err();
        assert_eq!(told(page), "`127.0.0.1` leads from one place to another without an end");
    }
}
