//! A registry of packages with one package, `dry`, as npm and pip want it, on an address that is nothing else's.

use std::{
    collections::BTreeMap,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::Command,
    sync::Arc,
    thread,
};

use serde_json::json;

/// A registry that serves until the test ends.
pub struct Registry {
    place: String,
}

impl Registry {
    /// Packs the package in a folder, and serves it.
    pub fn open(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.2:0").expect("a loopback port is free");
        let place = listener.local_addr().expect("it has an address").to_string();
        let about = json!({
            "name": "dry",
            "dist-tags": { "latest": "1.0.0" },
            "versions": { "1.0.0": {
                "name": "dry",
                "version": "1.0.0",
                "dist": { "tarball": format!("http://{place}/dry.tgz") },
            } },
        });
        let index = format!("<a href=\"/{WHEEL}\">{WHEEL}</a>").into_bytes();
        let pages = Arc::new(BTreeMap::from([
            ("/dry".to_owned(), about.to_string().into_bytes()),
            ("/dry.tgz".to_owned(), tarball(folder)),
            ("/simple/dry/".to_owned(), index),
            (format!("/{WHEEL}"), wheel(folder)),
        ]));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let pages = Arc::clone(&pages);
                // Who has gone needs no answer.
                thread::spawn(move || drop(answer(stream, &pages)));
            }
        });
        Self { place }
    }

    /// Returns its address with the port.
    pub fn place(&self) -> &str {
        &self.place
    }
}

const WHEEL: &str = "dry-1.0.0-py3-none-any.whl";

fn answer(mut stream: TcpStream, pages: &BTreeMap<String, Vec<u8>>) -> std::io::Result<()> {
    let mut request = vec![0; 65_536];
    let length = stream.read(&mut request)?;
    let request = String::from_utf8_lossy(&request[..length]).into_owned();
    let page = request.split(' ').nth(1).and_then(|path| pages.get(path));
    let (status, body) = page.map_or(("404 Not Found", &b"nothing"[..]), |body| ("200 OK", body));
    let kind = if body.starts_with(b"<a") { "text/html" } else { "application/octet-stream" };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)
}

/// Packs the package as npm has it.
fn tarball(folder: &Path) -> Vec<u8> {
    let package = folder.join("package");
    fs_err::create_dir(&package).expect("the folder is new");
    fs_err::write(package.join("package.json"), r#"{"name":"dry","version":"1.0.0"}"#)
        .expect("there is room");
    fs_err::write(package.join("index.js"), "console.log('dry as dust')\n").expect("there is room");
    let packed = Command::new("tar").args(["-czf", "dry.tgz", "package"]).current_dir(folder).status();
    assert!(packed.is_ok_and(|status| status.success()), "tar failed");
    fs_err::read(folder.join("dry.tgz")).expect("the package is there")
}

/// Packs the package as pip has it.
fn wheel(folder: &Path) -> Vec<u8> {
    let script = "
import sys, zipfile
about = 'dry-1.0.0.dist-info/'
files = {
    'dry.py': 'print(\"dry as bone\")',
    about + 'METADATA': 'Metadata-Version: 2.1\\nName: dry\\nVersion: 1.0.0\\n',
    about + 'WHEEL': 'Wheel-Version: 1.0\\nGenerator: story\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
}
files[about + 'RECORD'] = ''.join(f'{name},,\\n' for name in [*files, about + 'RECORD'])
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    for name, text in files.items():
        wheel.writestr(name, text)";
    let packed = Command::new("python3").args(["-c", script, WHEEL]).current_dir(folder).status();
    assert!(packed.is_ok_and(|status| status.success()), "python3 failed");
    fs_err::read(folder.join(WHEEL)).expect("the package is there")
}
