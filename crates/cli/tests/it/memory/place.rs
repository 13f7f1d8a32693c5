//! A place that keeps a memory, and the binary that is told of it.

use std::{path::PathBuf, process::Command, sync::LazyLock};

use fro_sim::{World, state::CacheAccess};
use regex::Regex;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::bucket::{BUCKET, Bucket, KEY, SECRET, files};

const REPO: &str = "octo/garden";

/// Where a memory is kept, with the options and variables that say so.
pub(crate) struct Place {
    options: Vec<String>,
    variables: Vec<(&'static str, String)>,
    keeper: Keeper,
}

/// What has to stand as long as the place does.
enum Keeper {
    Nothing,
    Folder(TempDir),
    #[expect(dead_code, reason = "it is kept for its server")]
    Bucket(Bucket),
    #[expect(dead_code, reason = "it is kept for its server")]
    Cache(World, Runtime),
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) output: String,
    pub(crate) errors: String,
    pub(crate) code: Option<i32>,
}

impl Place {
    pub(crate) fn nowhere() -> Self {
        Self { options: Vec::new(), variables: Vec::new(), keeper: Keeper::Nothing }
    }

    pub(crate) fn folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = ["--memory", folder.path().to_str().unwrap()].map(str::to_owned).into();
        Self { options, variables: Vec::new(), keeper: Keeper::Folder(folder) }
    }

    pub(crate) fn bucket() -> Self {
        let bucket = Bucket::open();
        let options = ["--s3-bucket", BUCKET, "--s3-endpoint", bucket.endpoint(), "--repo", REPO];
        let mut options = options.map(str::to_owned).to_vec();
        options.push("--s3-allow-insecure-endpoint".to_owned());
        let variables =
            vec![("AWS_ACCESS_KEY_ID", KEY.to_owned()), ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned())];
        Self { options, variables, keeper: Keeper::Bucket(bucket) }
    }

    /// A bucket where nobody answers.
    pub(crate) fn dead_bucket() -> Self {
        let options = ["--s3-bucket", BUCKET, "--s3-endpoint", "http://127.0.0.1:9", "--repo", REPO];
        let options = options.into_iter().chain(["--s3-allow-insecure-endpoint"]).map(str::to_owned);
        let variables =
            vec![("AWS_ACCESS_KEY_ID", KEY.to_owned()), ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned())];
        Self { options: options.collect(), variables, keeper: Keeper::Nothing }
    }

    pub(crate) fn cache() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let world = runtime.block_on(World::start()).unwrap();
        let token = world.change(|state| state.start_run(REPO, &["refs/heads/main"], CacheAccess::Write));
        let variables = vec![
            ("ACTIONS_RESULTS_URL", world.actions_url()),
            ("ACTIONS_RUNTIME_TOKEN", token),
            ("ACTIONS_CACHE_SERVICE_V2", "True".to_owned()),
            ("GITHUB_REPOSITORY", REPO.to_owned()),
            ("GITHUB_REF_NAME", "main".to_owned()),
        ];
        Self { options: Vec::new(), variables, keeper: Keeper::Cache(world, runtime) }
    }

    /// Returns the command that is told of the place.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fro-bot"));
        command.args(arguments).args(&self.options).env_clear().envs(self.variables.iter().cloned());
        command
    }

    /// Runs the binary.
    pub(crate) fn run(&self, arguments: &[&str]) -> Printed {
        let ended = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Printed { output: text(ended.stdout), errors: text(ended.stderr), code: ended.status.code() }
    }

    /// Overwrites the first object of a kind.
    pub(crate) fn spoil(&self, kind: &str) {
        self.change(kind, |bytes| bytes.fill(0xa5));
    }

    /// Flips a bit in the middle of the first object of a kind.
    pub(crate) fn flip(&self, kind: &str) {
        self.change(kind, |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        });
    }

    fn change(&self, kind: &str, with: impl FnOnce(&mut Vec<u8>)) {
        let Keeper::Folder(folder) = &self.keeper else { panic!("only a folder can be spoilt here") };
        let file: PathBuf = files(&folder.path().join("3").join(kind)).remove(0);
        let mut bytes = fs_err::read(&file).unwrap();
        with(&mut bytes);
        fs_err::write(file, bytes).unwrap();
    }
}

impl Printed {
    /// Returns everything that was printed, with what differs from time to time written as `…`.
    pub(crate) fn normal(&self) -> String {
        static CHANGING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
            [
                (r"saved \d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC", "saved …"),
                (r#""saved_at": "[^"]+""#, r#""saved_at": "…""#),
                (r"\d+(\.\d+)? [kMG]?B\b", "… B"),
                (r#""(bytes|uploaded)": \d+"#, r#""$1": …"#),
                (r"[0-9a-f]{64}", "<hash>"),
                (r"127\.0\.0\.1:\d+", "127.0.0.1:…"),
            ]
            .map(|(pattern, mark)| (Regex::new(pattern).unwrap(), mark))
            .into()
        });
        let told = format!("{}{}", self.output, self.errors);
        let told = CHANGING
            .iter()
            .fold(told, |told, (pattern, mark)| pattern.replace_all(&told, *mark).into_owned());
        format!("{told}[{}]\n", self.code.unwrap_or(-1))
    }
}
