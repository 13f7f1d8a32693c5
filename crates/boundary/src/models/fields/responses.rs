//! `responses`, as `OpenAI` made it. Nothing is kept there, so that nothing kept can be asked for.

use crate::models::shape::{
    Fields,
    Shape::{self, Each, Free, Inline, Kinds, Never, Only, Schema, TextOr, Word},
};

pub(super) const BODY: Fields = &[
    ("model", &Free),
    ("input", &TextOr(&Each(&ITEM))),
    ("instructions", &Free),
    ("tools", &Each(&TOOL)),
    ("tool_choice", &TextOr(&CHOICE)),
    ("parallel_tool_calls", &Free),
    ("max_output_tokens", &Free),
    ("temperature", &Free),
    ("top_p", &Free),
    ("text", &Schema),
    ("stream", &Free),
    ("store", &Only(false)),
    ("include", &Each(&Word(&["reasoning.encrypted_content"]))),
    ("prompt_cache_key", &Free),
    ("reasoning", &Free),
    ("truncation", &Free),
    ("background", &Never),
    ("conversation", &Never),
    ("previous_response_id", &Never),
    ("prompt", &Never),
    ("service_tier", &Never),
];

/// The ids of items are left out: they are for what is kept.
static ITEM: Shape = Kinds(&[
    ("message", &[("role", &Free), ("content", &TextOr(&Each(&PART))), ("status", &Free), ("phase", &Free)]),
    ("function_call", &[("call_id", &Free), ("name", &Free), ("arguments", &Free), ("status", &Free)]),
    ("function_call_output", &[("call_id", &Free), ("output", &TextOr(&Each(&PART))), ("status", &Free)]),
    ("reasoning", &[("encrypted_content", &Free), ("summary", &Free), ("content", &Free), ("status", &Free)]),
]);

static PART: Shape = Kinds(&[
    ("input_text", &[("text", &Schema)]),
    ("output_text", &[("text", &Schema)]),
    ("refusal", &[("refusal", &Free)]),
    ("input_image", &[("image_url", &Inline), ("detail", &Free), ("file_id", &Never)]),
    ("input_file", &[("filename", &Free), ("file_data", &Inline), ("file_id", &Never), ("file_url", &Never)]),
]);

static TOOL: Shape = Kinds(&[(
    "function",
    &[("name", &Free), ("description", &Free), ("parameters", &Schema), ("strict", &Free)],
)]);

static CHOICE: Shape = Kinds(&[("function", &[("name", &Free)])]);
