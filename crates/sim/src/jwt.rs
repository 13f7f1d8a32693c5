//! The tokens that apps sign themselves, really verified.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use jiff::Timestamp;
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    problem::Problem,
    state::{App, State},
};

/// An app's token may live so many seconds.
const LONGEST_LIFE: i64 = 600;
/// Clocks differ by so many seconds.
const LEEWAY: i64 = 60;

#[derive(Deserialize)]
struct Header {
    alg: String,
}

#[derive(Deserialize)]
struct Claims {
    iat: i64,
    exp: i64,
    /// The app's id, as a number or as a text, or its client id.
    iss: Value,
}

/// Finds the app that signed a token, or says in GitHub's words what is wrong with it.
pub(crate) fn signer<'a>(state: &'a State, token: &str, now: Timestamp) -> Result<&'a App, Problem> {
    let undecodable = || Problem::unauthorized("A JSON web token could not be decoded");
    let (signed, signature) = token.rsplit_once('.').ok_or_else(undecodable)?;
    let (header, claims) = signed.split_once('.').ok_or_else(undecodable)?;
    let header: Header = part(header).ok_or_else(undecodable)?;
    let claims: Claims = part(claims).ok_or_else(undecodable)?;
    let issuer = claims.iss.as_str().map_or_else(|| claims.iss.to_string(), str::to_owned);
    let app = state.apps.iter().find(|app| app.id.to_string() == issuer || app.client_id() == issuer);
    let app = app.ok_or_else(|| Problem::missing("Integration not found"))?;
    let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).map_err(|_| undecodable())?;
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &app.public_key);
    if header.alg != "RS256" || key.verify(signed.as_bytes(), &signature).is_err() {
        return Err(undecodable());
    }
    let now = now.as_second();
    if claims.exp <= now {
        return Err(Problem::unauthorized(
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
        ));
    }
    if claims.exp > now + LONGEST_LIFE + LEEWAY {
        return Err(Problem::unauthorized("'Expiration time' claim ('exp') is too far in the future"));
    }
    if claims.iat > now + LEEWAY {
        return Err(Problem::unauthorized(
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
        ));
    }
    Ok(app)
}

/// Returns what verifies the signatures of a private key in PEM; nothing if it is none.
pub(crate) fn public_key(private: &str) -> Option<Vec<u8>> {
    let lines = private.lines().filter(|line| !line.starts_with("-----"));
    let der = BASE64.decode(lines.collect::<String>().as_bytes()).ok()?;
    Some(RsaKeyPair::from_der(&der).ok()?.public_key().as_ref().to_vec())
}

fn part<T: for<'a> Deserialize<'a>>(text: &str) -> Option<T> {
    serde_json::from_slice(&BASE64URL_NOPAD.decode(text.as_bytes()).ok()?).ok()
}
