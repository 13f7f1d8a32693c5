//! The guild that every simulated Discord begins with.

use super::{
    chat::Chat,
    event::MESSAGE_CONTENT,
    permission::{self, MANAGE_THREADS, VIEW_CHANNEL},
    things::{Account, Application, Channel, Guild, GuildRole, Member, Overwrite},
};

/// Ids made on one day, so that they look like ids and sort before all that comes.
const DAY: u64 = 1_447_000_000_000_000_000;
pub(crate) const BOT: u64 = DAY + 1;
pub(crate) const GUILD: u64 = DAY + 10;

/// A guild with an owner, a maintainer, a reader, a stranger and another bot; one open and one private channel.
pub(crate) fn planted(address: &str) -> Chat {
    let application = Application {
        id: BOT,
        token: "MTQ0NzAwMDAwMDAwMDAwMDAwMQ.garden.0123456789abcdefghijklmnopqrstuvwxyz".to_owned(),
        privileged: MESSAGE_CONTENT,
        commands: Vec::new(),
    };
    let mut chat = Chat::new(application, address.to_owned());
    let people = [
        ("fro-bot", true),
        ("octo", false),
        ("maya", false),
        ("rita", false),
        ("sam", false),
        ("other-bot", true),
    ];
    chat.accounts =
        (BOT..).zip(people).map(|(id, (name, bot))| Account { id, name: name.to_owned(), bot }).collect();
    let role = |id, name: &str, permissions| {
        let bot = (name == "bots").then_some(BOT);
        GuildRole { id, name: name.to_owned(), permissions, bot }
    };
    let (bots, maintainers) = (GUILD + 1, GUILD + 2);
    let roles = vec![
        role(GUILD, "@everyone", permission::USUAL),
        role(bots, "bots", permission::USUAL | MANAGE_THREADS),
        role(maintainers, "maintainers", permission::USUAL),
        role(GUILD + 3, "readers", permission::USUAL),
    ];
    let roles_of = |name: &str| match name {
        "fro-bot" => vec![bots],
        "maya" => vec![maintainers],
        "rita" => vec![GUILD + 3],
        _ => Vec::new(),
    };
    let members = chat.accounts.iter().map(|it| Member { user: it.id, roles: roles_of(&it.name) }).collect();
    let owner = chat.named("octo").id;
    chat.guilds = vec![Guild { id: GUILD, name: "Garden".to_owned(), owner, roles, members }];
    let view = |id, allow, deny| Overwrite { id, member: false, allow, deny };
    let private =
        vec![view(GUILD, 0, VIEW_CHANNEL), view(bots, VIEW_CHANNEL, 0), view(maintainers, VIEW_CHANNEL, 0)];
    let unseen = vec![view(GUILD, 0, VIEW_CHANNEL), view(maintainers, VIEW_CHANNEL, 0)];
    let channels = [("garden", Vec::new()), ("cellar", private), ("attic", unseen)];
    chat.channels = (GUILD + 20..).zip(channels).map(|(id, (name, over))| channel(id, name, over)).collect();
    chat
}

fn channel(id: u64, name: &str, overwrites: Vec<Overwrite>) -> Channel {
    let name = name.to_owned();
    Channel { id, guild: GUILD, name, overwrites, thread: None, renamed_at: Vec::new() }
}
