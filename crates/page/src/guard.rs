//! Who is let in: whoever asks by a name of ours and proves to be the operator. What leaves says what a browser may do with it.

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{
            AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY, WWW_AUTHENTICATE,
            X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
        },
    },
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use data_encoding::BASE64;
use fro_core::Secret;

use crate::PageSettings;

/// Nothing is loaded from elsewhere, nothing is sent elsewhere, and no script runs but ours.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const SAFE: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The names by which a server may be asked. A page of somebody else's that makes its own name mean this machine asks by
/// that name.
#[derive(Debug, Clone)]
pub struct Hosts(BTreeSet<String>);

impl Hosts {
    /// Takes the address that is listened at, which on this machine has other names, and names that a proxy asks by.
    pub fn at(address: SocketAddr, others: impl IntoIterator<Item = String>) -> Self {
        let port = address.port();
        let local = ["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}"));
        let others = others.into_iter().map(|name| name.to_ascii_lowercase());
        Self(local.into_iter().chain([address.to_string()]).chain(others).collect())
    }

    fn has(&self, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(HOST).into_iter();
        let (Some(Ok(name)), None) = (named.next().map(HeaderValue::to_str), named.next()) else {
            return false;
        };
        self.0.contains(&name.to_ascii_lowercase())
    }
}

/// Lets whoever may look pass.
pub(crate) async fn admit(State(page): State<Arc<PageSettings>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let mut response = if !page.hosts.has(headers) {
        let why = "this page is asked for by a name that is not its own; `--page-host` adds one\n";
        (StatusCode::MISDIRECTED_REQUEST, why).into_response()
    } else if !is_operator(headers, &page.token) {
        let ask = [(WWW_AUTHENTICATE, "Basic realm=\"fro-bot\", charset=\"UTF-8\"")];
        (StatusCode::UNAUTHORIZED, ask, "the password is the page's token; any name does\n").into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    for (name, value) in SAFE {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Tells whether a request has the token, as a password of any name or as a bearer.
fn is_operator(headers: &HeaderMap, token: &Secret) -> bool {
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(password);
    // Hashes are compared in a time that tells nothing of where they differ.
    given.is_some_and(|given| blake3::hash(given.as_bytes()) == blake3::hash(token.expose().as_bytes()))
}

fn password(header: &str) -> Option<String> {
    let (scheme, rest) = header.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    let decoded =
        BASE64.decode(rest.trim().as_bytes()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    Some(String::from_utf8(decoded).ok()?.split_once(':')?.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_asked_for_by_its_own_names_only() {
        let hosts = Hosts::at("127.0.0.1:8123".parse().unwrap(), ["Fro.example.org".to_owned()]);
        let check = |names: &[&str], expect: bool| {
            let mut headers = HeaderMap::new();
            for name in names {
                headers.append(HOST, name.parse().unwrap());
            }
            assert_eq!(hosts.has(&headers), expect, "{names:?}");
        };
        check(&["127.0.0.1:8123"], true);
        check(&["LOCALHOST:8123"], true);
        check(&["fro.example.org"], true);
        check(&["127.0.0.1:8124"], false);
        check(&["127.0.0.1"], false);
        check(&["evil.example:8123"], false);
        check(&["127.0.0.1:8123.evil.example"], false);
        check(&["127.0.0.1:8123", "evil.example"], false);
        check(&[], false);
    }

    #[test]
    fn the_token_is_a_password_or_a_bearer_and_nothing_else_is() {
        let token = Secret::new("planted-token");
        let basic = |text: &str| format!("Basic {}", BASE64.encode(text.as_bytes()));
        let check = |header: &str, expect: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, header.parse().unwrap());
            assert_eq!(is_operator(&headers, &token), expect, "{header}");
        };
        check("Bearer planted-token", true);
        check("bearer  planted-token", true);
        check(&basic("anybody:planted-token"), true);
        check(&basic(":planted-token"), true);
        check(&basic("planted-token:"), false);
        check(&basic("planted-token"), false);
        check(&basic("a:planted-toke"), false);
        check("Bearer ", false);
        check("Bearer planted-token-and-more", false);
        check("Basic planted-token", false);
        check("planted-token", false);
        assert!(!is_operator(&HeaderMap::new(), &token));
    }
}
