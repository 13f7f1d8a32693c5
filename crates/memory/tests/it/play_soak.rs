//! Plays many seeds of the soak: `cargo run --release -p fro-memory --example soak -- 1000`, or `-- 0 250` for some.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a trial that fails has nothing to say")]
#![expect(dead_code, reason = "the engine and the bucket of the tests can do more than is needed here")]

#[expect(unused_imports, reason = "the tests need more of it")]
mod bucket;
mod engine;
mod soak;

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|number| number.parse().unwrap()).collect();
    let counts = match numbers[..] {
        [seeds] => soak::play(0..seeds),
        [from, to] => soak::play(from..to),
        _ => panic!("say how many seeds, or from which to which"),
    };
    println!("{counts:?}");
}
