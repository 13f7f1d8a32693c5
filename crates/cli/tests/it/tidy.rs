//! The shape of the house, checked like everything else: by tests.
//!
//! Each rule is a function from a file to complaints and is shown to complain in its own module. Here they meet
//! the files of the workspace.

mod app;
mod direction;
mod docs;
mod measures;
mod names;
mod rules;
mod source;
mod traces;

use std::{fs, path::Path, process::Command, sync::LazyLock};

use source::Source;

/// Something that does not fit: the line, what it is, and what to do about it.
type Complaint = (usize, String);

#[test]
fn crates_depend_only_downwards() {
    let manifests = files(|path| path.starts_with("crates/") && path.ends_with("/Cargo.toml"));
    accept(manifests.iter().map(|(path, text)| (path, direction::check(path, text))));
}

#[test]
fn files_are_short() {
    check(rules::long_file);
}

#[test]
fn functions_are_short() {
    check(rules::long_functions);
}

#[test]
fn nine_of_ten_files_and_functions_are_short() {
    assert_eq!(measures::long_files(&SOURCES), None);
    assert_eq!(measures::long_functions(&SOURCES), [""; 0]);
}

#[test]
fn half_as_many_lines_as_tell_a_run_test_it() {
    assert_eq!(measures::untested(&SOURCES), None, "{:?}", measures::tested(&SOURCES));
}

#[test]
fn functions_say_what_they_do() {
    check(rules::names_that_say_nothing);
}

#[test]
fn every_module_says_what_it_is() {
    check(rules::no_module_doc);
}

#[test]
fn examples_in_comments_are_compiled() {
    check(rules::unplayed_examples);
}

#[test]
fn nothing_is_ignored_or_left_for_later() {
    check(rules::unfinished);
}

#[test]
fn production_code_does_not_know_that_it_is_tested() {
    check(rules::test_hooks);
}

#[test]
fn nothing_is_unsafe() {
    check(rules::unsafe_code);
}

#[test]
fn everything_has_one_public_name() {
    check(rules::second_names);
}

#[test]
fn only_the_binaries_print_and_read_the_environment() {
    check(rules::hidden_input_and_output);
}

#[test]
fn a_type_s_name_means_one_thing() {
    accept(names::twins(&SOURCES).into_iter());
}

#[test]
fn people_are_talked_to_in_the_venue_alone() {
    check(rules::talk_outside_the_venue);
    check(rules::unlisted_talk);
}

#[test]
fn no_thread_is_blocked() {
    check(rules::blocked_threads);
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let files = files(|_| true);
    accept(files.iter().map(|(path, text)| (path, traces::check(path, text))));
}

#[test]
fn links_of_the_docs_lead_somewhere() {
    let files: docs::Files = files(|_| true).into_iter().collect();
    let pages = files.keys().filter(|path| is(path, "md"));
    accept(pages.map(|path| (path, docs::broken_links(path, &files))));
}

#[test]
fn every_page_stands_in_the_index() {
    let files: docs::Files = files(|_| true).into_iter().collect();
    accept([(&"docs/README.md".to_owned(), docs::missing_pages(&files))].into_iter());
}

#[test]
fn what_is_known_of_the_engine_stands_in_one_list() {
    let page = files(|path| path == "docs/engine-changes.md").remove(0).1;
    let unlisted = |source: &'static Source| (&source.path, docs::unlisted_engine_knowledge(source, &page));
    accept(SOURCES.iter().map(unlisted));
}

#[test]
fn tests_that_hold_attacks_off_are_there() {
    let page = files(|path| path == "docs/attacks.md").remove(0);
    accept([(&page.0, docs::missing_tests(&page.1, &SOURCES))].into_iter());
}

#[test]
fn stories_that_are_rarely_played_are_there() {
    let script = files(|path| path == "test").remove(0);
    accept([(&script.0, docs::missing_rare_stories(&script.1, &SOURCES))].into_iter());
}

#[test]
fn messages_in_the_docs_are_really_said() {
    let files = files(|path| path.starts_with("crates/") || path.starts_with("launch/") || is(path, "md"));
    let (pages, sources): (Vec<_>, Vec<_>) = files.iter().partition(|(path, _)| is(path, "md"));
    let sources: Vec<_> =
        sources.iter().filter(|(path, _)| !path.contains("/tests")).map(|(_, text)| text).collect();
    let by_symptom = ["docs/troubleshooting.md", "docs/discord.md", "docs/worker.md", "docs/page.md"];
    let pages = pages.into_iter().filter(|(path, _)| by_symptom.contains(&path.as_str()));
    accept(pages.map(|(path, text)| (path, docs::unsaid(text, &sources))));
}

#[test]
fn the_app_asks_for_what_the_code_needs() {
    let page = files(|path| path == "docs/app.md").remove(0).1;
    let needed = app::needed(&SOURCES);
    assert!(needed.len() > 4, "the walk found only {needed:?}");
    assert_eq!(app::of_link(&page), needed, "the link");
    assert_eq!(app::of_manifest(&page), needed, "the manifest");
    assert_eq!(app::of_table(&page), needed, "the table");
}

#[test]
fn what_users_read_is_plain() {
    let users_read = |path: &str| {
        (path.starts_with("docs/") && (is(path, "md") || is(path, "yaml")))
            || ["README.md", "CHANGELOG.md", "action.yaml", "review/action.yaml"].contains(&path)
            || (["crates/cli/tests/", "crates/stories/tests/it/snapshots/it__doctor"]
                .iter()
                .any(|folder| path.starts_with(folder))
                && is(path, "snap"))
    };
    let files = files(users_read);
    assert!(files.len() > 40, "the walk found only {} files", files.len());
    accept(files.iter().map(|(path, text)| (path, docs::unplain(text))));
}

#[test]
fn bold_figures_reached_their_goals() {
    let pages = files(|path| path == "docs/benchmarks.md");
    assert!(pages.iter().any(|(_, text)| text.contains("| goal |")), "there are no goals");
    accept(pages.iter().map(|(path, text)| (path, docs::missed(text))));
}

/// Tells a file's kind by its ending.
fn is(path: &str, kind: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == kind)
}

/// Holds every Rust file of the workspace against a rule.
#[track_caller]
fn check(rule: fn(&Source) -> Vec<Complaint>) {
    assert!(
        SOURCES.iter().any(|source| source.path == "crates/core/src/lib.rs"),
        "the walk found no sources"
    );
    accept(SOURCES.iter().map(|source| (&source.path, rule(source))));
}

static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let rust = |path: &str| path.starts_with("crates/") && is(path, "rs");
    files(rust).iter().map(|(path, text)| Source::read(path, text)).collect()
});

/// Fails with all complaints at once.
#[track_caller]
fn accept<'a>(judged: impl Iterator<Item = (&'a String, Vec<Complaint>)>) {
    let lines: Vec<_> = judged
        .flat_map(|(path, complaints)| {
            complaints.into_iter().map(move |(line, what)| format!("{path}:{line}: {what}"))
        })
        .collect();
    assert!(lines.is_empty(), "{} complaints\n{}\n", lines.len(), lines.join("\n"));
}

/// Returns path and text of the files that belong to the repository, new ones included.
fn files(wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(listing.status.success(), "{}", String::from_utf8_lossy(&listing.stderr));
    let paths = String::from_utf8(listing.stdout).unwrap();
    let mut files: Vec<_> = paths
        .split_terminator('\0')
        .filter(|path| wanted(path))
        .filter_map(|path| Some((path.to_owned(), fs::read(root.join(path)).ok()?)))
        .map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned()))
        .collect();
    files.sort();
    files.dedup();
    files
}
