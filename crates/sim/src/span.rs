//! Spans of time as people write them in questions: `>=2026-05-04`, `2026-05-04..2026-05-06`, `*..2026-05-06T12:00:00Z`.

use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};
use serde::Deserialize;

/// A span of time; either end may be open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Span {
    /// The first second in it.
    from: Option<Timestamp>,
    /// The first second after it.
    until: Option<Timestamp>,
}

impl Span {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (from, until) = if let Some((from, until)) = text.split_once("..") {
            let end = |word: &str| if word == "*" { Some(None) } else { moment(word).map(Some) };
            (end(from)?.map(|(first, _)| first), end(until)?.map(|(_, after)| after))
        } else if let Some(word) = text.strip_prefix(">=") {
            (Some(moment(word)?.0), None)
        } else if let Some(word) = text.strip_prefix("<=") {
            (None, Some(moment(word)?.1))
        } else if let Some(word) = text.strip_prefix('>') {
            (Some(moment(word)?.1), None)
        } else if let Some(word) = text.strip_prefix('<') {
            (None, Some(moment(word)?.0))
        } else {
            let (first, after) = moment(text)?;
            (Some(first), Some(after))
        };
        Some(Self { from, until })
    }

    pub(crate) fn has(&self, time: Timestamp) -> bool {
        self.from.is_none_or(|from| time >= from) && self.until.is_none_or(|until| time < until)
    }
}

impl TryFrom<String> for Span {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::read(&text).ok_or("no span of time")
    }
}

/// The first second of a day or of a moment, and the first one after it.
fn moment(word: &str) -> Option<(Timestamp, Timestamp)> {
    if let Ok(day) = word.parse::<Date>()
        && word.len() == 10
    {
        let begins = |day: Date| Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp());
        return Some((begins(day)?, begins(day.tomorrow().ok()?)?));
    }
    let time: Timestamp = word.parse().ok()?;
    Some((time, time + SignedDuration::from_secs(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(span: &str, inside: &[&str], outside: &[&str]) {
        let read = Span::read(span).unwrap_or_else(|| panic!("{span}"));
        for (times, expect) in [(inside, true), (outside, false)] {
            for time in times {
                assert_eq!(read.has(time.parse().unwrap()), expect, "{span} {time}");
            }
        }
    }

    #[test]
    fn a_span_has_its_ends_and_nothing_beyond() {
        let [night, noon, next] = ["2026-05-03T23:59:59Z", "2026-05-04T12:00:00Z", "2026-05-05T00:00:00Z"];
        check("2026-05-04", &[noon], &[night, next]);
        check(">=2026-05-04", &[noon, next], &[night]);
        check(">2026-05-04", &[next], &[night, noon]);
        check("<=2026-05-04", &[night, noon], &[next]);
        check("<2026-05-04", &[night], &[noon, next]);
        check("2026-05-03..2026-05-04", &[night, noon], &[next]);
        check("*..2026-05-04T12:00:00Z", &[night, noon], &[next]);
        check("2026-05-04T12:00:00Z..*", &[noon, next], &[night]);
        assert_eq!(Span::read("yesterday"), None);
    }
}
