//! Chooses the agent to ask among those that the engine offers.
//!
//! The engine never rests after a name it does not know, so only a name that it listed is ever sent.

/// The agent to ask, and what to say about the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// A name that the engine listed.
    pub agent: String,
    /// What a maintainer should know.
    pub warning: Option<String>,
}

/// Chooses by exact name, then by the first word of a longer name, else the engine's first.
///
/// `primary` are the agents that may be asked directly, in the engine's order.
pub fn choose(wanted: Option<&str>, primary: &[&str]) -> Option<Choice> {
    let first = primary.first()?;
    let Some(wanted) = wanted else {
        return Some(Choice { agent: (*first).to_owned(), warning: None });
    };
    let exact = primary.iter().find(|name| **name == wanted);
    let longer = || primary.iter().find(|name| begins_with_word(name, wanted));
    if let Some(name) = exact.or_else(longer) {
        return Some(Choice { agent: (*name).to_owned(), warning: None });
    }
    let warning = format!("there is no agent `{wanted}`; `{first}` was asked instead");
    Some(Choice { agent: (*first).to_owned(), warning: Some(warning) })
}

/// Tells whether a name like `Sisyphus - ultraworker` begins with the word `sisyphus`.
fn begins_with_word(name: &str, word: &str) -> bool {
    let (name, word) = (name.to_lowercase(), word.to_lowercase());
    name.strip_prefix(&word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: Option<&str>, expect: &str) {
        let primary = ["build", "Sisyphus-Junior", "Sisyphus - ultraworker", "plan"];
        let choice = choose(wanted, &primary).unwrap();
        let warned = if choice.warning.is_some() { " (warned)" } else { "" };
        assert_eq!(format!("{}{warned}", choice.agent), expect);
    }

    #[test]
    fn the_right_agent_is_chosen() {
        check(None, "build");
        check(Some("plan"), "plan");
        check(Some("Sisyphus"), "Sisyphus - ultraworker");
        check(Some("sisyphus"), "Sisyphus - ultraworker");
        check(Some("explore"), "build (warned)");
    }

    #[test]
    fn without_agents_there_is_no_choice() {
        assert_eq!(choose(Some("build"), &[]), None);
    }
}
