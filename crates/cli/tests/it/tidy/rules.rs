//! What every Rust file of the workspace keeps to.

use super::{
    Complaint,
    source::{Source, Token, closing, find},
};

const MAX_FILE: usize = 500;
const MAX_FUNCTION: usize = 60;

/// Files that may speak to the kernel without Rust's guard; each needs a reason in its `//!`.
const UNSAFE_FILES: [&str; 1] = ["crates/boundary/src/wall/kernel.rs"];

/// Files whose code has a thread of its own, and a runtime to wait on.
const BLOCKING_FILES: [&str; 2] = ["crates/cli/src/main.rs", "crates/memory/src/store/wire.rs"];

/// Libraries whose comments have examples that are compiled.
const PLAYED_EXAMPLES: [&str; 2] = ["crates/agent/src/", "crates/memory/src/"];

/// Finds a file that tells more than one thing.
pub(crate) fn long_file(source: &Source) -> Vec<Complaint> {
    match source.production_lines() {
        lines if lines > MAX_FILE => {
            vec![(
                lines,
                format!("{lines} lines before the tests, {MAX_FILE} is the most; split it by meaning"),
            )]
        }
        _ => Vec::new(),
    }
}

/// Finds functions that do not fit on a screen.
pub(crate) fn long_functions(source: &Source) -> Vec<Complaint> {
    let long = |(name, line, lines): (&str, usize, usize)| {
        let what = format!("`{name}` has {lines} lines, {MAX_FUNCTION} is the most; give its parts names");
        (lines > MAX_FUNCTION).then_some((line, what))
    };
    source.functions().filter_map(long).collect()
}

/// Finds functions whose name does not say what they do.
pub(crate) fn names_that_say_nothing(source: &Source) -> Vec<Complaint> {
    let what = "says nothing; a function is a verb: `describe`, `into_role`, `from_url`";
    complaints(source.tokens(), &[("fn of", what), ("fn told", what)])
}

/// Finds a module that does not say what it is.
pub(crate) fn no_module_doc(source: &Source) -> Vec<Complaint> {
    if source.text.starts_with("//! ") {
        return Vec::new();
    }
    vec![(1, "no `//!`; begin with one sentence on the one thing this file tells".to_owned())]
}

/// Finds an example in a comment that nobody compiles: only these libraries have tests in their comments, since looking for
/// them costs as much as compiling a crate. The others say `doctest = false`.
pub(crate) fn unplayed_examples(source: &Source) -> Vec<Complaint> {
    if PLAYED_EXAMPLES.iter().any(|folder| source.path.starts_with(folder)) {
        return Vec::new();
    }
    let mut is_open = false;
    let mut complaints = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        let line = line.trim_start();
        let comment = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"));
        let Some(kind) = comment.and_then(|text| text.trim_start().strip_prefix("```")) else { continue };
        if !is_open && !["text", "ignore"].contains(&kind) {
            complaints
                .push((number, "an example that nobody compiles; say `text`, or make it a test".to_owned()));
        }
        is_open = !is_open;
    }
    complaints
}

/// Finds tests that do not run and code that is not written.
pub(crate) fn unfinished(source: &Source) -> Vec<Complaint> {
    let advice = [
        ("# [ ignore", "`#[ignore]`; make the test run, or delete it"),
        ("todo !", "`todo!`; write it, or leave the path out of the type"),
        ("unimplemented !", "`unimplemented!`; write it, or leave the path out of the type"),
    ];
    complaints(source.tokens(), &advice)
}

/// Finds production code that behaves differently in a test.
pub(crate) fn test_hooks(source: &Source) -> Vec<Complaint> {
    let tokens = source.production();
    let what =
        "`cfg` on `test`; only `mod tests` at the end of the file has one, make the difference an argument";
    ["cfg (", "cfg_attr (", "cfg ! ("]
        .iter()
        .flat_map(|pattern| find(tokens, pattern))
        .filter(|at| tokens[*at..closing(tokens, *at)].iter().any(|token| token.text == "test"))
        .map(|at| (tokens[at].line, what.to_owned()))
        .collect()
}

/// Finds code that Rust does not check.
pub(crate) fn unsafe_code(source: &Source) -> Vec<Complaint> {
    if UNSAFE_FILES.contains(&source.path.as_str()) {
        return Vec::new();
    }
    complaints(source.tokens(), &[("unsafe", "`unsafe`; find a crate that wraps it safely")])
}

