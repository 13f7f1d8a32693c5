//! Files that people attach to their words on GitHub: which there are, what they may be, what they are called.
//!
//! Only addresses of GitHub's own store count. A file is shown to the model if its contents are what its type says and
//! it is an image, a PDF or text.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use crate::{budget::Bounded, fence};

/// How many files are taken.
pub const MOST: usize = 5;
/// Bytes that one file may have.
pub const LARGEST: usize = 5_000_000;
/// Bytes that all files together may have.
pub const ALL: usize = 15_000_000;
/// Bytes of a name.
const NAME: usize = 64;

/// A place in a text that shows or links an attached file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLink {
    /// Where it stands in the text.
    pub at: Range<usize>,
    /// Where the file is.
    pub url: String,
    /// What the writer calls it.
    pub called: String,
}

/// A file that was looked at, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Where it was.
    pub url: String,
    /// What the prompt calls it, after an `@`.
    pub name: String,
    /// What the model is told of it.
    pub note: String,
}

/// The files of a request that were looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attachments {
    /// Those that the model gets.
    pub given: Vec<GivenFile>,
    /// What it is told of all of them.
    pub attached: Vec<Attached>,
}

/// A file that the model gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenFile {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub mime: &'static str,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl Attachments {
    /// Returns how many bytes the next file may have, or why none is taken any more.
    pub fn room(&self) -> Result<usize, String> {
        let taken: usize = self.given.iter().map(|file| file.bytes.len()).sum();
        match self.given.len() {
            0..MOST => Ok(LARGEST.min(ALL.saturating_sub(taken))),
            _ => Err(format!("only {MOST} files are taken")),
        }
    }

    /// Takes in a file by its declared type and its contents, or notes why it could not be downloaded.
    pub fn take(&mut self, mark: &FileLink, got: Result<(String, Vec<u8>), String>) {
        let seen = got.and_then(|(told, bytes)| {
            let kind = kind(&told, &bytes).map_err(str::to_owned)?;
            Ok((kind, bytes))
        });
        let (name, note) = match seen {
            Ok((kind, bytes)) => {
                let (name, note) = (name(mark, Some(kind), &self.attached), given(kind, bytes.len()));
                self.given.push(GivenFile { name: name.clone(), mime: kind.mime(), bytes });
                (name, note)
            }
            Err(why) => (name(mark, None, &self.attached), left_out(&why)),
        };
        self.attached.push(Attached { url: mark.url.clone(), name, note });
    }
}

/// Finds the attached files of a text; `server` is where GitHub's pages are.
pub fn find(text: &str, server: &str) -> Vec<FileLink> {
    marks(text).filter(|mark| is_attachment(&mark.url, server)).collect()
}

/// Finds everything that is shown or linked.
fn marks(text: &str) -> impl Iterator<Item = FileLink> {
    static MARKS: LazyLock<Regex> = LazyLock::new(|| {
        #[expect(clippy::expect_used, reason = "the pattern is a constant that the tests compile")]
        Regex::new(
            r#"(?ix) !?\[(?<called>[^\]\n]{0,200})\]\((?<link>https?://[^)\s]+)\)
                   | <img\b (?<before>[^>]*?) \bsrc="(?<source>https?://[^"\s]+)" (?<after>[^>]*)>"#,
        )
        .expect("the constant pattern compiles")
    });
    MARKS.captures_iter(text).filter_map(|found| {
        let url = found.name("link").or_else(|| found.name("source"))?.as_str();
        let alt = || ["before", "after"].iter().find_map(|part| alt_in(found.name(part)?.as_str()));
        let called = found.name("called").map(|called| called.as_str().to_owned()).or_else(alt);
        Some(FileLink { at: found.get(0)?.range(), url: url.to_owned(), called: called.unwrap_or_default() })
    })
}

/// Tells whether an address is that of an attached file, and nothing but that.
fn is_attachment(url: &str, server: &str) -> bool {
    let rest = url.strip_prefix(server.trim_end_matches('/'));
    let Some(rest) = rest.and_then(|rest| rest.strip_prefix("/user-attachments/")) else { return false };
    let path = rest.strip_prefix("assets/").or_else(|| rest.strip_prefix("files/"));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    path.is_some_and(|path| {
        !path.is_empty() && path.len() < 500 && path.chars().all(plain) && !path.contains("..")
    })
}

