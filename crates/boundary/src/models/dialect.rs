//! How each provider is spoken to: where it is, which header has the key, and which paths are turns of a model.

/// A way to speak to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `chat/completions`, as most do.
    Chat,
    /// `messages`, as Anthropic.
    Messages,
    /// `responses`, as `OpenAI`.
    Responses,
    /// `responses` with a key in a header of its own.
    Azure,
    /// `models/M:streamGenerateContent`, as Google: the model is in the path.
    Google,
}

/// Where a provider's key goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyPlace {
    /// `Authorization: Bearer`.
    Bearer,
    /// The header of this name.
    Header(&'static str),
}

/// Where the model of a request is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelPlace {
    /// In the body's `model`.
    Body,
    /// In the path.
    Path,
}

impl Dialect {
    /// Returns the dialect of a package that the engine loads for a provider.
    pub(super) fn of_package(package: &str) -> Option<Self> {
        Some(match package {
            "@ai-sdk/openai-compatible" => Self::Chat,
            "@ai-sdk/anthropic" => Self::Messages,
            "@ai-sdk/openai" => Self::Responses,
            "@ai-sdk/azure" => Self::Azure,
            "@ai-sdk/google" => Self::Google,
            _ => return None,
        })
    }

    pub(super) fn key_place(self) -> KeyPlace {
        match self {
            Self::Chat | Self::Responses => KeyPlace::Bearer,
            Self::Messages => KeyPlace::Header("x-api-key"),
            Self::Azure => KeyPlace::Header("api-key"),
            Self::Google => KeyPlace::Header("x-goog-api-key"),
        }
    }

    pub(super) fn model_place(self) -> ModelPlace {
        match self {
            Self::Chat | Self::Messages | Self::Responses | Self::Azure => ModelPlace::Body,
            Self::Google => ModelPlace::Path,
        }
    }

    /// Tells whether a path below the provider's base is a turn of one of the models, and nothing else.
    pub(super) fn admits(self, path: &str, models: &[String]) -> bool {
        match self {
            Self::Chat => path == "chat/completions",
            Self::Messages => path == "messages",
            Self::Responses | Self::Azure => path == "responses" || path == "chat/completions",
            Self::Google => models.iter().any(|model| {
                let deed = path.strip_prefix("models/").and_then(|rest| rest.strip_prefix(model.as_str()));
                matches!(deed, Some(":streamGenerateContent" | ":generateContent"))
            }),
        }
    }
}

/// Returns where a provider that everybody knows is, and how it is spoken to.
pub(super) fn known(provider: &str) -> Option<(&'static str, Dialect)> {
    KNOWN.iter().find(|(id, ..)| *id == provider).map(|(_, base, dialect)| (*base, *dialect))
}

/// Providers that some models can be asked of without a key.
pub(super) const KEYLESS: [&str; 1] = ["opencode"];

const KNOWN: [(&str, &str, Dialect); 12] = [
    ("anthropic", "https://api.anthropic.com/v1", Dialect::Messages),
    ("cerebras", "https://api.cerebras.ai/v1", Dialect::Chat),
    ("deepseek", "https://api.deepseek.com", Dialect::Chat),
    ("github-copilot", "https://api.githubcopilot.com", Dialect::Chat),
    ("google", "https://generativelanguage.googleapis.com/v1beta", Dialect::Google),
    ("groq", "https://api.groq.com/openai/v1", Dialect::Chat),
    ("mistral", "https://api.mistral.ai/v1", Dialect::Chat),
    ("openai", "https://api.openai.com/v1", Dialect::Responses),
    ("opencode", "https://opencode.ai/zen/v1", Dialect::Chat),
    ("openrouter", "https://openrouter.ai/api/v1", Dialect::Chat),
    ("togetherai", "https://api.together.xyz/v1", Dialect::Chat),
    ("xai", "https://api.x.ai/v1", Dialect::Chat),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_turns_of_the_configured_models_are_admitted() {
        let models = ["gemini-x".to_owned()];
        let paths = [
            "chat/completions",
            "messages",
            "messages/batches",
            "responses",
            "responses/r1",
            "files",
            "models/gemini-x:streamGenerateContent",
            "models/gemini-x2:streamGenerateContent",
            "models/gemini-x:batchGenerateContent",
            "models/other:streamGenerateContent",
        ];
        let admitted = |dialect: Dialect| {
            let paths: Vec<_> = paths.into_iter().filter(|path| dialect.admits(path, &models)).collect();
            format!("{dialect:?}: {}", paths.join(" "))
        };
        let all = [Dialect::Chat, Dialect::Messages, Dialect::Responses, Dialect::Azure, Dialect::Google];
        insta::assert_snapshot!(all.map(admitted).join("\n"), @"
        Chat: chat/completions
        Messages: messages
        Responses: chat/completions responses
        Azure: chat/completions responses
        Google: models/gemini-x:streamGenerateContent
        ");
    }
}
