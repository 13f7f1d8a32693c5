//! How and where it is answered.

use fro_core::{gate::Response, say::answer::SummaryPlace};

use super::Typed;

impl Typed<'_> {
    /// Reads where answers go.
    pub(super) fn response(&mut self) -> Response {
        self.input("response-mode", Response::default(), |text| match text {
            "github" => Ok(Response::GitHub),
            "none" => Ok(Response::None),
            _ => Err("write `github` or `none`"),
        })
    }

    /// Reads where the run summary stands.
    pub(super) fn summary(&mut self) -> SummaryPlace {
        self.input("summary", SummaryPlace::default(), |text| match text {
            "inline" => Ok(SummaryPlace::Inline),
            "separate" => Ok(SummaryPlace::Separate),
            _ => Err("write `inline` or `separate`"),
        })
    }
}
