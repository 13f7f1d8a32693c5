//! A process that hides, says so, and waits for its standard input to end; for the tests of this crate.

use std::io;

fn main() -> io::Result<()> {
    fro_boundary::hide()?;
    io::copy(&mut &b"hidden\n"[..], &mut io::stdout())?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