fn alt_in(attributes: &str) -> Option<String> {
    let start = attributes.to_ascii_lowercase().find("alt=\"")? + 5;
    let rest = attributes.get(start..)?;
    Some(rest.get(..rest.find('"')?)?.to_owned())
}

/// Puts `@name` where a file was shown or linked.
pub fn renamed(text: &str, attached: &[Attached]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for mark in marks(text) {
        if let Some(file) = attached.iter().find(|file| file.url == mark.url) {
            out.push_str(&text[done..mark.at.start]);
            out.push('@');
            out.push_str(&file.name);
            done = mark.at.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// What a file is to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Pixels of this type.
    Image(&'static str),
    /// A PDF.
    Pdf,
    /// Text of any kind, JSON too: the engine takes it as plain text only.
    Text,
}

impl FileKind {
    /// Returns the type that the engine is told.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Image(mime) => mime,
            Self::Pdf => "application/pdf",
            Self::Text => "text/plain",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Image(mime) => mime.trim_start_matches("image/"),
            Self::Pdf => "pdf",
            Self::Text => "txt",
        }
    }
}

/// Tells what a file is. The type that came with it must be allowed and must be true.
pub fn kind(told: &str, bytes: &[u8]) -> Result<FileKind, &'static str> {
    let told = told.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let found = infer::get(bytes).map(|kind| kind.mime_type());
    match (told.as_str(), found) {
        ("image/svg+xml", None | Some("text/xml" | "text/html")) => text(bytes),
        ("application/pdf", Some("application/pdf")) => Ok(FileKind::Pdf),
        ("application/json", None) if serde_json::from_slice::<serde_json::Value>(bytes).is_ok() => {
            Ok(FileKind::Text)
        }
        (told, Some(found)) if told.starts_with("image/") && found == told => Ok(FileKind::Image(found)),
        (told, None) if told.starts_with("text/") => text(bytes),
        (told, Some(found)) if told.starts_with("text/") && found.starts_with("text/") => text(bytes),
        (told, _) if told.starts_with("image/") || told.starts_with("text/") => Err(UNTRUE),
        ("application/pdf" | "application/json", _) => Err(UNTRUE),
        _ => Err("its type is not one that can be shown"),
    }
}

const UNTRUE: &str = "its contents are not what its type says";

fn text(bytes: &[u8]) -> Result<FileKind, &'static str> {
    let shows = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
    if shows { Ok(FileKind::Text) } else { Err(UNTRUE) }
}

/// Gives a file a name that is plain and that none of the others has.
pub fn name(mark: &FileLink, kind: Option<FileKind>, taken: &[Attached]) -> String {
    let last = mark.url.rsplit('/').next().unwrap_or_default();
    let is_file = mark.url.contains("/user-attachments/files/");
    let wanted = if is_file { last } else { mark.called.as_str() };
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' };
    let wanted: String = Bounded::text(wanted, NAME).value().chars().map(plain).collect();
    let wanted = wanted.trim_matches(['-', '.']);
    let wanted = if wanted.is_empty() { "attachment" } else { wanted };
    let usual = kind.map_or("bin", FileKind::ending);
    let (stem, ending) = wanted.rsplit_once('.').unwrap_or((wanted, usual));
    let numbered =
        |n: usize| if n == 1 { format!("{stem}.{ending}") } else { format!("{stem}-{n}.{ending}") };
    let is_free = |name: &String| !taken.iter().any(|other| other.name == *name);
    (1..=MOST + 1).map(numbered).find(is_free).unwrap_or_else(|| format!("attachment.{ending}"))
}

/// Returns what the model is told of a file that it gets.
pub fn given(kind: FileKind, bytes: usize) -> String {
    format!("{}, {bytes} bytes, with this message", kind.mime())
}

