//! Files that the agent hands out with its answer: the tool by which it names them, and what may leave.

use std::sync::{Arc, Mutex, PoisonError};

use fro_agent::{Agent, Arguments, ToolList, Tools, unpacked};
use fro_core::{
    Redactor,
    attachment::{ALL, MOST},
    chat::{HandedFile, say},
    tool_call::{Call, ToolSet},
};
use futures::future::BoxFuture;

/// How many bytes may come out of an archive; one with more could hide a secret in the rest.
const UNPACKED: u64 = 16 << 20;

/// The files that the agent has named, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Named(Arc<Mutex<Vec<String>>>);

/// Files that go with an answer.
#[derive(Debug, Default)]
pub(super) struct HandedOut {
    /// Those that do.
    pub(super) files: Vec<HandedFile>,
    /// Why others do not.
    pub(super) troubles: Vec<String>,
}

/// Returns the tool as models are offered it.
pub(super) fn tool() -> ToolList {
    ToolList { name: ToolSet::Files.name().to_owned(), tools: ToolSet::Files.tools() }
}

impl Named {
    fn take(&self, path: String) -> Result<String, String> {
        let mut named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !named.contains(&path) {
            if named.len() >= MOST {
                return Err(format!("{MOST} files are the most"));
            }
            named.push(path);
        }
        Ok("The file is sent with your answer, as it is when you are done.".to_owned())
    }

    /// Reads the files, and decides which may leave.
    pub(super) async fn read(&self, agent: &mut Agent<'_>, redactor: &Redactor) -> HandedOut {
        let paths = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut out = HandedOut::default();
        if paths.is_empty() {
            return out;
        }
        let read = agent.read_files(&paths).await;
        for (path, bytes) in paths.iter().zip(read) {
            let taken: usize = out.files.iter().map(|file| file.bytes.len()).sum();
            match bytes.and_then(|bytes| may_leave(bytes, ALL - taken, redactor)) {
                Ok(bytes) => out.files.push(HandedFile { name: name(path, redactor), bytes }),
                Err(why) => out.troubles.push(say::not_handed(path, &why)),
            }
        }
        out
    }
}

impl Tools for Named {
    fn name(&self) -> &str {
        ToolSet::Files.name()
    }

    fn call(&self, tool: &str, arguments: Arguments) -> BoxFuture<'_, Result<String, String>> {
        let called = match Call::read(ToolSet::Files, tool, arguments) {
            Ok(Call::Attach(attach)) => self.take(attach.path),
            Ok(Call::List(_) | Call::Search(_) | Call::Read(_) | Call::Info(_) | Call::Draft(_)) => {
                Err("this hands out no file".to_owned())
            }
            Err(why) => Err(why),
        };
        Box::pin(std::future::ready(called))
    }
}

/// Returns the bytes without secrets. In what is no text they cannot be taken out, so a file that has one stays here.
fn may_leave(bytes: Vec<u8>, room: usize, redactor: &Redactor) -> Result<Vec<u8>, String> {
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    if bytes.len() > room {
        return Err(format!("it has more than the {room} bytes that are left"));
    }
    let has_secret = |bytes: &[u8]| redactor.clean(&String::from_utf8_lossy(bytes)).found() > 0;
    let inside = unpacked(&bytes, UNPACKED);
    let inside = inside.ok_or_else(|| format!("it unpacks to more than {UNPACKED} bytes"))?;
    if inside.iter().any(|part| has_secret(part)) {
        return Err("there is something packed in it that looks like a secret".to_owned());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(redactor.clean(&text).as_str().as_bytes().to_vec()),
        Err(no_text) => {
            let bytes = no_text.into_bytes();
            if has_secret(&bytes) {
                return Err("there is something in it that looks like a secret".to_owned());
            }
            Ok(bytes)
        }
    }
}

fn name(path: &str, redactor: &Redactor) -> String {
    let clean = redactor.clean(path);
    let last = clean.as_str().rsplit('/').find(|part| !part.is_empty()).unwrap_or("file");
    last.chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use fro_core::Secret;

    use super::*;

    #[test]
    fn what_leaves_has_no_secret_and_fits() {
        let redactor = Redactor::knowing([&Secret::new("planted-secret-value")]);
        let left = |bytes: &[u8], room| may_leave(bytes.to_vec(), room, &redactor);
        assert_eq!(left(b"\x89PNG\xff", 9), Ok(b"\x89PNG\xff".to_vec()));
        let text = left(b"key planted-secret-value", 99).unwrap();
        assert!(!String::from_utf8(text).unwrap().contains("planted"));
        for (bytes, room) in [(&b"\xff planted-secret-value \xff"[..], 99), (b"", 9), (b"ten bytes!", 9)] {
            assert!(left(bytes, room).is_err(), "{bytes:?}");
        }
    }

    /// The words of the test above, as gzip packs them.
    const PACKED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\xc8\x49\xcc\x2b\x49\x4d\xd1\x2d\x4e\x4d\x2e\x4a\x2d\xd1\x2d\x4b\xcc\x29\x4d\x05\x00\xf0\x6a\x5e\x1c\x14\x00\x00\x00";

    #[test]
    fn what_is_packed_is_looked_at_too() {
        let redactor = Redactor::knowing([&Secret::new("planted-secret-value")]);
        let innocent = Redactor::knowing([&Secret::new("another-secret-value")]);
        assert!(may_leave(PACKED.to_vec(), 99, &redactor).is_err());
        assert_eq!(may_leave(PACKED.to_vec(), 99, &innocent), Ok(PACKED.to_vec()));
    }

    #[test]
    fn a_file_is_called_like_its_last_part() {
        let redactor = Redactor::knowing([&Secret::new("planted-secret-value")]);
        let names = ["out/tap.png", "tap.png", "a/b/", "/", "x\n.txt", "a/planted-secret-value.txt"];
        let names = names.map(|path| name(path, &redactor));
        assert_eq!(names, ["tap.png", "tap.png", "b", "file", "x.txt", "[redacted].txt"]);
    }

    #[test]
    fn five_files_are_taken_and_each_once() {
        let named = Named::default();
        let mut told: Vec<_> = (0..7).map(|n| named.take(format!("{}.txt", n / 2 * 2)).is_ok()).collect();
        assert_eq!(told, [true; 7]);
        told = (10..13).map(|n| named.take(format!("{n}.txt")).is_ok()).collect();
        assert_eq!(told, [true, false, false]);
    }
}
