//! Every input of the action, in the order in which people meet them.

use super::{Input, Part};

/// The inputs, by part of the product.
pub(super) const PARTS: &[Part] = &[
    Part {
        title: "Who asks, and as whom",
        inputs: &[
            Input::new("github-token", "Token for reading the repository and for the answer; what the job's `permissions:` allow.").default("${{ github.token }}"),
            Input::new("mention", "The name that people mention, with or without `@`.").default("fro-bot"),
            Input::new("trigger-permission", "The permission that a person needs on the repository before a mention is answered: `read`, `triage`, `write`, `maintain` or `admin`.").default("write"),
            Input::new("skip-draft-prs", "A run that nobody asked for leaves draft pull requests alone until they are ready for review.").default("true"),
            Input::new("skip-label", "A run that nobody asked for leaves issues and pull requests with this label alone.").default("skip-agent-review"),
            Input::new("dedup-window", "How long the same state of an issue or pull request is not answered a second time, such as `10m`; a bare number is milliseconds.").default("10m"),
        ],
    },
    Part {
        title: "What is asked",
        inputs: &[
            Input::new("prompt", "The task of a run by schedule or by hand, which need one; otherwise further instructions for the agent."),
            Input::new("mode-instructions", "How the agent should go about its work in this repository, in your words.").in_file(),
        ],
    },
    Part {
        title: "How it is answered",
        inputs: &[
            Input::new("response-mode", "`github` answers where the request is; `none` writes nothing there, not even 👀, and leaves the answer on the run's page.").default("github"),
            Input::new("summary", "Where the run summary stands: `inline` folded below the answer, `separate` in a comment of its own.").default("inline"),
            Input::new("progress", "Where people see how far a run is: `none` beyond 👀, or `comment`, where the comment of the answer begins as the agent's to-do list and is edited at most every 15 seconds until it becomes the answer. Reviews show none.").default("none"),
            Input::new("output-schema", "JSON Schema of an object: the agent hands in a result that fits it, for the steps after the run (output `structured-output`)."),
            Input::new("share", "Shares the session as a page that everybody can read, linked below the answer: `auto` if the repository is public, `true` or `false`. One with a secret in it is never shared.").default("auto"),
            Input::new("share-card", "Shows a shared session as a picture below the answer.").default("false"),
        ],
    },
    Part {
        title: "The agent and its model",
        inputs: &[
            Input::new("auth-json", "OpenCode's `auth.json`: the providers' keys. They stay with the harness, the agent never has them.").secret(),
            Input::new("agent", "The agent that answers: Sisyphus with Oh My OpenCode, OpenCode's own without, if left out.").in_file(),
            Input::new("model", "The model, as `provider/model`; the agent's own if left out.").in_file(),
            Input::new("timeout", "How long the agent may work, such as `30m` or `1h 30m`; a bare number is milliseconds, `0` sets no limit.").default("30m").in_file(),
            Input::new("max-cost", "US dollars that a run may cost at most, such as `0.50`, or `none`; `5` if left out and the model's price is known.").in_file(),
            Input::new("max-steps", "Steps (turns of the model) that a run may take at most.").in_file(),
            Input::new("opencode-version", "The engine's version: the pinned one if left out, `latest`, or a number."),
            Input::new("opencode-config", "OpenCode configuration as JSON; where it contradicts what the wall around the agent needs, that wins."),
            Input::new("enable-omo", "Loads Oh My OpenCode, which brings the agent Sisyphus.").default("true").in_file(),
            Input::new("omo-version", "Oh My OpenCode's version: the pinned one if left out, `latest`, or a number."),
        ],
    },
    Part {
        title: "What the agent may do",
        inputs: &[
            Input::new("delegated-work", "Branches, commits and pull requests by the agent: `on-request` when somebody who may push asks for them in whatever words, which the model judges; `on-command` when they say one of `work-words`; or `never`.").default("on-request").in_file(),
            Input::new("work-words", "Words that ask for a change when they come first after the mention, whatever follows; `/word` needs its slash.").default("fix, implement, /pr"),
            Input::new("work-label", "On issues and pull requests with this label, every request of somebody who may push is for a change.").default("agent: implement"),
            Input::new("output-mode", "What a run by schedule or by hand does with changes: `auto` opens a pull request if the agent made any, `branch-pr` asks the agent to make some, `report` pushes none.").default("auto").in_file(),
            Input::new("protected-paths", "Paths that delegated work must not touch, one glob per line; workflows, actions, owners, these settings and files that hold secrets are always among them.").in_file(),
            Input::new("gh-deeds", "Lets the agent label, assign, close and reopen the issue or pull request of its run by `gh`, for those who may push; each deed stands in the run summary.").default("false"),
            Input::new("app-id", "The GitHub App that delegated work is done as."),
            Input::new("private-key", "The App's private key.").secret(),
            Input::new("elevated-token", "A personal access token for delegated work; beside an App it is used for pushes to forks, which an App of this repository cannot open.").secret(),
            Input::new("network", "Hosts that the agent's tools may reach in a run of somebody who may push, one per line, such as `packages.example.org` or `10.0.0.7:4873`; `npm` is the registry of the npm client's configuration.").default("none"),
            Input::new("allow-unwalled", "Lets the agent work on a machine whose kernel cannot wall it off.").default("false"),
        ],
    },
    Part {
        title: "Memory",
        inputs: &[
            Input::new("skip-cache", "Leaves the Actions cache alone: nothing is restored from it, nothing saved to it; S3 goes on.").default("false"),
            Input::new("memory-scope", "`repo` keeps one memory per repository, `org` one for all repositories of the owner.").default("repo"),
            Input::new("session-retention", "How many of the newest sessions are kept, however old they are.").default("50").in_file(),
            Input::new("session-max-age", "For how many days every session is kept, even if there are more than `session-retention`.").default("30").in_file(),
            Input::new("memory-warn-size", "Megabytes of memory, unpacked, above which a save warns, in the log, on the page of the run and in the summary of the answer.").default("500").in_file(),
            Input::new("s3-backup", "Keeps the memory in S3 as well, and restores it from there first.").default("false"),
            Input::new("s3-bucket", "The bucket."),
            Input::new("aws-region", "The bucket's region."),
            Input::new("s3-endpoint", "The address of another S3 service."),
            Input::new("s3-prefix", "What the names of objects begin with.").default("fro-bot"),
            Input::new("s3-expected-bucket-owner", "The account that must own the bucket; otherwise nothing is written."),
            Input::new("s3-sse", "How the bucket encrypts what it stores: `AES256` or `aws:kms`."),
            Input::new("s3-kms-key-id", "The key for `aws:kms`."),
            Input::new("s3-allow-insecure-endpoint", "Allows an `s3-endpoint` without TLS.").default("false"),
        ],
    },
    Part {
        title: "For trying things out",
        inputs: &[
            Input::new("allow-mock-event", "Lets the variable `MOCK_EVENT` stand in for the event of the workflow run. For tests only: whoever sets it decides who asked for what.").default("false"),
            Input::new("binary", "A fro-bot binary to start instead of the released one."),
        ],
    },
];
