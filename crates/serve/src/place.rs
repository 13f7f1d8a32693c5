//! What the ledger of the memory calls a channel.

use fro_core::{
    chat::ChannelId,
    remembered::{Audience, hidden_place},
};

/// Returns what the ledger calls a channel: what is said in a hidden one is told nowhere else.
pub(crate) fn place(seen_by: Option<Audience>, channel: ChannelId) -> String {
    match seen_by {
        // A channel of which nobody could tell who reads it may be hidden.
        Some(Audience::Insiders) | None => hidden_place("discord", channel),
        Some(Audience::Everyone) => "discord".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_of_which_nobody_knows_who_reads_it_counts_as_hidden() {
        let channel = ChannelId::new(7).unwrap();
        let places = [Some(Audience::Everyone), Some(Audience::Insiders), None].map(|by| place(by, channel));
        let hidden = hidden_place("discord", channel);
        assert_eq!(places, ["discord".to_owned(), hidden.clone(), hidden]);
    }
}
