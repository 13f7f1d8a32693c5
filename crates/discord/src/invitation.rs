//! How a bot is let into a server: the permissions that it asks for, and the address that asks.

use fro_core::chat::UserId;

/// Each permission that the bot uses, as Discord's pages call it, and its bit.
pub const PERMISSIONS: [(&str, u64); 7] = [
    ("View Channels", 1 << 10),
    ("Send Messages", 1 << 11),
    ("Attach Files", 1 << 15),
    ("Read Message History", 1 << 16),
    ("Manage Threads", 1 << 34),
    ("Create Public Threads", 1 << 35),
    ("Send Messages in Threads", 1 << 38),
];

/// Returns all of them as one number.
pub fn permission_bits() -> u64 {
    PERMISSIONS.iter().fold(0, |bits, (_, bit)| bits | bit)
}

/// Returns the address at which the owner of a server lets the bot in.
pub fn invitation(application: UserId) -> String {
    let bits = permission_bits();
    format!(
        "https://discord.com/oauth2/authorize?client_id={application}&scope=bot+applications.commands&permissions={bits}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_leads_through_the_set_up_has_the_same_permissions_and_the_same_address() {
        let page = include_str!("../../../docs/discord.md");
        for (name, _) in PERMISSIONS {
            assert!(page.contains(name), "{name}");
        }
        assert!(page.contains(&format!("`{}`", permission_bits())));
        let address = invitation(UserId::new(1).unwrap_or_else(|| unreachable!("1 is a number")));
        assert!(page.contains(&address.replace("client_id=1&", "client_id=APPLICATION_ID&")), "{address}");
    }
}
