//! What somebody typed, read before it stands in a file that GitHub takes for YAML.

use fro_core::{
    Fault,
    workflow::{ACTION, Kind},
};

use super::MODEL;

/// Reads a list of triggers.
pub(super) fn kinds(list: &str) -> Result<Vec<Kind>, Fault> {
    if list == "all" {
        return Ok(Kind::ALL.to_vec());
    }
    let kind = |name: &str| {
        let unknown = || {
            let hint = format!("say `all`, or some of: {}", super::names(&Kind::ALL));
            Fault::yours(format!("there is no trigger `{name}`"), hint)
        };
        Kind::named(name).ok_or_else(unknown)
    };
    list.split(',').map(str::trim).map(kind).collect()
}

/// Reads the name of a model.
pub(super) fn model(text: &str) -> Result<String, Fault> {
    let whole = text.split_once('/').is_some_and(|(provider, name)| !provider.is_empty() && !name.is_empty());
    if !whole {
        let hint = format!("write it as `provider/model`, such as `{MODEL}`");
        return Err(Fault::yours(format!("`{text}` does not name a model"), hint));
    }
    plain("model", text)
}

/// Reads the name of an action with its ref.
pub(super) fn action(text: &str) -> Result<String, Fault> {
    let parts = text.split_once('@').filter(|(name, at)| name.contains('/') && !at.is_empty());
    let Some((name, at)) = parts else {
        let hint = format!("write it as `owner/name@ref`, such as `{ACTION}`");
        return Err(Fault::yours(format!("`{text}` does not name an action"), hint));
    };
    Ok(format!("{}@{}", plain("action", name)?, plain("action's ref", at)?))
}

/// Reads a word that means itself in YAML and in a shell.
pub(super) fn plain(what: &str, text: &str) -> Result<String, Fault> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:".contains(letter);
    if text.chars().all(is_plain) && !text.ends_with(':') {
        return Ok(text.to_owned());
    }
    let hint = "letters, digits, `-`, `_`, `.`, `/` and `:` are fine";
    Err(Fault::yours(format!("the {what} `{}` has other letters in it", text.escape_default()), hint))
}
