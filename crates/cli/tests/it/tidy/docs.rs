//! What the pages for people promise: links that lead somewhere, messages that are really said, and goals that were reached.

use std::collections::BTreeMap;

use super::{Complaint, source::Source};

/// All files of the repository, by their paths.
pub(crate) type Files = BTreeMap<String, String>;

/// Complains of links to files and headings that are not there.
pub(crate) fn broken_links(path: &str, files: &Files) -> Vec<Complaint> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut complaints = Vec::new();
    for (number, line) in prose(&files[path]) {
        for target in links(line).filter(|target| !target.contains("://")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { path.to_owned() } else { join(folder, file) };
            let is_folder = || files.keys().any(|path| path.starts_with(&format!("{file}/")));
            let found = match files.get(&file) {
                Some(text) => heading.is_empty() || headings(text).any(|slug| slug == heading),
                None => heading.is_empty() && is_folder(),
            };
            if !found {
                complaints.push((number, format!("`{target}` leads nowhere")));
            }
        }
    }
    complaints
}

/// Complains of pages that the index of the docs does not lead to.
pub(crate) fn missing_pages(files: &Files) -> Vec<Complaint> {
    let index = &files["docs/README.md"];
    let pages = files.keys().filter_map(|path| path.strip_prefix("docs/"));
    let is_page = |page: &&str| super::is(page, "md") && !page.contains('/') && *page != "README.md";
    let missing = pages.filter(is_page).filter(|page| !index.contains(&format!("({page}")));
    missing.map(|page| (1, format!("`{page}` is not in the index"))).collect()
}

/// What only somebody writes who knows the engine: its environment, its HTTP interface, its tables.
const OF_THE_ENGINE: [&str; 14] = [
    "\"OPENCODE_CONFIG",
    "\"OPENCODE_DISABLE",
    "\"OPENCODE_SERVER",
    "\"/session",
    "\"/permission",
    "\"/question",
    "opencode.db",
    "/session/{}",
    "FROM session",
    "FROM message",
    "table(\"session\")",
    "table(\"message\")",
    "\"message.part",
    "\"session.",
];

/// Crates that stand outside the engine's knowledge: the world's own tables, the daemon's own tables, the page's own addresses.
const NOT_OF_THE_ENGINE: [&str; 4] = ["crates/sim/", "crates/serve/", "crates/page/", "crates/stories/"];

/// Complains of a file that knows the engine and is not on the page that leads through all of them.
pub(crate) fn unlisted_engine_knowledge(source: &Source, page: &str) -> Vec<Complaint> {
    let is_code = |(number, line): &(usize, &str)| {
        *number <= source.production_lines() && !line.trim_start().starts_with("//")
    };
    let knows = |(_, line): &(usize, &str)| OF_THE_ENGINE.iter().any(|mark| line.contains(mark));
    let is_listed = page.contains(&format!("(../{})", source.path));
    if is_listed || NOT_OF_THE_ENGINE.iter().any(|folder| source.path.starts_with(folder)) {
        return Vec::new();
    }
    let what = "knows the engine, but `docs/engine-changes.md` does not lead here";
    let lines = (1..).zip(source.text.lines()).filter(is_code).filter(knows);
    lines.map(|(number, _)| (number, what.to_owned())).take(1).collect()
}

/// Complains of tests that a page names (`module::name`, or `…name` of the same module) and nobody wrote.
pub(crate) fn missing_tests(text: &str, sources: &[Source]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for word in line.split('`').skip(1).step_by(2) {
            let name = word.strip_prefix('…').or_else(|| word.rsplit_once("::").map(|(_, name)| name));
            let Some(name) = name.map(|name| name.trim_end_matches('…')).filter(|name| !name.is_empty())
            else {
                continue;
            };
            if !sources.iter().any(|source| source.text.contains(&format!("fn {name}"))) {
                complaints.push((number, format!("there is no test `{word}`")));
            }
        }
    }
    complaints
}

