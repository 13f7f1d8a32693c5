//! Random bytes from the kernel, the only source of what nobody can guess.

use std::{fs::File, io::Read as _};

use data_encoding::HEXLOWER;

/// Returns so many random bytes as lower-case hex.
pub fn random_hex<const BYTES: usize>() -> std::io::Result<String> {
    let mut bytes = [0; BYTES];
    File::open(SOURCE)?.read_exact(&mut bytes)?;
    Ok(HEXLOWER.encode(&bytes))
}

/// Where the kernel gives it.
pub(crate) const SOURCE: &str = "/dev/urandom";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_comes_twice() {
        let [first, second] = [(), ()].map(|()| random_hex::<24>().unwrap());
        assert_eq!((first.len(), second.len()), (48, 48));
        assert_ne!(first, second);
    }
}
