//! `messages`, as Anthropic made it.

use crate::models::shape::{
    Fields,
    Shape::{self, Base64, Each, Free, Kinds, Never, Schema, TextOr},
};

pub(super) const BODY: Fields = &[
    ("model", &Free),
    ("messages", &Each(&MESSAGE)),
    ("system", &TextOr(&Each(&SYSTEM))),
    ("tools", &Each(&TOOL)),
    ("tool_choice", &Free),
    ("max_tokens", &Free),
    ("temperature", &Free),
    ("top_k", &Free),
    ("top_p", &Free),
    ("stop_sequences", &Free),
    ("stream", &Free),
    ("thinking", &Free),
    ("output_config", &Shape::Fields(&[("effort", &Free), ("format", &Schema)])),
    ("output_format", &Schema),
    ("cache_control", &Free),
    ("container", &Never),
    ("inference_geo", &Never),
    ("mcp_servers", &Never),
    ("service_tier", &Never),
    ("speed", &Never),
];

static MESSAGE: Shape = Shape::Fields(&[("role", &Free), ("content", &TextOr(&Each(&BLOCK)))]);

static SYSTEM: Shape = Kinds(&[("text", TEXT)]);

const TEXT: Fields = &[("text", &Free), ("cache_control", &Free)];

static BLOCK: Shape = Kinds(&[
    ("text", TEXT),
    ("image", &[("source", &PICTURE), ("cache_control", &Free)]),
    (
        "document",
        &[
            ("source", &DOCUMENT),
            ("title", &Free),
            ("context", &Free),
            ("citations", &Free),
            ("cache_control", &Free),
        ],
    ),
    ("tool_use", &[("id", &Free), ("name", &Free), ("input", &Free), ("cache_control", &Free)]),
    (
        "tool_result",
        &[
            ("tool_use_id", &Free),
            ("is_error", &Free),
            ("content", &TextOr(&Each(&BLOCK))),
            ("cache_control", &Free),
        ],
    ),
    ("thinking", &[("thinking", &Free), ("signature", &Free)]),
    ("redacted_thinking", &[("data", &Free)]),
]);

static PICTURE: Shape = Kinds(&[("base64", &[("media_type", &Free), ("data", &Base64)])]);

static DOCUMENT: Shape = Kinds(&[
    ("base64", &[("media_type", &Free), ("data", &Free)]),
    ("text", &[("media_type", &Free), ("data", &Free)]),
    ("content", &[("content", &TextOr(&Each(&BLOCK)))]),
]);

/// A tool of the engine's is the custom one; every other kind is run by the provider.
static TOOL: Shape = Kinds(&[(
    "custom",
    &[
        ("name", &Free),
        ("description", &Free),
        ("input_schema", &Schema),
        ("input_examples", &Free),
        ("strict", &Free),
        ("eager_input_streaming", &Free),
        ("cache_control", &Free),
    ],
)]);