/// Complains of stories that `./test` leaves to `./test --all` and that are not there under this name: `module::name`, or all
/// of `module::`.
pub(crate) fn missing_rare_stories(script: &str, sources: &[Source]) -> Vec<Complaint> {
    let lines = (1..).zip(script.lines()).skip_while(|(_, line)| *line != "rare=(").skip(1);
    let named = lines.take_while(|(_, line)| *line != ")").map(|(number, line)| (number, line.trim()));
    let is_missing = |(_, story): &(usize, &str)| {
        let Some((module, name)) = story.split_once("::") else { return true };
        let file = format!("crates/stories/tests/it/{module}.rs");
        let test = if name.is_empty() { String::new() } else { format!("fn {name}()") };
        !sources.iter().any(|source| source.path == file && source.text.contains(&test))
    };
    named.filter(is_missing).map(|(number, story)| (number, format!("there is no story `{story}`"))).collect()
}

/// Complains of messages in quotation marks that no program of ours says. `…` stands for what differs.
pub(crate) fn unsaid(text: &str, sources: &[&String]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut number = 1;
    for paragraph in text.split("\n\n") {
        let words = paragraph.replace('\n', " ");
        let is_code = words.trim_start().starts_with("```") || words.starts_with("    ");
        for message in words.split('"').skip(1).step_by(2).filter(|_| !is_code) {
            let pieces: Vec<_> =
                message.split('…').map(str::trim).filter(|piece| !piece.is_empty()).collect();
            let is_said = |source: &&String| pieces.iter().all(|piece| source.contains(piece));
            if pieces.is_empty() || !sources.iter().any(is_said) {
                complaints.push((number, format!("nothing says \"{message}\"")));
            }
        }
        number += paragraph.lines().count() + 1;
    }
    complaints
}

/// Complains of bold figures in a table that miss the goal in the cell before them: bold means reached.
pub(crate) fn missed(text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (number, row) in prose(text).filter(|(_, line)| line.starts_with('|')) {
        let cells: Vec<_> = row.split('|').collect();
        for pair in cells.windows(2) {
            let Some(bold) = pair[1].split("**").nth(1) else { continue };
            let goals = figures(pair[0]);
            let late = figures(bold)
                .into_iter()
                .find(|(figure, unit)| goals.iter().any(|(goal, of)| of == unit && figure > goal));
            if let Some((figure, unit)) = late {
                complaints.push((number, format!("{figure} {unit} is bold and misses its goal")));
            }
        }
    }
    complaints
}

/// Words that people who use the program have to guess at, with those that they know: the list of `STYLE.md`.
const UNPLAIN: [(&str, &str); 18] = [
    ("mend", "fix, or repair"),
    ("mends", "fixes, or repairs"),
    ("mended", "fixed, or repaired"),
    ("mending", "fixing, or repairing"),
    ("let go", "removed"),
    ("lets go", "removes"),
    ("give up", "remove, or end"),
    ("gives up", "removes, or ends"),
    ("given up", "removed, or ended"),
    ("put away", "closed"),
    ("puts away", "closes"),
    ("anew", "again, or new"),
    ("by heart", "the noun that is meant"),
    ("by list", "allow-listed"),
    ("look, do not touch", "read-only"),
    ("carried yet", "the noun that is meant"),
    ("nothing in particular", "the noun that is meant"),
    ("1800000", "30m"),
];

/// Complains of words that are not plain.
pub(crate) fn unplain(text: &str) -> Vec<Complaint> {
    let is_apart = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    let mut complaints = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.to_lowercase();
        for (word, instead) in UNPLAIN {
            let stands = |(at, _): (usize, &str)| {
                is_apart(line[..at].chars().next_back()) && is_apart(line[at + word.len()..].chars().next())
            };
            if line.match_indices(word).any(stands) {
                complaints.push((number, format!("`{word}` is not plain; say {instead}")));
            }
        }
    }
    complaints
}

/// Returns the figures of a cell with their units; of a range, the upper end.
fn figures(cell: &str) -> Vec<(f64, &str)> {
    let words: Vec<_> = cell.split_whitespace().map(|word| word.trim_end_matches(',')).collect();
    let pairs = words.windows(2).filter_map(|pair| Some((pair[0].parse().ok()?, pair[1])));
    pairs.filter(|(_, unit)| *unit != "to").collect()
}

/// Returns the lines outside of code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence = None;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let ticks = line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
        match fence {
            Some(opened) if ticks >= opened => fence = None,
            None if ticks >= 3 => fence = Some(ticks),
            Some(_) | None => return fence.is_none(),
        }
        false
    })
}

