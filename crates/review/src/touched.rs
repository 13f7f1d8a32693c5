//! Measures the function around a line by its indentation: a proposal may be as long as the function, not longer.

use std::sync::LazyLock;

use regex::Regex;

/// The first lines of functions in the languages that people write.
static HEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = r"\b(?:fn|func|function|def|fun|sub|proc|method|constructor|impl|class|struct|trait|interface|module)\b";
    Regex::new(&format!(r"{words}|=>\s*\{{?\s*$|\)\s*(?:[\w:<>,&\[\]. -]+)?\{{\s*$")).ok()
});

/// Returns how many lines the function has that a line stands in; nothing if it stands in none.
pub fn function_around(text: &str, line: usize) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let at = line.checked_sub(1).filter(|at| *at < lines.len())?;
    let head = head_above(&lines, at)?;
    let depth = depth(lines[head])?;
    let inside = |line: &&&str| depth_or(line, usize::MAX) > depth;
    let mut length = 1 + lines[head + 1..].iter().take_while(inside).count();
    // The closing line stands as far out as the first.
    let closing = |line: &&&str| {
        depth_or(line, usize::MAX) == depth && line.trim_start().starts_with(['}', ')', ']', 'e'])
    };
    length += lines.get(head + length).iter().filter(|line| closing(line) && !is_head(line)).count();
    Some(length)
}

fn head_above(lines: &[&str], at: usize) -> Option<usize> {
    if is_head(lines[at]) {
        return Some(at);
    }
    let mut least = depth_or(&lines[at], usize::MAX);
    for above in (0..at).rev() {
        let Some(depth) = depth(lines[above]) else { continue };
        if depth < least {
            if is_head(lines[above]) {
                return Some(above);
            }
            least = depth;
        }
    }
    None
}

fn is_head(line: &str) -> bool {
    let control = [
        "if ", "if(", "for ", "for(", "while", "switch", "match ", "} else", "else", "catch", "} catch",
        "with ",
    ];
    let line = line.trim_start();
    !control.iter().any(|word| line.starts_with(word))
        && HEAD.as_ref().is_some_and(|head| head.is_match(line))
}

fn depth(line: &str) -> Option<usize> {
    let blank = line.trim().is_empty();
    (!blank).then(|| line.len() - line.trim_start().len())
}

fn depth_or(line: &&str, blank: usize) -> usize {
    depth(line).unwrap_or(blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, line: usize, expect: Option<usize>) {
        assert_eq!(function_around(text, line), expect, "line {line} of\n{text}");
    }

    #[test]
    fn functions_are_measured_by_their_indentation() {
        let rust =
            "use a;\n\nfn tap() {\n    if wet {\n        drip();\n    }\n\n    close();\n}\n\nfn hose() {}\n";
        check(rust, 5, Some(7));
        check(rust, 3, Some(7));
        check(rust, 11, Some(1));
        check(rust, 1, None);
        check(rust, 99, None);
        let python = "class Tap:\n    def drip(self):\n        for a in b:\n            c()\n\n    def close(self):\n        pass\n";
        check(python, 4, Some(4));
        check(python, 7, Some(2));
        let script = "export const tap = async (a) => {\n  return a;\n};\n\nclass Hose {\n  coil(a: number) {\n    b();\n  }\n}\n";
        check(script, 2, Some(3));
        check(script, 7, Some(3));
    }
}