/// Finds names that give one thing a second address.
///
/// A module may speak for a private one of its own: what is in there has no other address.
pub(crate) fn second_names(source: &Source) -> Vec<Complaint> {
    if source.path.ends_with("/lib.rs") {
        return Vec::new();
    }
    let tokens = source.tokens();
    let is_own = |at: &usize| {
        let module = &tokens[at + 2].text;
        find(tokens, &format!("mod {module} ;"))
            .any(|at| at == 0 || !["pub", ")"].contains(&tokens[at - 1].text.as_str()))
    };
    let what = "`pub use` of what has a name already; make the module itself visible, or its own one private";
    find(tokens, "pub use").filter(|at| !is_own(at)).map(|at| (tokens[at].line, what.to_owned())).collect()
}

/// Finds printing and reading of the environment where values should be arguments.
pub(crate) fn hidden_input_and_output(source: &Source) -> Vec<Complaint> {
    if source.path.starts_with("crates/cli/src/") || source.path == "crates/sim/src/main.rs" {
        return Vec::new();
    }
    let printing = ["println !", "print !", "eprintln !", "eprint !", "dbg !"];
    let environment = ["var", "var_os", "vars", "vars_os", "set_var", "remove_var", "args", "args_os"];
    let environment = environment.map(|name| format!("env : : {name}"));
    let printing = printing.map(|pattern| (pattern, "prints; return a value, or log by `tracing`"));
    let reading = environment
        .each_ref()
        .map(|pattern| (pattern.as_str(), "reads the environment; only `cli` does, take an argument"));
    [complaints(source.production(), &printing), complaints(source.production(), &reading)].concat()
}

/// What is said and read where people talk; `run/src/venue` alone does it.
const TALKING: [&str; 26] = [
    "react",
    "unreact",
    "ensure_label",
    "add_label",
    "remove_label",
    "subject_in_parts",
    "discussion",
    "comments",
    "answers",
    "post_answer",
    "update_answer",
    "post_review",
    "remark_on_file",
    "reply_in_thread",
    "resolve_thread",
    "code_comments",
    "code_threads",
    "fold",
    "post_comment",
    "update_comment",
    "remove_comment",
    "post_check_run",
    "pull_request",
    "pull_remarks",
    "reviewed_by",
    "wears",
];

/// What `agent` does on GitHub in the name of the agent, as part of its work: it opens the pull request, and does what
/// was allowed by `gh-deeds`.
const WORKING: [&str; 2] = ["open_pull", "sort"];

/// Finds deeds of the `github` crate that the list of talk does not have, so that a new one is not forgotten.
pub(crate) fn unlisted_talk(source: &Source) -> Vec<Complaint> {
    if !source.path.starts_with("crates/github/src/act/") {
        return Vec::new();
    }
    let tokens = source.production();
    let deeds = find(tokens, "pub async fn").map(|at| &tokens[at + 3]);
    let unlisted =
        deeds.filter(|name| !TALKING.contains(&name.text.as_str()) && !WORKING.contains(&name.text.as_str()));
    let advice = "is no deed that the tidy check knows; put it into `TALKING`, or `WORKING` with the reason";
    unlisted.map(|name| (name.line, format!("`{}` {advice}", name.text))).collect()
}

/// Finds words with people on GitHub outside the venue. What `agent` has of GitHub is the repository: branches, pushes
/// and the pull request.
pub(crate) fn talk_outside_the_venue(source: &Source) -> Vec<Complaint> {
    let is_venue = source.path.starts_with("crates/run/src/venue");
    let is_bound =
        ["crates/run/src/", "crates/agent/src/"].iter().any(|folder| source.path.starts_with(folder));
    if is_venue || !is_bound || !source.production().iter().any(|token| token.text == "fro_github") {
        return Vec::new();
    }
    let calls = TALKING.map(|name| format!(". {name} ("));
    let advice = calls.each_ref().map(|call| {
        (call.as_str(), "talks on GitHub; where people are answered is a venue, `crates/run/src/venue.rs`")
    });
    let mut found = complaints(source.production(), &advice);
    if source.path.starts_with("crates/run/src/") && source.path != "crates/run/src/process.rs" {
        let advice = [("fro_github", "knows GitHub; only `process.rs`, which opens it, and the venue do")];
        found.extend(complaints(source.production(), &advice));
    }
    found
}

