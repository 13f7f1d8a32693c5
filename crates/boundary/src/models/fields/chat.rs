//! `chat/completions`, as `OpenAI` made it and most others understand it.

use crate::models::shape::{
    Fields,
    Shape::{self, Each, Exactly, Free, Inline, Kinds, Never, Only, Schema, TextOr},
};

pub(super) const BODY: Fields = &[
    ("model", &Free),
    ("messages", &Each(&MESSAGE)),
    ("tools", &Each(&TOOL)),
    ("tool_choice", &TextOr(&CHOICE)),
    ("parallel_tool_calls", &Free),
    ("stream", &Free),
    ("stream_options", &Shape::Fields(&[("include_usage", &Free)])),
    ("usage", &Shape::Fields(&[("include", &Free)])),
    ("max_tokens", &Free),
    ("max_completion_tokens", &Free),
    ("temperature", &Free),
    ("top_p", &Free),
    ("top_k", &Free),
    ("min_p", &Free),
    ("frequency_penalty", &Free),
    ("presence_penalty", &Free),
    ("repetition_penalty", &Free),
    ("stop", &Free),
    ("seed", &Free),
    ("random_seed", &Free),
    ("response_format", &Schema),
    ("reasoning", &Free),
    ("reasoning_effort", &Free),
    ("reasoning_format", &Free),
    ("include_reasoning", &Free),
    ("verbosity", &Free),
    ("thinking", &Free),
    ("enable_thinking", &Free),
    ("thinking_budget", &Free),
    ("chat_template_kwargs", &TEMPLATE),
    ("prompt_cache_key", &Free),
    ("store", &Only(false)),
    ("background", &Never),
    ("functions", &Never),
    ("mcp_servers", &Never),
    ("models", &Never),
    ("n", &Never),
    ("plugins", &Never),
    ("preset", &Never),
    ("provider", &Never),
    ("route", &Never),
    ("search_parameters", &Never),
    ("search_settings", &Never),
    ("service_tier", &Never),
    ("web_search_options", &Never),
];

/// Whether a model of one's own thinks. A template is a program, which the server would run.
static TEMPLATE: Shape = Exactly(&[
    ("enable_thinking", &Free),
    ("reasoning_effort", &Free),
    ("thinking", &Free),
    ("thinking_budget", &Free),
]);

static MESSAGE: Shape = Shape::Fields(&[
    ("role", &Free),
    ("content", &TextOr(&Each(&PART))),
    ("name", &Free),
    ("tool_calls", &Each(&CALL)),
    ("tool_call_id", &Free),
    ("cache_control", &Free),
    ("copilot_cache_control", &Free),
    ("prefix", &Free),
    ("reasoning", &Free),
    ("reasoning_content", &Free),
    ("reasoning_details", &Free),
    ("reasoning_opaque", &Free),
    ("reasoning_text", &Free),
    ("refusal", &Free),
]);

static PART: Shape = Kinds(&[
    ("text", &[("text", &Free), ("cache_control", &Free), ("copilot_cache_control", &Free)]),
    ("image_url", &[("image_url", &PICTURE), ("cache_control", &Free)]),
    ("file", &[("file", &FILE), ("cache_control", &Free)]),
    ("document_url", &[("document_url", &Inline), ("document_name", &Free)]),
    ("input_audio", &[("input_audio", &Shape::Fields(&[("data", &Free), ("format", &Free)]))]),
    ("thinking", &[("thinking", &Free)]),
    ("refusal", &[("refusal", &Free)]),
]);

/// Some want the address itself, others an object around it.
static PICTURE: Shape = Shape::InlineOr(&Exactly(&[("url", &Inline), ("detail", &Free), ("format", &Free)]));

static FILE: Shape = Exactly(&[("file_data", &Inline), ("filename", &Free)]);

static TOOL: Shape = Kinds(&[(
    "function",
    &[
        (
            "function",
            &Shape::Fields(&[
                ("name", &Free),
                ("description", &Free),
                ("parameters", &Schema),
                ("strict", &Free),
            ]),
        ),
        ("cache_control", &Free),
        ("copilot_cache_control", &Free),
    ],
)]);

static CHOICE: Shape = Kinds(&[("function", &[("function", &Free)])]);

static CALL: Shape =
    Kinds(&[("function", &[("id", &Free), ("index", &Free), ("function", &Free), ("extra_content", &Free)])]);
