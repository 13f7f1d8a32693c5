//! The operator's file with the first roles of each server: who may what before anybody has used `/policy` there.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use fro_core::{
    Fault,
    chat::{GuildId, RoleId, Roles},
};
use serde::Deserialize;

/// The roles of one server, in the words of `/policy`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Said {
    link: BTreeSet<RoleId>,
    ask: BTreeSet<RoleId>,
    approve: BTreeSet<RoleId>,
    barred: BTreeSet<RoleId>,
}

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<Vec<(GuildId, Roles)>, Fault> {
    let text = fs_err::read_to_string(path).map_err(|error| {
        Fault::yours(error.to_string(), "give the path of a file with roles, or leave `--roles` away")
    })?;
    parse(&text).map_err(|why| {
        let what = format!("cannot read the roles in {}: {why}", path.display());
        let hint = "write the server's id as `[\"1447000000000000001\"]` and below it `link = [\"…\"]`, `ask`, `approve` or \
                    `barred` with ids of roles";
        Fault::yours(what, hint)
    })
}

fn parse(text: &str) -> Result<Vec<(GuildId, Roles)>, String> {
    let said: BTreeMap<String, Said> = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    let roles = |(guild, said): (String, Said)| {
        let Said { link, ask, approve, barred } = said;
        let guild = guild.parse().map_err(|error| format!("{error}"))?;
        Ok((guild, Roles { linkers: link, askers: ask, approvers: approve, barred }))
    };
    said.into_iter().map(roles).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_by_server_in_the_words_of_the_command() {
        let read = parse("[900]\nlink = [\"2\"]\nask = [\"3\", \"4\"]\n[\"901\"]\nbarred = [\"5\"]").unwrap();
        let set = |numbers: &[u64]| numbers.iter().map(|number| RoleId::new(*number).unwrap()).collect();
        let [first, second] = [900, 901].map(|number| GuildId::new(number).unwrap());
        let of_first = Roles { linkers: set(&[2]), askers: set(&[3, 4]), ..Roles::default() };
        assert_eq!(read, [(first, of_first), (second, Roles { barred: set(&[5]), ..Roles::default() })]);
    }

    #[test]
    fn what_is_no_id_or_no_right_is_told() {
        for (text, told) in [
            ("[garden]\nlink = [\"2\"]", "`garden` is no id"),
            ("[900]\nlink = [\"@maintainers\"]", "`@maintainers` is no id"),
            ("[900]\nlink = [2]", "invalid type: integer"),
            ("[900]\nowner = [\"2\"]", "unknown field `owner`"),
            ("link = [\"2\"]", "invalid type"),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(told), "{text}: {why}");
        }
    }
}