/// Returns where the links of a line lead.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// Returns the anchors of a text's headings, as GitHub makes them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let titles = prose(text).filter(|(_, line)| line.starts_with('#'));
    titles.map(|(_, line)| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    })
}

/// Puts a relative path behind a folder.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<_> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_followed_to_its_heading() {
        let page = "# A page\n[ok](../README.md#two-commands-or-3)\n[ok](#a-page) [ok](examples/)\n\
                    ```\n[code](nowhere)\n```\n[bad](gone.md)\n[bad](../README.md#three)";
        let files = [
            ("docs/page.md", page),
            ("README.md", "## Two commands, or `3`"),
            ("docs/examples/mention.yaml", ""),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        let complaints = broken_links("docs/page.md", &files);
        let expect = [(7, "`gone.md` leads nowhere"), (8, "`../README.md#three` leads nowhere")];
        assert_eq!(complaints, expect.map(|(line, what)| (line, what.to_owned())));
    }

    #[test]
    fn whoever_knows_the_engine_is_on_the_list() {
        let text =
            "//! FROM session\nfn a() {\n sql(\"SELECT id FROM session\") }\n#[cfg(test)]\nmod tests {}\n";
        let check = |path: &str, page: &str, lines: &[usize]| {
            let found = unlisted_engine_knowledge(&Source::read(path, text), page);
            assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), lines, "{path}");
        };
        check("crates/garden/src/hose.rs", "", &[3]);
        check("crates/garden/src/hose.rs", "[hose.rs](../crates/garden/src/hose.rs)", &[]);
        check("crates/sim/src/hose.rs", "", &[]);
        check("crates/garden/tests/it/hose.rs", "", &[]);
    }

    #[test]
    fn a_test_that_is_named_is_looked_up() {
        let sources =
            [Source::read("crates/garden/tests/it/hose.rs", "fn water_stays_inside() {}\nfn it_ends() {}")];
        let page = "| leak | `hose::water_stays_inside`, `…it_ends`, `hose::` |\n| flood | `hose::water_goes`, `hose::water_st…` |";
        let complaints = missing_tests(page, &sources);
        assert_eq!(complaints, [(2, "there is no test `hose::water_goes`".to_owned())]);
    }

    #[test]
    fn a_story_that_is_left_to_the_longer_tier_is_looked_up() {
        let sources = [Source::read("crates/stories/tests/it/hose.rs", "async fn it_leaks() {}")];
        let script = "x\nrare=(\n  hose::it_leaks\n  hose::it_le\n  hose::\n  tap::\n  tap\n)\n  late\n";
        let complaints = missing_rare_stories(script, &sources);
        assert_eq!(complaints.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 6, 7], "{complaints:?}");
        assert_eq!(missing_rare_stories("y=(\n  tap::\n)\n", &sources), []);
    }

    #[test]
    fn a_quoted_message_is_looked_up() {
        let source = "format!(\"cannot read `{path}` of it\")".to_owned();
        let page = "One.\n\n**\"cannot read\n`…` of it\"** and \"weeds\".\n\n```\n\"code\"\n```";
        assert_eq!(unsaid(page, &[&source]), [(3, "nothing says \"weeds\"".to_owned())]);
    }

    #[test]
    fn a_word_that_is_not_plain_is_replaced() {
        let told = unplain("Amends and a new one.\nIt mends, anew.");
        let told: Vec<_> = told.iter().map(|(line, what)| format!("{line}: {what}")).collect();
        let expect =
            ["2: `mends` is not plain; say fixes, or repairs", "2: `anew` is not plain; say again, or new"];
        assert_eq!(told, expect);
    }

    #[test]
    fn a_bold_figure_is_held_against_its_goal() {
        let page = "| what | goal | ours |\n|---|---|---|\n| a | 4 MB, 2 s | **2.7 MB, 1.8 s** (3.4) |\n\
                    | b | 3 s | **1.9 to 3.4 s** |\n| c | 3 s | 3.4 s |\n| d | 50 ms | **60 s** |";
        assert_eq!(missed(page), [(4, "3.4 s is bold and misses its goal".to_owned())]);
    }
}
