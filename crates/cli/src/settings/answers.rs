//! How and where it is answered.

use fro_core::{gate::Response, say::answer::SummaryPlace};

use fro_run::{Card, ProgressPlace, ShareSettings, Sharing};

use super::{Typed, parse};
use crate::env;

/// Where the engine's makers show sessions.
const SHARE_HOST: &str = "https://opncd.ai";

impl Typed<'_> {
    /// Reads where answers go.
    pub(super) fn response(&mut self) -> Response {
        self.input("response-mode", Response::default(), |text| match text {
            "github" => Ok(Response::GitHub),
            "none" => Ok(Response::None),
            _ => Err("write `github` or `none`"),
        })
    }

    /// Reads whether everybody may read the session.
    pub(super) fn share(&mut self) -> ShareSettings {
        let sharing = self.input("share", Sharing::default(), |text| match text {
            "auto" => Ok(Sharing::Public),
            "true" => Ok(Sharing::Always),
            "false" => Ok(Sharing::Never),
            _ => Err("write `auto`, `true` or `false`"),
        });
        let picture = self.input("share-card", false, parse::yes_or_no);
        let host = self.env.text(env::FRO_SHARE_URL).unwrap_or(SHARE_HOST).trim_end_matches('/').to_owned();
        ShareSettings { sharing, host, card: if picture { Card::Picture } else { Card::Link } }
    }

    /// Reads where people see how far a run is.
    pub(super) fn progress(&mut self) -> ProgressPlace {
        self.input("progress", ProgressPlace::default(), |text| match text {
            "none" => Ok(ProgressPlace::Nowhere),
            "comment" => Ok(ProgressPlace::Comment),
            _ => Err("write `none` or `comment`"),
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
