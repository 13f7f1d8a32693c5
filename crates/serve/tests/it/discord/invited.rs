//! The permissions of the invitation suffice for what is done.

use fro_core::chat::{ChannelId, Deed, Notify, TextFile};
use fro_discord::permission_bits;
use jiff::Timestamp;

use super::stage::Stage;

/// Everybody else's permissions are no help: the bot opens a thread, answers, and sends a file into a thread that was
/// put away and locked.
#[tokio::test]
async fn with_the_bits_of_its_invitation_the_bot_can_do_everything_it_does() {
    let stage = Stage::new().await;
    stage.world.change(|chat| {
        for role in &mut chat.guilds[0].roles {
            match role.name.as_str() {
                "@everyone" => role.permissions = 0,
                "bots" => role.permissions = permission_bits(),
                _ => {}
            }
        }
    });
    let serving = stage.serve().await;
    let thread = stage.says("maya", "@fro-bot why is the floor wet?");
    stage.work().await;
    stage.until_said(thread, 1).await;
    stage.world.archives(thread, true);
    let lane = ChannelId::new(thread).unwrap();
    let deed = Deed::Say {
        channel: lane,
        text: "See the file.".to_owned(),
        reply_to: None,
        buttons: Vec::new(),
        menu: None,
        file: Some(TextFile { name: "floor.txt".to_owned(), text: "wet".to_owned() }),
        handed: Vec::new(),
        notify: Notify::Yes,
    };
    stage.store.post(lane, &deed, Timestamp::now()).await.unwrap();
    stage.until(|chat| chat.messages_in(thread).any(|message| !message.files.is_empty())).await;
    serving.stop().await;
}
