//! What a newcomer reads who mistyped something.

use fro_core::{Fault, Login};

use super::*;
use crate::inputs;

/// What a person can get wrong about an input.
enum Slip {
    /// These values, each answered with what to write instead.
    Values(&'static [&'static str]),
    /// Nothing: every text means itself.
    None,
    /// It is read before this program starts, and its slips are stories of the launcher.
    Launcher,
}

use Slip::{Launcher, None as AnyText, Values};

/// Every input, and how it is mistyped.
const SLIPS: &[(&str, Slip)] = &[
    ("github-token", AnyText),
    ("mention", Values(&["fro bot", "@"])),
    ("trigger-permission", Values(&["everyone", "none"])),
    ("skip-draft-prs", Values(&["maybe", "1"])),
    ("skip-label", AnyText),
    ("dedup-window", Values(&["a while", "-1"])),
    ("prompt", AnyText),
    ("mode-instructions", AnyText),
    ("response-mode", Values(&["silent"])),
    ("summary", Values(&["off"])),
    ("progress", Values(&["bar"])),
    ("output-schema", Values(&["{", r#"{"type": "array"}"#])),
    ("share", Values(&["yes"])),
    ("share-card", Values(&["big"])),
    ("auth-json", Values(&["sk-not-to-be-quoted", "[]", r#"{"openai": "sk-not-to-be-quoted"}"#])),
    ("agent", AnyText),
    ("model", Values(&["gpt", "openai/"])),
    ("timeout", Values(&["soon", "-30m"])),
    ("max-cost", Values(&["-1", "0", "cheap"])),
    ("max-steps", Values(&["0", "many"])),
    ("opencode-version", Values(&["newest"])),
    ("opencode-config", Values(&["[]", "{ model: sk-not-to-be-quoted }"])),
    ("enable-omo", Values(&["on"])),
    ("omo-version", Values(&["../4"])),
    ("delegated-work", Values(&["always"])),
    ("work-words", Values(&["fix it", "!"])),
    ("work-label", AnyText),
    ("output-mode", Values(&["pr", "working-dir"])),
    ("protected-paths", AnyText),
    ("gh-deeds", Values(&["maybe"])),
    ("app-id", Values(&["12345"])),
    ("private-key", Values(&["sk-not-to-be-quoted"])),
    ("elevated-token", AnyText),
    ("network", Values(&["https://packages.example"])),
    ("allow-unwalled", Values(&["please"])),
    ("skip-cache", Values(&["no"])),
    ("memory-scope", Values(&["team"])),
    ("session-retention", Values(&["all"])),
    ("session-max-age", Values(&["a month"])),
    ("memory-warn-size", Values(&["1 GB"])),
    ("s3-backup", Values(&["yes please"])),
    ("s3-bucket", AnyText),
    ("aws-region", AnyText),
    ("s3-endpoint", Values(&["s3.example.com", "http://s3.example.com"])),
    ("s3-prefix", AnyText),
    ("s3-expected-bucket-owner", Values(&["octo"])),
    ("s3-sse", Values(&["on", "aws:kms"])),
    ("s3-kms-key-id", Values(&["alias/garden"])),
    ("s3-allow-insecure-endpoint", Values(&["sure"])),
    // Whatever is not `true` forbids it.
    ("allow-mock-event", AnyText),
    ("binary", Launcher),
];

/// What is wrong together, though each alone would do.
const CONTRADICTIONS: &[&[(&str, &str)]] = &[
    &[("delegated-work", "never"), ("output-mode", "branch-pr")],
    &[("app-id", "12345"), ("private-key", "no key")],
    &[("s3-backup", "true")],
    &[("s3-backup", "true"), ("s3-bucket", "memories")],
    &[("s3-sse", "AES256"), ("s3-kms-key-id", "alias/garden")],
    &[("memory-scope", "org")],
];

/// What a runner sets, and these inputs.
fn environment(inputs: &[(&str, &str)]) -> Env {
    let variable =
        |(name, value): &(&str, &str)| (format!("INPUT_{}", name.to_uppercase()), (*value).to_owned());
    let runner = [
        ("GITHUB_EVENT_PATH", "event.json"),
        ("GITHUB_REPOSITORY", "octo/garden"),
        ("GITHUB_STEP_SUMMARY", "page.md"),
    ];
    let runner = runner.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let token = ("INPUT_GITHUB-TOKEN".to_owned(), "t".to_owned());
    // The first of two wins, so that a test can take the token away.
    Env::from_variables(inputs.iter().map(variable).chain(runner).chain([token]))
}

fn settings_from(inputs: &[(&str, &str)]) -> Result<(Settings, Occasion), Fault> {
    of_action(&environment(inputs), "schedule", String::new(), Timestamp::UNIX_EPOCH)
}

fn complaint(inputs: &[(&str, &str)]) -> String {
    let shown: Vec<_> = inputs.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let said = settings_from(inputs).expect_err("a slip is told");
    format!("{}\n    {}\n", shown.join(", "), said.what().replace('\n', "\n    "))
}

#[test]
fn every_input_that_can_be_mistyped_is_told_with_what_to_write() {
    let names: Vec<_> = inputs::all().map(|input| input.name).collect();
    assert_eq!(
        SLIPS.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        names,
        "say how a new input is mistyped"
    );
    let slips = SLIPS.iter().flat_map(|(name, slip)| match slip {
        Values(values) => values.iter().map(|value| complaint(&[(name, value)])).collect(),
        AnyText | Launcher => Vec::new(),
    });
    let page: String = slips.collect();
    assert!(
        !page.lines().any(|line| line.starts_with(' ') && line.contains("sk-not-to-be-quoted")),
        "{page}"
    );
    insta::assert_snapshot!(page);
}

#[test]
fn inputs_that_contradict_each_other_are_told_together() {
    let page: String = CONTRADICTIONS.iter().map(|inputs| complaint(inputs)).collect();
    insta::assert_snapshot!(page);
}

#[test]
fn every_input_may_be_left_out_or_left_empty_but_the_token() {
    let usual = format!("{:?}", settings_from(&[]).unwrap().0.policy);
    for input in inputs::all().filter(|input| input.name != "github-token") {
        let settings = settings_from(&[(input.name, "  ")]);
        assert_eq!(format!("{:?}", settings.unwrap().0.policy), usual, "{}", input.name);
    }
    insta::assert_snapshot!(
        settings_from(&[("github-token", "")]).unwrap_err().what(),
        @"the input `github-token` is empty: leave it out, or write `${{ github.token }}` or a secret's name"
    );
}

#[test]
fn every_complaint_comes_at_once() {
    let wrong = [("timeout", "soon"), ("model", "gpt"), ("max-cost", "-1"), ("mention", "fro bot")];
    insta::assert_snapshot!(settings_from(&wrong).unwrap_err(), @r"
    4 settings are wrong:
    - the input `mention` is `fro bot`: write one name of letters, digits and hyphens, such as `fro-bot`
    - the input `model` is `gpt`: write provider and model, such as `anthropic/claude-sonnet-4-5`
    - the input `max-cost` is `-1`: write an amount of US dollars above zero, such as `0.50`, or `none`
    - the input `timeout` is `soon`: write a span of time, such as `30m`, `1h 30m` or `1800000` (milliseconds), or `0` for no limit
    ");
}

#[test]
fn a_variable_that_is_no_span_of_time_is_told_with_the_inputs() {
    let variables = [("FRO_OMO_PATIENCE", "a minute"), ("FRO_REQUEST_TIMEOUT", "-1")];
    let env = environment(&[("timeout", "soon")]).with(variables);
    let fault = of_action(&env, "schedule", String::new(), Timestamp::UNIX_EPOCH).unwrap_err();
    insta::assert_snapshot!(fault.what(), @r"
    3 settings are wrong:
    - the variable `FRO_REQUEST_TIMEOUT`: write a span of time, such as `10m`, `90s` or `600000` (milliseconds)
    - the input `timeout` is `soon`: write a span of time, such as `30m`, `1h 30m` or `1800000` (milliseconds), or `0` for no limit
    - the variable `FRO_OMO_PATIENCE`: write a span of time, such as `10m`, `90s` or `600000` (milliseconds)
    ");
}

#[test]
fn a_run_has_a_limit_of_its_cost_where_the_price_is_known() {
    let keys = r#"{"anthropic": {"type": "api", "key": "sk-1"}, "groq": {"type": "api", "key": "sk-2"}}"#;
    let limit = |model: &str, given: &[(&str, &str)]| {
        let inputs = [&[("auth-json", keys), ("model", model)], given].concat();
        settings_from(&inputs).unwrap().0.agent.engine.max_cost
    };
    let known = "anthropic/claude-sonnet-4-5";
    assert_eq!(limit(known, &[]), Some(5.0));
    assert_eq!(limit(known, &[("max-cost", "0.5")]), Some(0.5));
    assert_eq!(limit(known, &[("max-cost", "none")]), None);
    assert_eq!(limit("groq/nobody-knows", &[]), None);
}

#[test]
fn a_span_of_time_is_written_as_people_do_or_in_milliseconds() {
    let read = |text: &str| settings_from(&[("timeout", text)]).unwrap().0.agent.engine.timeout;
    let [half, hour] = [30, 90].map(|minutes| Some(Duration::from_mins(minutes)));
    assert_eq!(["30m", "30 min", "1800s", "1800000"].map(read), [half; 4]);
    assert_eq!(["1h 30m", "1h30m", "90 minutes"].map(read), [hour; 3]);
    assert_eq!(["0", "0s"].map(read), [None; 2]);
}

#[test]
fn hyphens_of_an_input_are_kept() {
    let settings = settings_from(&[
        ("mention", "@gardener"),
        ("skip-draft-prs", "False"),
        ("skip-label", "hands off"),
        ("dedup-window", "0"),
        ("timeout", "0"),
        ("work-words", "mach, /pr"),
        ("work-label", "do it"),
    ]);
    let (settings, occasion) = settings.unwrap();
    let policy = Policy {
        role: Role::Agent,
        mention: Login::new("gardener"),
        needed: Permission::Write,
        drafts: DraftPulls::Reviewed,
        skip_label: "hands off".to_owned(),
        dedup_window: Duration::ZERO,
        secrets: Secrets::Withheld,
        response: Response::GitHub,
        work_words: WorkWords { words: vec!["mach".to_owned(), "/pr".to_owned()], label: "do it".to_owned() },
    };
    assert_eq!((settings.policy, occasion.run.id.as_str()), (policy, "local"));
    assert_eq!(
        (settings.agent.engine.timeout, settings_from(&[]).unwrap().0.agent.engine.timeout),
        (None, Some(TIMEOUT))
    );
}

fn with(file: &str, inputs: &[(&str, &str)]) -> Result<Settings, Fault> {
    let env = environment(inputs);
    with_file(&env, "schedule", file)
}

#[test]
fn the_repository_s_file_stands_below_the_inputs() {
    let file = "model = 'openai/gpt-6'\ntimeout = 60_000\ndelegated-work = 'on-request'\nprotected-paths = ['infra/**']\n";
    let inputs = [
        ("model", "anthropic/claude-sonnet-4-5"),
        ("delegated-work", "never"),
        ("protected-paths", "docs/**"),
    ];
    let fro_agent::Settings { engine, delegation, .. } = with(file, &inputs).unwrap().agent;
    assert_eq!(engine.model.as_deref(), Some("anthropic/claude-sonnet-4-5"));
    assert_eq!((engine.timeout, delegation.work), (Some(Duration::from_mins(1)), DelegatedWork::Never));
    for path in ["infra/**", "docs/**"].into_iter().chain(PROTECTED_PATHS) {
        assert!(delegation.protected_paths.iter().any(|protected| protected == path), "{path}");
    }
}

#[test]
fn complaints_about_the_file_and_about_inputs_come_at_once() {
    let fault = with("modle = 'a/b'\nmax-cost = -1\n", &[("timeout", "soon")]).unwrap_err();
    insta::assert_snapshot!(format!("{}\nhint: {}", fault.what(), fault.hint()), @"
    3 settings are wrong:
    - `modle` in `.github/fro-bot.toml` is no setting; did you mean `model`?
    - `max-cost` in `.github/fro-bot.toml` is `-1`: write an amount of US dollars above zero, such as `0.50`, or `none`
    - the input `timeout` is `soon`: write a span of time, such as `30m`, `1h 30m` or `1800000` (milliseconds), or `0` for no limit
    hint: fix them in the workflow's `with:` block, or in the file on the default branch, and run it again
    ");
}

#[test]
fn the_job_began_when_the_runner_made_the_event_s_folder() {
    let temp = tempfile::tempdir().unwrap();
    let began = |folder: &str| {
        let folder = temp.path().join(folder);
        let event = folder.join("event.json");
        fs_err::create_dir(&folder).unwrap();
        fs_err::write(&event, "{}").unwrap();
        let day = std::time::SystemTime::UNIX_EPOCH + Duration::from_hours(24);
        std::fs::File::open(&folder).unwrap().set_modified(day).unwrap();
        // Every step writes the event anew.
        fs_err::write(&event, "{}").unwrap();
        let variables = [("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_PATH", event.to_str().unwrap())];
        job_began(&Env::from_variables(variables)).map(Timestamp::as_second)
    };
    assert_eq!(began("_github_workflow"), Some(86_400));
    assert_eq!(began("elsewhere"), None);
}