/// Finds async code that stops its thread until something else is done.
pub(crate) fn blocked_threads(source: &Source) -> Vec<Complaint> {
    let what = "blocks a thread that others wait on; make it async, or give it a thread by `spawn_blocking`";
    // What has a thread of its own may wait on it.
    if BLOCKING_FILES.contains(&source.path.as_str()) {
        return Vec::new();
    }
    complaints(source.production(), &[(". block_on (", what), ("block_in_place (", what)])
}

fn complaints(tokens: &[Token], advice: &[(&str, &str)]) -> Vec<Complaint> {
    let each = |(pattern, what): &(&str, &str)| -> Vec<_> {
        find(tokens, pattern).map(|at| (tokens[at].line, (*what).to_owned())).collect()
    };
    advice.iter().flat_map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "crates/garden/src/hose.rs";

    /// Holds a text against a rule and expects complaints on these lines.
    #[track_caller]
    fn check(rule: fn(&Source) -> Vec<Complaint>, path: &str, text: &str, lines: &[usize]) {
        let complaints = rule(&Source::read(path, text));
        assert_eq!(complaints.iter().map(|(line, _)| *line).collect::<Vec<_>>(), lines, "{complaints:?}");
    }

    #[test]
    fn an_example_in_a_comment_is_compiled_or_is_no_example() {
        let text = "//! a\n//!\n//! ```\n//! water();\n//! ```\n//! ```text\n//! x\n//! ```\nfn a() {}\n    /// ```no_run\n    /// ```\n";
        check(unplayed_examples, SOURCE, text, &[3, 10]);
        check(unplayed_examples, "crates/agent/src/lib.rs", text, &[]);
    }

    #[test]
    fn a_file_is_measured_up_to_its_tests() {
        let short = "\n".repeat(500);
        let long = "\n".repeat(501);
        let tests = "#[cfg(test)]\n#[expect(x, reason = \"y\")]\nmod tests {}\n";
        check(long_file, SOURCE, &short, &[]);
        check(long_file, SOURCE, &long, &[501]);
        check(long_file, SOURCE, &format!("{short}{tests}{long}"), &[]);
        check(long_file, SOURCE, &format!("{long}{tests}"), &[501]);
        check(long_file, "crates/garden/tests/it/hose.rs", &long, &[]);
    }

    #[test]
    fn a_function_is_measured_from_its_name_to_its_last_brace() {
        let body = |lines: usize| format!("\nfn water() -> [u8; 2] {{{}}}", "\n".repeat(lines - 1));
        check(long_functions, SOURCE, &body(60), &[]);
        check(long_functions, SOURCE, &body(61), &[2]);
        check(long_functions, SOURCE, &format!("mod inner {{ impl Hose {{ {} }} }}", body(61)), &[2]);
        check(long_functions, SOURCE, &format!("html! {{ {} }}", body(61)), &[2]);
        check(long_functions, SOURCE, &format!("trait Hose {{ fn water(&self); }} {}", "\n".repeat(99)), &[]);
        check(
            long_functions,
            SOURCE,
            &format!("type Tap = fn(u8) -> u8; struct Pipe {{{}}}", "\n".repeat(99)),
            &[],
        );
    }

    #[test]
    fn a_function_says_what_it_does() {
        check(names_that_say_nothing, SOURCE, "fn water() {}\npub fn of<T>() {}\nfn told(self) {}", &[2, 3]);
        check(names_that_say_nothing, SOURCE, "fn told_once() {}\nfn a(told: &str) { of(told) }", &[]);
    }

    #[test]
    fn a_module_opens_with_its_sentence() {
        check(no_module_doc, SOURCE, "//! Brings water.\n", &[]);
        check(no_module_doc, SOURCE, "use std::fmt;\n//! Late.\n", &[1]);
        check(no_module_doc, SOURCE, "/// Of the next item.\nfn water() {}\n", &[1]);
        check(no_module_doc, SOURCE, "", &[1]);
    }

    #[test]
    fn ignored_tests_and_unwritten_code_are_found() {
        check(unfinished, SOURCE, "#[test]\n#[ignore]\nfn a() {}", &[2]);
        check(
            unfinished,
            SOURCE,
            "#[ignore = \"slow\"]\nfn a() { todo!() }\nfn b() { unimplemented!(\"x\") }",
            &[1, 2, 3],
        );
        check(unfinished, SOURCE, "// todo!()\nfn todo() -> &str { \"#[ignore] todo!()\" }", &[]);
    }

    #[test]
    fn only_the_tests_module_is_for_tests() {
        check(test_hooks, SOURCE, "fn a() {}\n#[cfg(test)]\nmod tests { #[cfg(test)] fn b() {} }", &[]);
        check(test_hooks, SOURCE, "#[cfg(test)]\npub(crate) mod tests;", &[]);
        check(test_hooks, SOURCE, "#[cfg(test)]\nfn a() {}\n#[cfg(test)]\nmod tests;", &[1]);
        check(test_hooks, SOURCE, "#[cfg(any(unix, test))]\nfn a() {}", &[1]);
        check(test_hooks, SOURCE, "#[cfg_attr(not(test), x)]\nfn a() { if cfg!(test) {} }", &[1, 2]);
        check(test_hooks, SOURCE, "#[cfg(unix)]\nfn test() {}", &[]);
        check(test_hooks, "crates/garden/tests/it/main.rs", "#[cfg(test)]\nfn a() {}", &[]);
    }

    #[test]
    fn unsafe_is_found_wherever_it_stands() {
        check(unsafe_code, SOURCE, "fn a() {\n unsafe { b() } }\nunsafe fn c() {}", &[2, 3]);
        check(unsafe_code, SOURCE, "//! unsafe\n#![forbid(unsafe_code)]\nfn a() { \"unsafe\"; }", &[]);
    }

    #[test]
    fn names_are_given_once() {
        check(second_names, SOURCE, "use a::b;\npub use c::d;", &[2]);
        check(second_names, "crates/garden/src/lib.rs", "pub use c::d;", &[]);
        check(second_names, SOURCE, "pub(crate) use c::d;", &[]);
        check(second_names, SOURCE, "mod c;\npub use c::d;\npub mod e;\npub use e::f;", &[4]);
    }

    #[test]
    fn people_are_talked_to_in_the_venue_alone() {
        let text = "use fro_github::GitHub;\nasync fn a(g: &GitHub) {\n g.post_answer(p, b).await;\n g.head(1).await; }";
        check(talk_outside_the_venue, "crates/agent/src/hose.rs", text, &[3]);
        check(talk_outside_the_venue, "crates/run/src/hose.rs", text, &[3, 1]);
        check(talk_outside_the_venue, "crates/run/src/process.rs", "use fro_github::GitHub;", &[]);
        check(talk_outside_the_venue, "crates/run/src/venue/hose.rs", text, &[]);
        check(talk_outside_the_venue, "crates/github/tests/it/hose.rs", text, &[]);
        check(talk_outside_the_venue, "crates/agent/src/hose.rs", "fn a(v: Vec<u8>) { v.fold(0, f); }", &[]);
    }

    #[test]
    fn threads_are_not_blocked() {
        check(blocked_threads, SOURCE, "fn a() {\n runtime.block_on(b());\n}", &[2]);
        check(blocked_threads, SOURCE, "fn a() { tokio::task::block_in_place(b) }", &[1]);
        check(blocked_threads, SOURCE, "#[cfg(test)]\nmod tests { fn a() { runtime.block_on(b()) } }", &[]);
    }

    #[test]
    fn printing_and_the_environment_belong_to_the_binaries() {
        let text = "fn a() {\n println!(\"x\");\n std::env::var(\"X\");\n env::args_os();\n}";
        check(hidden_input_and_output, SOURCE, text, &[2, 3, 4]);
        check(hidden_input_and_output, "crates/cli/src/main.rs", text, &[]);
        check(hidden_input_and_output, "crates/sim/src/main.rs", text, &[]);
        check(hidden_input_and_output, "crates/sim/src/world.rs", text, &[2, 3, 4]);
        check(hidden_input_and_output, SOURCE, &format!("#[cfg(test)]\nmod tests {{ {text} }}"), &[]);
        check(hidden_input_and_output, SOURCE, "fn a() { env!(\"X\"); }\n// println!()", &[]);
    }
}
