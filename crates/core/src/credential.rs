//! Tells files that hold credentials, by their names and by what is in them.
//!
//! It decides which files of a checkout come along to the agent. Packages that only speak of keys have to pass, so that a
//! shape here is narrower than one of the redactor's: a key has to have a body.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::bytes::Regex;

use crate::secret::Secret;

/// Values shorter than this are too likely to be ordinary words.
const SHORTEST: usize = 8;

/// What credentials look like in files.
const SHAPES: &str = r#"(?x)
      -----BEGIN\ [A-Z\ ]{0,20}PRIVATE\ KEY(?:\ BLOCK)?-----[\s\\rn"'+,]{1,40}(?:Proc-Type|Version:|[A-Za-z0-9+/=]{40})
    | gh[pousr]_[A-Za-z0-9]{36}
    | github_pat_[A-Za-z0-9_]{50}
    | glpat-[A-Za-z0-9_-]{20}
    | npm_[A-Za-z0-9]{36}
    | pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50}
    | sk-(?:ant|proj|or)-[A-Za-z0-9_-]{40}
    | sk-[A-Za-z0-9]{48}
    | \bAKIA[0-9A-Z]{16}\b
    | \bAIza[A-Za-z0-9_-]{35}
    | \bgsk_[A-Za-z0-9]{40}
    | \bhf_[A-Za-z0-9]{34}
    | \b[rs]k_live_[A-Za-z0-9]{24}
    | \beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20}
    | xox[abposr]-[0-9A-Za-z-]{20}
    | aws_secret_access_key\s*[=:]\s*["']?[A-Za-z0-9/+=]{40}
    | :_(?:authToken|password|auth)\s*=\s*["']?[A-Za-z0-9+/=_-]{8}
    | "auths"\s*:\s*\{[\s\S]{0,2000}?"(?:auth|identitytoken)"\s*:\s*"[A-Za-z0-9+/=._-]{8}
    | client-key-data:\s*[A-Za-z0-9+/=]{40}
    | machine\s+\S+\s+login\s+\S+\s+password\s+\S+
"#;

#[expect(clippy::expect_used, reason = "the pattern is a constant that the tests compile")]
static SHAPED: LazyLock<Regex> = LazyLock::new(|| Regex::new(SHAPES).expect("the constant pattern compiles"));

/// Names of files, in small letters.
const NAMES: [&str; 33] = [
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".htpasswd",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".terraformrc",
    "terraform.rc",
    "credentials.tfrc.json",
    "credentials.json",
    ".credentials.json",
    "service-account.json",
    "auth.json",
    "pip.conf",
    "pip.ini",
    "nuget.config",
    "rclone.conf",
    "kubeconfig",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    ".secrets",
    "secring.gpg",
];

const BEGINNINGS: [&str; 8] = [
    ".env",
    "gha-creds-",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "terraform.tfstate",
    "client_secret",
];

const EXTENSIONS: [&str; 8] = ["key", "pem", "p12", "pfx", "jks", "keystore", "ppk", "kdbx"];

/// Folders of which nothing comes along.
const HOMES: [&str; 8] = [".git", ".ssh", ".aws", ".kube", ".docker", ".gnupg", ".azure", "gcloud"];

/// A folder, and how the names of its files begin that hold credentials.
const BELOW: [(&str, &str); 4] =
    [(".cargo", "credentials"), (".gem", "credentials"), (".m2", "settings"), ("gh", "hosts.yml")];

/// Tells whether a path is one where credentials are kept.
pub fn is_kept_in(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let parts: Vec<&str> = path.split('/').collect();
    let (file, folders) = parts.split_last().map_or(("", &[][..]), |(file, folders)| (*file, folders));
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_below = |(folder, beginning): &(&str, &str)| {
        folders.last().is_some_and(|last| last == folder) && file.starts_with(beginning)
    };
    NAMES.contains(&file)
        || BEGINNINGS.iter().any(|beginning| file.starts_with(beginning))
        || EXTENSIONS.contains(&extension)
        || folders.iter().any(|folder| HOMES.contains(folder))
        || BELOW.iter().any(is_below)
}

/// Looks for credentials in the content of files.
#[derive(Debug, Clone)]
pub struct CredentialSearch {
    known: AhoCorasick,
}

impl CredentialSearch {
    /// Learns the secrets of this run.
    pub fn knowing<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let values = secrets.into_iter().map(Secret::expose).filter(|value| value.len() >= SHORTEST);
        #[expect(
            clippy::expect_used,
            reason = "a list of literal values of a few hundred bytes each always builds"
        )]
        let known = AhoCorasick::new(values).expect("literal values build");
        Self { known }
    }

    /// Tells whether there is one.
    pub fn finds(&self, content: &[u8]) -> bool {
        self.known.is_match(content) || SHAPED.is_match(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_told_by_where_they_are_kept() {
        for path in [
            "server.key",
            ".kube/config",
            ".docker/config.json",
            "deploy/id_rsa",
            ".pgpass",
            ".git-credentials",
            "credentials.json",
            "certificates/store.p12",
            "store.pfx",
            "store.jks",
            ".aws/credentials",
            "infra/terraform.tfstate",
            "terraform.tfstate.backup",
            ".pypirc",
            ".netrc",
            "app/.npmrc",
            ".env",
            "app/.ENV.production",
            "gha-creds-0123abcd.json",
            "certificates/server.pem",
            "vendor/thing/.git/config",
        ] {
            assert!(is_kept_in(path), "{path}");
        }
    }

    #[test]
    fn tools_keep_theirs_in_places_of_their_own() {
        for path in [
            ".cargo/credentials",
            ".cargo/credentials.toml",
            "home/.gem/credentials",
            ".m2/settings.xml",
            ".s3cfg",
            ".boto",
            ".my.cnf",
            ".mylogin.cnf",
            ".vault-token",
            ".terraform.d/credentials.tfrc.json",
            ".terraformrc",
            "web/.yarnrc.yml",
            "pip.conf",
            "pip/pip.ini",
            "NuGet.Config",
            "auth.json",
            ".composer/auth.json",
            ".config/composer/auth.json",
            "config/secrets.yml",
            "secrets.yaml",
            ".streamlit/secrets.toml",
            ".config/gh/hosts.yml",
            ".config/rclone/rclone.conf",
            ".claude/.credentials.json",
            "client_secret_1234.apps.googleusercontent.com.json",
            "service-account.json",
        ] {
            assert!(is_kept_in(path), "{path}");
        }
    }

    #[test]
    fn ordinary_files_are_not_taken_for_them() {
        for path in [
            "node_modules/a/index.js",
            "target/debug/app",
            "environment.json",
            "keys.rs",
            "a.pem.txt",
            "src/aws/credentials.rs",
            "docker/config.json",
            ".cargo/config.toml",
            "settings.xml",
            ".config/gh/config.yml",
            "ansible/hosts.yml",
            "src/secrets.rs",
            "credentials",
            "authors.json",
        ] {
            assert!(!is_kept_in(path), "{path}");
        }
    }

    #[test]
    fn credentials_are_told_by_what_is_in_a_file() {
        let search = CredentialSearch::knowing([&Secret::new("planted-known-value")]);
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ";
        for text in [
            "a planted-known-value b".to_owned(),
            format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n"),
            format!(r#"{{"private_key": "-----BEGIN PRIVATE KEY-----\n{body}\n"}}"#),
            format!("token: ghp_{}", "a1".repeat(18)),
            format!("OPENAI=sk-proj-{}", "a1".repeat(24)),
            "//registry.example/:_authToken=0123456789ab".to_owned(),
            r#"{"auths": {"https://index.docker.io/v1/": {"auth": "b2N0bzpwYXNz"}}}"#.to_owned(),
            format!("    client-key-data: {body}"),
            "machine github.com login octo password hunter22".to_owned(),
            "aws_secret_access_key = abcdefghijabcdefghijabcdefghijabcdefghij".to_owned(),
            "AWS_ACCESS_KEY_ID=AKIAQ4ZJ7TLWX2PBN5RD".to_owned(),
            format!("maps: AIza{}", "Sy1-_".repeat(7)),
            format!("GROQ=gsk_{}", "a1".repeat(26)),
            format!("hf_{}", "aB".repeat(17)),
            format!("stripe = 'sk_live_{}'", "a1".repeat(12)),
            format!("rk_live_{}", "a1".repeat(12)),
            "jwt: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
                .to_owned(),
        ] {
            assert!(search.finds(text.as_bytes()), "{text}");
        }
        for text in [
            "const begin = '-----BEGIN PRIVATE KEY-----'; const end = '-----END PRIVATE KEY-----';",
            ".sk-folding-cube-with-a-long-name-of-a-class { color: red }",
            "//registry.example/:_authToken=${NPM_TOKEN}",
            r#"{"auths": {}}"#,
            "XAKIAQ4ZJ7TLWX2PBN5RD9, AKIA and AIza are how keys begin; sk_live_ and hf_hub_download do, too",
            "eyJhbGciOiJIUzI1NiJ9.payload.signature",
        ] {
            assert!(!search.finds(text.as_bytes()), "{text}");
        }
    }
}
