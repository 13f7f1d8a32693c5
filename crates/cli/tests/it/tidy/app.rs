//! The App of `docs/app.md`: its link, its manifest and its table ask for what the code needs, no more and no less.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use serde_json::Value;

use super::source::Source;

/// Levels by the name that a manifest has for a permission.
pub(crate) type Permissions = BTreeMap<String, String>;

/// Returns what requests say that they need, such as `"issues: write"`; the higher level counts.
pub(crate) fn needed(sources: &[Source]) -> Permissions {
    static LITERAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""([a-z-]+): (read|write)""#).unwrap());
    let ours = sources.iter().filter(|source| source.path.starts_with("crates/github/src/"));
    let mut needed = Permissions::new();
    for found in ours.flat_map(|source| LITERAL.captures_iter(&source.text)) {
        let level = needed.entry(found[1].replace('-', "_")).or_default();
        *level = level.clone().max(found[2].to_owned());
    }
    needed
}

/// Returns what the link that fills in the form asks for.
pub(crate) fn of_link(page: &str) -> Permissions {
    let link = page.split("settings/apps/new?").nth(1).and_then(|rest| rest.split('>').next()).unwrap();
    let pairs = link.split('&').filter_map(|pair| pair.split_once('='));
    let levels = pairs.filter(|(_, level)| ["read", "write"].contains(level));
    levels.map(|(name, level)| (name.to_owned(), level.to_owned())).collect()
}

/// Returns what the manifest asks for.
pub(crate) fn of_manifest(page: &str) -> Permissions {
    let block = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let manifest: Value = serde_json::from_str(block).unwrap();
    serde_json::from_value(manifest["default_permissions"].clone()).unwrap()
}

/// Returns what the table explains.
pub(crate) fn of_table(page: &str) -> Permissions {
    static ROW: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^\| ([A-Z][a-z ]+): (read|write) \|").unwrap());
    let rows = ROW.captures_iter(page);
    rows.map(|row| (row[1].to_lowercase().replace(' ', "_"), row[2].to_owned())).collect()
}
