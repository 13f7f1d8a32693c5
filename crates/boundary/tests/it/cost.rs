//! What the wall costs at the start, for reading: figures differ from machine to machine.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use crate::world::everyone;

#[test]
fn the_start_is_measured() {
    everyone(|world| {
        let bare = median(|| drop(Command::new("true").output().unwrap()));
        let walled = median(|| drop(world.shell("exec true")));
        println!("{:?}: bare {bare:?}, walled {walled:?}", world.user);
    });
}

fn median(deed: impl Fn()) -> Duration {
    let mut times: Vec<Duration> = (0..21)
        .map(|_| {
            let start = Instant::now();
            deed();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[10]
}
