//! Menus: what there is to choose from, and what follows from a choice.

use std::collections::BTreeSet;

use fro_core::chat::{AuditAction, MessageId, Pick, say::command as told};
use fro_discord::{Interaction, Row};

use super::{Caller, Trouble, apologise, give, manage, promise, talk, tell};
use crate::serve::daemon::Daemon;

/// Discord shows so many choices, with names of so many characters.
const MOST: usize = 25;
const LONGEST: usize = 100;

/// Makes a menu of names and values, if there are any.
pub(super) fn menu(pick: Pick, options: impl Iterator<Item = (String, String)>) -> Option<Row> {
    let shown = |(label, value): (String, String)| (label.chars().take(LONGEST).collect(), value);
    let mut named = BTreeSet::new();
    // Discord refuses a menu that has a value twice, as when two threads share a session.
    let fits = |(_, value): &(String, String)| {
        (1..=LONGEST).contains(&value.chars().count()) && named.insert(value.clone())
    };
    let options: Vec<_> = options.filter(fits).map(shown).take(MOST).collect();
    let placeholder = "Choose".to_owned();
    (!options.is_empty()).then(|| Row::Menu { custom_id: pick.to_string(), placeholder, options, most: 1 })
}

/// Does what was chosen, and says so to whoever chose.
pub(super) async fn chosen(
    daemon: &Daemon,
    asked: &Interaction,
    (pick, chosen): (Pick, &[String]),
    message: MessageId,
) -> Result<(), fro_discord::Error> {
    let Some(value) = chosen.first() else { return tell(daemon, asked, &told::stale()).await };
    let caller = match promise(daemon, asked).await? {
        Ok(caller) => caller,
        Err(why) => return give(daemon, asked, why).await,
    };
    let action = match pick {
        Pick::Model | Pick::Agent => AuditAction::Choose,
        Pick::Session => AuditAction::Ask,
        Pick::Answer(_) => AuditAction::Approve,
    };
    let text = match follow(daemon, &caller, (pick, value), message).await {
        Ok(text) => text,
        Err(trouble) => apologise(daemon, &caller, action, value, trouble).await,
    };
    give(daemon, asked, text.into()).await
}

async fn follow(
    daemon: &Daemon,
    caller: &Caller,
    (pick, value): (Pick, &str),
    message: MessageId,
) -> Result<String, Trouble> {
    match pick {
        Pick::Model | Pick::Agent => manage::choose(daemon, caller, pick, Some(value)).await,
        Pick::Session => talk::go_on(daemon, caller, value).await,
        Pick::Answer(request) => talk::rule(daemon, caller, (request, value), message).await,
    }
}
