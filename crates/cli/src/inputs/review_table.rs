//! Every input of the reviewer, in the order in which people meet them.

use super::Input;

/// An input of the reviewer: one of its own, or one that it has in common with the agent, under the same name.
pub(super) enum ReviewInput {
    Own(Input),
    Shared(&'static str),
}

use ReviewInput::{Own, Shared};

/// The inputs, by part.
pub(super) const REVIEW_PARTS: &[(&str, &[ReviewInput])] = &[
    (
        "The model",
        &[
            Own(Input::new("model", "The model, as `provider/model`.")),
            Own(Input::new("opencode_api_key", "The key of the model's provider. It stays with the harness, the engine never has it.").secret()),
            Shared("auth-json"),
            Shared("opencode-config"),
            Shared("opencode-version"),
            Shared("timeout"),
            Shared("max-cost"),
            Shared("max-steps"),
        ],
    ),
    (
        "How it judges",
        &[
            Own(Input::new("problem_score_threshold", "The lowest score, from 1 to 10, at which a finding is posted; `5` if left out. `problem_threshold` is another name for it.")),
            Own(Input::new("score_elevation_threshold", "How many findings of one kind below the threshold it takes for them to be posted together, as one.").default("5")),
            Own(Input::new("blocking_score_threshold", "The lowest score at which an open thread makes the check red; `9` if left out.")),
            Own(Input::new("sensitive_data", "Whether the repository handles data of people or money, where findings of the security pass count 2 points more: `auto` looks at its manifests and README, `true` or `false` says it.").default("auto")),
            Own(Input::new("generated_files", "Whether generated and vendored files are only `named` to the model, or `shown` like all others.").default("named")),
            Own(Input::new("enable_web", "Whether the model may read pages of the public web (`web_fetch`), in reviews of changes by people who may push. The harness reads them, up to 20 a review, and the summary names the hosts. What the model has read of the repository could leave that way.").default("false")),
            Own(Input::new("web_search_url", "Who answers the model's searches (`web_search`): an `https://` address with `{query}` in it, such as `https://search.example.org/search?format=json&q={query}` of a SearXNG. Without it only pages can be read.")),
            Own(Input::new("check_run", "Whether findings on lines that the change does not touch are also shown in a check run, beside the lines that are meant. It takes `checks: write` and the job's own token or an App's.").default("false")),
            Own(Input::new("state_key", "Any secret text. The reviewer signs what it keeps in comments with it, so that nobody else's comment counts; without it, its own account is all that tells them apart.").secret()),
        ],
    ),
    (
        "Who asks, and as whom",
        &[
            Shared("github-token"),
            Own(Input::new("mention", "The name that people mention to ask for a review or about one, with or without `@`.").default("review-my-code-bot")),
            Shared("trigger-permission"),
            Shared("skip-draft-prs"),
            Shared("skip-label"),
        ],
    ),
    (
        "Memory",
        &[
            Shared("skip-cache"),
            Shared("memory-scope"),
            Shared("session-retention"),
            Shared("session-max-age"),
            Shared("memory-warn-size"),
            Shared("s3-backup"),
            Shared("s3-bucket"),
            Shared("aws-region"),
            Shared("s3-endpoint"),
            Shared("s3-prefix"),
            Shared("s3-expected-bucket-owner"),
            Shared("s3-sse"),
            Shared("s3-kms-key-id"),
            Shared("s3-allow-insecure-endpoint"),
        ],
    ),
    ("For trying things out", &[Shared("allow-unwalled"), Shared("allow-mock-event"), Shared("binary")]),
];

/// What the reviewer tells the steps after it.
pub(super) const REVIEW_OUTPUTS: &[(&str, &str)] = &[
    (
        "review_status",
        "`completed`, `has_blocking_issues`, `incomplete`, `skipped`, `answered` (a question) or `stopped` (by somebody's word).",
    ),
    ("issues_found", "How many findings were posted."),
    ("blocking_issues", "How many open threads make the check red."),
    ("review_url", "Where the review is, if one was posted."),
    ("session-id", "The engine's session."),
    ("duration", "Seconds from the start to the end."),
    ("tokens", "What the models read and wrote, as JSON."),
    ("cost", "What they cost, in US dollars by the engine's price list."),
];
