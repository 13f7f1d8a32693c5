//! A name means one thing: no type shares its name with another type of its crate, be both private to their files.

use std::collections::BTreeMap;

use super::{
    Complaint,
    source::{Source, Token},
};

/// Names that every module of a kind has, and that are always said with the module's.
const BY_MODULE: [(&str, &str); 1] = [("cli", "Options")];

/// A type as it is defined somewhere.
struct Definition<'a> {
    path: &'a str,
    line: usize,
}

/// Complains of each further definition of a name in a crate. The simulated world has GitHub's names twice by design: as
/// state and as GraphQL shows it.
pub(crate) fn twins(sources: &[Source]) -> Vec<(&String, Vec<Complaint>)> {
    let mut known: BTreeMap<(&str, &str), Vec<Definition<'_>>> = BTreeMap::new();
    for source in sources {
        let Some(crate_name) = crate_of(&source.path).filter(|name| *name != "sim") else { continue };
        for (name, line) in definitions(source.production()) {
            let definition = Definition { path: &source.path, line };
            known.entry((crate_name, name)).or_default().push(definition);
        }
    }
    let mut complaints = Vec::new();
    for ((crate_name, name), places) in &known {
        let [first, others @ ..] = places.as_slice() else { continue };
        if BY_MODULE.contains(&(*crate_name, *name)) {
            continue;
        }
        for place in others {
            let what =
                format!("`{name}` is a type of `{}` already; give this one a name of its own", first.path);
            let source = sources.iter().find(|source| source.path == place.path);
            complaints.extend(source.map(|source| (&source.path, vec![(place.line, what)])));
        }
    }
    complaints
}

fn crate_of(path: &str) -> Option<&str> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    rest.starts_with("src/").then_some(name)
}

/// Returns name and line of each type outside of functions and impls.
fn definitions(tokens: &[Token]) -> impl Iterator<Item = (&str, usize)> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "struct" | "enum" | "trait" | "type" if depth == 0 => {
                found.extend(tokens.get(at + 1).map(|name| (name.text.as_str(), name.line)));
            }
            _ => {}
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<_> = files.iter().map(|(path, text)| Source::read(path, text)).collect();
        twins(&sources).into_iter().map(|(path, found)| format!("{path}:{}", found[0].0)).collect()
    }

    #[test]
    fn a_name_stands_once_in_a_crate() {
        let hose = ("crates/garden/src/hose.rs", "pub(crate) struct Tap;\nstruct Valve;");
        let pump = ("crates/garden/src/pump.rs", "fn a() { struct Local; }\n\nenum Tap {}");
        assert_eq!(complaints(&[hose, pump]), ["crates/garden/src/pump.rs:3"]);
        let shed = ("crates/garden/src/shed.rs", "struct Local;\nstruct Valve;");
        assert_eq!(complaints(&[hose, shed]), ["crates/garden/src/shed.rs:2"]);
        assert_eq!(complaints(&[hose, ("crates/shed/src/pump.rs", pump.1)]), [""; 0]);
        assert_eq!(complaints(&[hose, ("crates/garden/tests/it/pump.rs", pump.1)]), [""; 0]);
        let tests = ("crates/garden/src/well.rs", "#[cfg(test)]\nmod tests { pub struct Tap; }");
        assert_eq!(complaints(&[hose, tests]), [""; 0]);
        let method = ("crates/garden/src/well.rs", "impl Iterator for Well { type Tap = u8; }");
        assert_eq!(complaints(&[hose, method]), [""; 0]);
    }
}