/// Returns what the model is told of a file that it does not get.
pub fn left_out(why: &str) -> String {
    format!("left out: {}", fence::inline(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "https://github.com";
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

    fn urls(text: &str) -> Vec<(String, String)> {
        find(text, SERVER).into_iter().map(|mark| (mark.url, mark.called)).collect()
    }

    #[test]
    fn the_three_ways_to_attach_are_found() {
        let text = "![shot](https://github.com/user-attachments/assets/ab-12) and \
                    [log.txt](https://github.com/user-attachments/files/7/log.txt) and \
                    <img width=\"3\" alt=\"tap\" src=\"https://github.com/user-attachments/assets/cd-34\" />";
        let expect = [("assets/ab-12", "shot"), ("files/7/log.txt", "log.txt"), ("assets/cd-34", "tap")];
        let expect =
            expect.map(|(path, name)| (format!("{SERVER}/user-attachments/{path}"), name.to_owned()));
        assert_eq!(urls(text), expect);
    }

    #[test]
    fn other_addresses_are_not_attachments() {
        for url in [
            "https://github.com.evil.example/user-attachments/assets/1",
            "https://evil.example/https://github.com/user-attachments/assets/1",
            "http://github.com/user-attachments/assets/1",
            "https://github.com/user-attachments/../octo/garden",
            "https://github.com/user-attachments/assets/../../settings",
            "https://github.com/user-attachments/assets/1?token=x",
            "https://github.com/user-attachments/secrets/1",
            "https://github.com@evil.example/user-attachments/assets/1",
            "https://github.com/octo/garden/raw/main/x.png",
        ] {
            assert_eq!(urls(&format!("![x]({url})")), [], "{url}");
        }
    }

    #[test]
    fn a_file_is_called_by_its_name_in_the_text() {
        let url = format!("{SERVER}/user-attachments/assets/ab");
        let text = format!("See ![a shot]({url}), or ![a]({SERVER}/user-attachments/assets/zz).");
        let attached = [Attached { url, name: "a-shot.png".to_owned(), note: String::new() }];
        let expect = format!("See @a-shot.png, or ![a]({SERVER}/user-attachments/assets/zz).");
        assert_eq!(renamed(&text, &attached), expect);
    }

    #[test]
    fn a_type_must_be_allowed_and_true() {
        let check = |told: &str, bytes: &[u8], expect| assert_eq!(kind(told, bytes), expect, "{told}");
        check("image/png", PNG, Ok(FileKind::Image("image/png")));
        check("application/pdf", b"%PDF-1.7 x", Ok(FileKind::Pdf));
        check("text/plain; charset=utf-8", b"hello", Ok(FileKind::Text));
        check("text/html", b"<html><body>x", Ok(FileKind::Text));
        check("application/json", b"{\"a\": 1}", Ok(FileKind::Text));
        check("image/svg+xml", b"<svg/>", Ok(FileKind::Text));
        check("image/png", b"%PDF-1.7 x", Err(UNTRUE));
        check("image/jpeg", PNG, Err(UNTRUE));
        check("text/plain", PNG, Err(UNTRUE));
        check("text/plain", b"a\0b", Err(UNTRUE));
        check("text/plain", b"\xff\xfe", Err(UNTRUE));
        check("application/json", b"{", Err(UNTRUE));
        check("application/zip", b"PK\x03\x04", Err("its type is not one that can be shown"));
        check("", b"hello", Err("its type is not one that can be shown"));
    }

    #[test]
    fn names_are_plain_and_different() {
        let mark = |path: &str, called: &str| FileLink {
            at: 0..0,
            url: format!("{SERVER}/user-attachments/{path}"),
            called: called.to_owned(),
        };
        let mut taken = Vec::new();
        for (mark, kind) in [
            (mark("assets/ab", "My shot `x`"), FileKind::Image("image/png")),
            (mark("assets/cd", "My shot `x`"), FileKind::Image("image/png")),
            (mark("files/1/log.txt", "../etc/passwd"), FileKind::Text),
            (mark("assets/ef", ""), FileKind::Pdf),
        ] {
            let name = name(&mark, Some(kind), &taken);
            taken.push(Attached { url: mark.url, name, note: String::new() });
        }
        let names: Vec<_> = taken.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["My-shot--x.png", "My-shot--x-2.png", "log.txt", "attachment.pdf"]);
    }
}
