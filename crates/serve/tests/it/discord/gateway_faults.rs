//! Whatever happens to the gateway, and however far a turn has come: every message is answered once, and in order.

use std::time::Duration;

use fro_core::chat::Deed;
use fro_sim::{FaultKind, discord::Discord};
use jiff::Timestamp;

use super::stage::Stage;

const THREADS: &str = "POST /api/v10/channels/{channel}/messages/{message}/threads";
const MESSAGES: &str = "POST /api/v10/channels/{channel}/messages";

/// So long Discord takes for a deed during which the connection breaks.
const HELD: Duration = Duration::from_millis(300);

/// What happens to the gateway.
type Break = (&'static str, fn(&Discord));

const BREAKS: [Break; 7] = [
    ("cut", |world| assert_eq!(world.cut_connections(), 1)),
    ("closed with 4000", |world| assert_eq!(world.close_connections(4000), 1)),
    ("closed with 4009", |world| assert_eq!(world.close_connections(4009), 1)),
    ("asked to reconnect", |world| assert_eq!(world.ask_to_reconnect(), 1)),
    ("not known any more", |world| assert_eq!(world.invalidate_sessions(), 1)),
    ("refused for good, until somebody mends it", |world| {
        world.close_next(&[4014]);
        assert_eq!(world.cut_connections(), 1);
        world.forget_sessions();
    }),
    ("silent", |world| world.mute_acknowledgements(true)),
];

/// How far a turn has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Received,
    Queued,
    ThreadMade,
    Asked,
    HalfRendered,
    Saved,
}

const PHASES: [Phase; 6] =
    [Phase::Received, Phase::Queued, Phase::ThreadMade, Phase::Asked, Phase::HalfRendered, Phase::Saved];

#[tokio::test]
async fn each_message_is_answered_once_whatever_happens_to_the_gateway_in_whatever_phase() {
    for (what, breaks) in BREAKS {
        for phase in PHASES {
            let stage = Stage::new().await;
            stage.world.set_heartbeat(Duration::from_millis(100));
            let serving = stage.serve().await;
            let thread = broken_in(&stage, phase, breaks).await;
            stage.until_said(thread, 1).await;
            stage.world.says("maya", thread, "two");
            stage.work().await;
            let said = stage.until_said(thread, 2).await;
            assert_eq!(said, ["You asked: one", "You asked: two"], "{what} × {phase:?}");
            assert_eq!(stage.store.load(Timestamp::now()).await.unwrap(), (0, 0));
            stage.world.mute_acknowledgements(false);
            serving.stop().await;
            assert_eq!(stage.said(thread).len(), 2, "{what} × {phase:?}: nothing was said on leaving");
            let threads =
                stage.world.state(|chat| chat.channels.iter().filter(|it| it.thread.is_some()).count());
            assert_eq!(threads, 1, "{what} × {phase:?}");
        }
        println!("{what}: each answered once, in every phase");
    }
}

/// Asks, breaks the gateway when the turn has come so far, and answers.
async fn broken_in(stage: &Stage, phase: Phase, breaks: fn(&Discord)) -> u64 {
    let (world, faults) = (&stage.world, stage.world.faults());
    match phase {
        Phase::Queued => faults.on(THREADS, FaultKind::Delay(HELD)).times(1),
        Phase::ThreadMade => faults.on(THREADS, FaultKind::AnswerLate(HELD)).times(1),
        Phase::Saved => faults.on(MESSAGES, FaultKind::AnswerLate(HELD)).times(1),
        Phase::Received | Phase::Asked | Phase::HalfRendered => {}
    }
    let thread = stage.says("maya", "@fro-bot one");
    if phase == Phase::Received {
        breaks(world);
    }
    if matches!(phase, Phase::Queued | Phase::ThreadMade) {
        faults.wait_until_held().await;
        breaks(world);
    }
    let claimed = stage.claim().await;
    if phase == Phase::Asked {
        breaks(world);
    }
    if phase == Phase::HalfRendered {
        let begun = Deed::say(claimed.turn.thread, "You asked…");
        stage.store.say(claimed.lease, 0, &begun, Timestamp::now()).await.unwrap();
        stage.until_said(thread, 1).await;
        breaks(world);
    }
    stage.finish(&claimed, "You asked: one").await;
    if phase == Phase::Saved {
        faults.wait_until_held().await;
        breaks(world);
    }
    thread
}
