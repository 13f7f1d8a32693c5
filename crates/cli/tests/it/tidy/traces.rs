//! Traces of the machine that a file was written on: its folders, and where it gets its packages.
//!
//! The words are put together from pieces, or this file would be the first to be complained of.

use super::Complaint;

/// Complains of machine paths and of package registries named by host.
pub(crate) fn check(path: &str, text: &str) -> Vec<Complaint> {
    let folders = [["/wo", "rk"], ["/ro", "ot/"]].map(|pieces| pieces.concat());
    let hosts = [
        ["npm", "js."],
        ["npm", "mirror."],
        ["yarn", "pkg."],
        ["crates", ".io"],
        ["py", "pi.org"],
        ["python", "hosted."],
    ]
    .map(|pieces| pieces.concat());
    // The lock file speaks of the default registry by the name of its index, wherever packages really come from.
    let index = ["crates", ".io-index"].concat();
    let mut complaints = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(folder) = folders.iter().find(|folder| is_rooted(line, folder)) {
            complaints.push((
                number,
                format!("a folder of one machine (`{folder}`); take the path as an argument"),
            ));
        }
        let line = if path.ends_with("Cargo.lock") { line.replace(&index, "") } else { line.to_owned() };
        if let Some(host) = hosts.iter().find(|host| line.contains(*host)) {
            complaints
                .push((number, format!("a registry's host (`{host}`); ask the client's configuration")));
        }
    }
    complaints
}

/// Tells whether a line has a path that begins with this folder.
fn is_rooted(line: &str, folder: &str) -> bool {
    let of_a_name = |character: char| character.is_alphanumeric() || "_-.".contains(character);
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + folder.len()..].chars().next();
        let begins = !before.is_some_and(|character| of_a_name(character) || "/}~*$".contains(character));
        let ends = folder.ends_with('/') || !after.is_some_and(of_a_name);
        begins && ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn complaints(path: &str, text: &str, lines: &[usize]) {
        let complaints = check(path, text);
        assert_eq!(complaints.iter().map(|(line, _)| *line).collect::<Vec<_>>(), lines, "{complaints:?}");
    }

    #[test]
    fn folders_of_one_machine_are_found() {
        complaints("README.md", &["ok\ncd /wo", "rk/main"].concat(), &[2]);
        complaints("README.md", &["\"/wo", "rk\""].concat(), &[1]);
        complaints("README.md", &["PATH=/ro", "ot/.cargo/bin"].concat(), &[1]);
    }

    #[test]
    fn other_folders_are_not() {
        for innocent in [
            "/workspace/x",
            "/home/runner/work/garden",
            "$HOME/work/x",
            "net/work",
            "the /root folder",
            "../root/x",
        ] {
            complaints("README.md", innocent, &[]);
        }
    }

    #[test]
    fn registries_are_found() {
        complaints("a.rs", &["https://registry.npm", "js.org/x"].concat(), &[1]);
        complaints("a.rs", &["https://index.crates", ".io"].concat(), &[1]);
        complaints(
            "Cargo.lock",
            &["registry+https://github.com/rust-lang/crates", ".io-index"].concat(),
            &[],
        );
        complaints("Cargo.lock", &["sparse+https://index.crates", ".io"].concat(), &[1]);
    }
}
