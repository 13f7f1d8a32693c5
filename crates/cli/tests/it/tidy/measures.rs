//! Figures of the whole workspace that must stay good: the size of files and functions, and how much of the crates that
//! tell a run is tested.

use std::collections::BTreeSet;

use super::source::{Source, Token};

/// Lines before the tests that nine of ten files have at most.
const FILE: usize = 250;

/// Lines that nine of ten functions of every crate have at most.
const FUNCTION: usize = 25;

/// Lines of tests for each line of `run` and `agent`.
const TESTED: f64 = 0.5;

/// Complains if one of ten files is longer than a file should be.
pub(crate) fn long_files(sources: &[Source]) -> Option<String> {
    let lines = sources.iter().map(Source::production_lines).filter(|lines| *lines > 0);
    let ninth = ninth_of_ten(lines.collect());
    (ninth > FILE).then(|| format!("one of ten files has more than {ninth} lines, {FILE} is the goal"))
}

/// Complains of each crate in which one of ten functions is longer than a function should be.
pub(crate) fn long_functions(sources: &[Source]) -> Vec<String> {
    let crates: BTreeSet<&str> = sources.iter().filter_map(|source| crate_of(&source.path)).collect();
    let complain = |name: &&str| {
        let own = sources.iter().filter(|source| crate_of(&source.path) == Some(*name));
        let ninth = ninth_of_ten(own.flat_map(Source::function_lines).collect());
        (ninth > FUNCTION).then(|| format!("one of ten functions of `{name}` has more than {ninth} lines"))
    };
    crates.iter().filter_map(complain).collect()
}

/// Returns lines of tests and lines of production of `run` and `agent`: lines with code on them, so that comments count on
/// neither side.
///
/// Tests are those in the two crates. Neither the stories count, which play whole runs, nor the tests of `cli` that drive
/// `agent` with the real engine.
pub(crate) fn tested(sources: &[Source]) -> (usize, usize) {
    let is_own = |path: &str| ["crates/run/", "crates/agent/"].iter().any(|folder| path.starts_with(folder));
    let own = sources.iter().filter(|source| is_own(&source.path));
    own.fold((0, 0), |(tests, production), source| {
        let (all, product) = (code_lines(source, source.tokens()), code_lines(source, source.production()));
        (tests + all - product, production + product)
    })
}

/// Complains if there is too little of that.
pub(crate) fn untested(sources: &[Source]) -> Option<String> {
    let (tests, production) = tested(sources);
    let share = f64::from(u32::try_from(tests).ok()?) / f64::from(u32::try_from(production).ok()?);
    (share < TESTED).then(|| {
        format!("`run` and `agent` have {tests} lines of tests for {production} of code: {share:.2}, {TESTED} is the least")
    })
}

fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split('/').next()
}

/// Counts the lines on which these tokens stand. To the parser a doc comment is a token, too; here it is a comment.
fn code_lines(source: &Source, tokens: &[Token]) -> usize {
    let lines: Vec<_> = source.text.lines().collect();
    let is_code = |line: &usize| lines.get(line - 1).is_some_and(|text| !text.trim_start().starts_with("//"));
    tokens.iter().map(|token| token.line).filter(is_code).collect::<BTreeSet<_>>().len()
}

/// Returns what nine of ten do not exceed.
fn ninth_of_ten(mut figures: Vec<usize>) -> usize {
    figures.sort_unstable();
    figures.get((figures.len() * 9).div_ceil(10).saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, String)]) -> Vec<Source> {
        files.iter().map(|(path, text)| Source::read(path, text)).collect()
    }

    #[test]
    fn one_long_file_of_ten_is_one_too_few_to_complain_of() {
        let file = |lines: usize| ("crates/garden/src/hose.rs", "\n".repeat(lines));
        let nine: Vec<_> = (0..9).map(|_| file(250)).collect();
        assert_eq!(long_files(&sources(&[nine.clone(), vec![file(400)]].concat())), None);
        assert!(long_files(&sources(&[nine[1..].to_vec(), vec![file(251), file(251)]].concat())).is_some());
    }

    #[test]
    fn functions_are_measured_by_crate() {
        let function = |lines: usize| format!("fn water() {{{}}}", "\n".repeat(lines - 1));
        let files = |lines: usize| {
            [("crates/garden/src/hose.rs", function(lines)), ("crates/shed/src/a.rs", function(3))]
        };
        assert_eq!(long_functions(&sources(&files(25))), [""; 0]);
        assert_eq!(
            long_functions(&sources(&files(26))),
            ["one of ten functions of `garden` has more than 26 lines"]
        );
    }

    #[test]
    fn tests_are_counted_where_they_stand_and_comments_are_not() {
        let run =
            "//! Says.\n\nfn a() {}\n// why\nfn b() {}\n\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n"
                .to_owned();
        let engine = "//! Says.\nfn d() {}\n".to_owned();
        let files = [
            ("crates/run/src/hose.rs", run),
            ("crates/cli/tests/it/agent/engines.rs", engine.clone()),
            ("crates/cli/tests/it/work.rs", engine.clone()),
            ("crates/stories/tests/it/a.rs", engine),
        ];
        assert_eq!(tested(&sources(&files)), (4, 2));
        assert_eq!(untested(&sources(&files)), None);
        assert!(untested(&sources(&[("crates/agent/src/a.rs", "fn a() {}".to_owned())])).is_some());
    }
}
