//! Whether a repository handles data of people or money: declared, or found as whole words in its own description.
//!
//! A word inside another counts for nothing ("personally", "Personal Access Token"), and neither does a sentence that
//! says no ("stores no personal data"): a reviewer that cries wolf is switched off.

use std::sync::LazyLock;

use regex::Regex;

/// What the operator says about the data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Declared {
    /// Nothing: the repository's files decide.
    #[default]
    Unsaid,
    /// The data is sensitive.
    Sensitive,
    /// The data is not sensitive.
    Plain,
}

/// How much care the data needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sensitivity {
    /// Nothing says that it is anybody's secret.
    Plain,
    /// People's data or money.
    Sensitive {
        /// What says so.
        why: String,
    },
}

/// Phrases for data of people or money, in prose.
static PROSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let phrases = "pii|gdpr|hipaa|ccpa|pci[- ]dss|personally identifiable|personal (?:data|information|records)|\
        financial (?:data|records|transactions)|bank(?:ing)? (?:accounts?|data|details|transactions)|\
        credit[- ]cards?|debit[- ]cards?|card ?holder data|payment (?:data|details|cards?|processing)|\
        (?:medical|health|patient) (?:data|records?)|social security numbers?|iban";
    Regex::new(&format!(r"(?i)\b(?:{phrases})\b")).ok()
});

/// Packages that are there to move money or to know who somebody is.
static PACKAGES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = "stripe|async-stripe|braintree|adyen|plaid|paypal|razorpay|mollie|gocardless|checkout-sdk|onfido|fhir";
    Regex::new(&format!(r"(?i)(?:^|[^\w.-]|[/@_-])(?:{names})(?:$|[^\w.]|[-_/])")).ok()
});

static DENIAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:no|not|never|without|neither|nor|don't|doesn't|free of)\b").ok());

/// Manifests, by the end of their path.
const MANIFESTS: [&str; 11] = [
    "package.json",
    "Cargo.toml",
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
    "composer.json",
];

impl Sensitivity {
    /// Decides from what was declared and from files of the base commit, each with its path.
    pub fn judge(declared: Declared, files: &[(&str, &str)]) -> Self {
        match declared {
            Declared::Sensitive => Self::Sensitive { why: "the settings say so".to_owned() },
            Declared::Plain => Self::Plain,
            Declared::Unsaid => {
                let found = files.iter().find_map(|(path, text)| sign(path, text));
                found.map_or(Self::Plain, |why| Self::Sensitive { why })
            }
        }
    }

    /// Returns the files at the root of a repository that are looked at.
    pub fn at_root() -> impl Iterator<Item = &'static str> {
        MANIFESTS.into_iter().chain(["README.md", "README", "README.rst", "README.txt", "readme.md"])
    }

    /// Tells whether a file is one that is looked at.
    pub fn looks_at(path: &str) -> bool {
        is_manifest(path) || is_readme(path)
    }
}

fn sign(path: &str, text: &str) -> Option<String> {
    let word = match () {
        () if is_readme(path) => said(text)?,
        () if is_manifest(path) => said(text).or_else(|| needed(text))?,
        () => return None,
    };
    Some(format!("`{path}` has `{word}`"))
}

/// Finds a phrase in a sentence that does not deny it.
fn said(text: &str) -> Option<String> {
    let (prose, denial) = (PROSE.as_ref()?, DENIAL.as_ref()?);
    let found = prose.find_iter(text).find(|found| {
        let before = &text[..found.start()];
        let sentence = before.rsplit(['.', '!', '?', ';', '\n']).next().unwrap_or_default();
        !denial.is_match(sentence)
    });
    Some(found?.as_str().to_lowercase())
}

/// Finds a package by its name.
fn needed(text: &str) -> Option<String> {
    let found = PACKAGES.as_ref()?.find(text)?;
    Some(found.as_str().trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_manifest(path: &str) -> bool {
    MANIFESTS.contains(&name(path))
}

fn is_readme(path: &str) -> bool {
    let name = name(path).to_lowercase();
    name == "readme" || name.starts_with("readme.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expect: Option<&str>) {
        let expect = expect.map_or(Sensitivity::Plain, |why| Sensitivity::Sensitive { why: why.to_owned() });
        assert_eq!(Sensitivity::judge(Declared::Unsaid, &[(path, text)]), expect, "{text}");
    }

    #[test]
    fn data_of_people_or_money_is_found_as_whole_words() {
        check("README.md", "We store PII of patients.", Some("`README.md` has `pii`"));
        check("readme", "Handles personal\u{20}data.", Some("`readme` has `personal data`"));
        check("docs/README.rst", "Takes credit cards.", Some("`docs/README.rst` has `credit cards`"));
        check("package.json", r#"{"dependencies": {"stripe": "^1"}}"#, Some("`package.json` has `stripe`"));
        check(
            "package.json",
            r#"{"dependencies": {"@stripe/stripe-js": "1"}}"#,
            Some("`package.json` has `stripe`"),
        );
        check("web/Cargo.toml", "async-stripe = \"1\"", Some("`web/Cargo.toml` has `async-stripe`"));
        check("go.mod", "require github.com/plaid/plaid-go v1", Some("`go.mod` has `plaid`"));
        check("pyproject.toml", "description = \"GDPR exports\"", Some("`pyproject.toml` has `gdpr`"));
    }

    #[test]
    fn words_that_only_look_like_it_are_not() {
        check("README.md", "I personally like a Personal Access Token and the payment page.", None);
        check("README.md", "Draws stripes; see the bank of the river. A credit to its cards.", None);
        check(
            "package.json",
            r#"{"dependencies": {"pinstripe": "1", "stripes": "2", "plaidify": "1"}}"#,
            None,
        );
        check("src/tap.rs", "// PII and stripe", None);
    }

    #[test]
    fn a_sentence_that_says_no_is_believed() {
        check("README.md", "This tool stores no personal data.", None);
        check(
            "README.md",
            "It does not handle PII.\nIt takes credit cards.",
            Some("`README.md` has `credit cards`"),
        );
    }

    #[test]
    fn what_is_declared_counts_more_than_what_is_found() {
        let files = [("README.md", "Stores PII.")];
        assert_eq!(Sensitivity::judge(Declared::Plain, &files), Sensitivity::Plain);
        let why = "the settings say so".to_owned();
        assert_eq!(Sensitivity::judge(Declared::Sensitive, &[]), Sensitivity::Sensitive { why });
    }
}
