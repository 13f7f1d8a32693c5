//! How much memory everything behind a wall takes.

use crate::{
    halt::{children, read},
    wall_process::WallProcess,
};

impl WallProcess {
    /// Returns how many bytes of memory the wall and everything behind it have for themselves; pages of files do not count.
    pub fn memory(&self) -> u64 {
        let (mut waiting, mut bytes) = (vec![self.id()], 0);
        while let Some(id) = waiting.pop() {
            bytes += read(&format!("/proc/{id}/status")).map_or(0, |status| own_memory(&status));
            waiting.extend(children(id));
        }
        bytes
    }
}

/// Reads what a process has for itself: what it shares is counted by whoever has it for themselves.
fn own_memory(status: &str) -> u64 {
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").parse::<u64>().ok()
    };
    ["RssAnon:", "RssShmem:"].into_iter().filter_map(kilobytes).sum::<u64>() * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_has_for_itself_is_read_from_its_status() {
        let status =
            "Name:\tnode\nVmRSS:\t  900 kB\nRssAnon:\t     300 kB\nRssFile:\t 500 kB\nRssShmem:\t     4 kB\n";
        assert_eq!(own_memory(status), 304 * 1024);
        assert_eq!(own_memory("Name:\tzombie\n"), 0);
    }

    #[test]
    fn those_below_are_counted() {
        let own = || WallProcess::find(std::process::id()).unwrap().memory();
        let before = own();
        let text = "'x' * 64_000_000";
        let script = format!("import sys; x = {text}; print(len(x), flush=True); sys.stdin.read()");
        let mut child = std::process::Command::new("python3")
            .args(["-c", &script])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut told = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut told, &mut line).unwrap();
        let with_child = own();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(with_child > before + 60_000_000, "{before}, {with_child}");
    }
}
