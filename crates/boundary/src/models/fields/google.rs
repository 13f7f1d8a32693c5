//! `generateContent`, as Google made it. Names can be written in two ways there; only the engine's passes.

use crate::models::shape::{
    Fields,
    Shape::{self, Base64, Each, Exactly, Free, Never, Schema},
};

pub(super) const BODY: Fields = &[
    ("contents", &Each(&CONTENT)),
    ("systemInstruction", &CONTENT),
    ("generationConfig", &CONFIG),
    ("tools", &Each(&TOOL)),
    ("toolConfig", &Shape::Fields(&[("functionCallingConfig", &Free)])),
    ("safetySettings", &Free),
    ("cachedContent", &Never),
    ("cached_content", &Never),
];

static CONTENT: Shape = Shape::Fields(&[("role", &Free), ("parts", &Each(&PART))]);

static PART: Shape = Exactly(&[
    ("text", &Free),
    ("thought", &Free),
    ("thoughtSignature", &Free),
    ("inlineData", &INLINE),
    ("functionCall", &Free),
    ("functionResponse", &RESPONSE),
]);

static INLINE: Shape = Shape::Fields(&[("mimeType", &Free), ("data", &Base64)]);

static RESPONSE: Shape = Shape::Fields(&[
    ("id", &Free),
    ("name", &Free),
    ("response", &Free),
    ("parts", &Each(&Exactly(&[("inlineData", &INLINE)]))),
]);

/// Every other field of a tool makes the provider run something.
static TOOL: Shape = Exactly(&[(
    "functionDeclarations",
    &Each(&Shape::Fields(&[
        ("name", &Free),
        ("description", &Free),
        ("parameters", &Schema),
        ("parametersJsonSchema", &Schema),
    ])),
)]);

static CONFIG: Shape = Shape::Fields(&[
    ("maxOutputTokens", &Free),
    ("temperature", &Free),
    ("topP", &Free),
    ("topK", &Free),
    ("stopSequences", &Free),
    ("seed", &Free),
    ("frequencyPenalty", &Free),
    ("presencePenalty", &Free),
    ("responseMimeType", &Free),
    ("responseSchema", &Schema),
    ("responseJsonSchema", &Schema),
    ("thinkingConfig", &Free),
    ("mediaResolution", &Free),
    ("candidateCount", &Never),
    ("candidate_count", &Never),
]);
