//! Remarks that found no place beside the code, and those that moved.

use std::fmt::Write as _;

use super::whole::closed;
use crate::{fence, place::Anchor};

/// Returns the remarks as a part of the answer; nothing if there are none.
pub fn listed(remarks: &[(Anchor, String)]) -> String {
    if remarks.is_empty() {
        return String::new();
    }
    let mut text = "\n\n### Remarks on the code\n".to_owned();
    for (anchor, body) in remarks {
        let body = closed(body).replace('\n', "\n  ");
        let _ = write!(text, "\n- `{}`: {body}", fence::inline(&anchor.to_string()));
    }
    text
}

/// Says of a remark that it stands beside another line than it is about.
pub fn moved(about: &Anchor, body: &str) -> String {
    format!("*About `{}`:*\n\n{body}", fence::inline(&about.to_string()))
}

/// Says of a remark that it is about a file that the change leaves alone.
pub fn untouched(about: &Anchor, body: &str) -> String {
    format!("*About `{}`, which this change does not touch:*\n\n{body}", fence::inline(&about.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Side;

    #[test]
    fn remarks_without_a_place_read_like_this() {
        let at = |path: &str, start_line, line| Anchor {
            path: path.to_owned(),
            side: Side::Right,
            start_line,
            line,
        };
        let remarks = [
            (at("hose.rs", None, 3), "It leaks.\n\n```sh\nls".to_owned()),
            (at("a`b.rs", Some(1), 2), "So does this.".to_owned()),
        ];
        insta::assert_snapshot!(listed(&remarks));
        insta::assert_snapshot!(moved(&remarks[0].0, "It leaks."), @r"
        *About `hose.rs:3`:*

        It leaks.
        ");
        insta::assert_snapshot!(untouched(&remarks[0].0, "It leaks."), @r"
        *About `hose.rs:3`, which this change does not touch:*

        It leaks.
        ");
        assert_eq!(listed(&[]), "");
    }
}
