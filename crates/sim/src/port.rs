//! A port for a server that only starts later, which nobody else takes in the meantime.

use std::net::{Ipv4Addr, UdpSocket};

use tokio::net::TcpSocket;

/// The first port that is tried.
const FIRST: u16 = 10_240;

/// A port of 127.0.0.1 on which nothing listens, and which is nobody else's for as long as this lives.
///
/// The kernel gives out free ports above `ip_local_port_range` to whoever asks for any, so that one that was found free
/// and let go of can be another's a moment later. This one lies below, and other tests see the claim.
#[derive(Debug)]
pub struct ClaimedPort {
    /// Its number.
    pub number: u16,
    /// The same number of UDP, which stands in the way of no TCP.
    _claim: UdpSocket,
}

impl ClaimedPort {
    /// Finds one.
    ///
    /// # Panics
    ///
    /// If thousands of ports are taken.
    #[must_use]
    #[expect(clippy::expect_used, reason = "documented above; a test has nothing else to do then")]
    pub fn find() -> Self {
        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
        let given_out = range.split_whitespace().next().and_then(|first| first.parse().ok());
        let end = given_out.unwrap_or(32_768).max(FIRST + 5_000);
        let find = |number| {
            let claim = UdpSocket::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
            // Unlike a listener of the standard library, this sees connections that ended a moment ago.
            TcpSocket::new_v4().ok()?.bind((Ipv4Addr::LOCALHOST, number).into()).ok()?;
            Some(Self { number, _claim: claim })
        };
        (FIRST..end).find_map(find).expect("thousands of ports are taken")
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn nobody_is_given_a_port_that_is_claimed() {
        let claimed: Vec<_> = (0..50).map(|_| ClaimedPort::find()).collect();
        let given: Vec<_> = (0..50).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let numbers = claimed.iter().map(|port| port.number);
        let numbers = numbers.chain(given.iter().map(|listener| listener.local_addr().unwrap().port()));
        assert_eq!(numbers.collect::<std::collections::HashSet<_>>().len(), 100);
        assert!(claimed.iter().all(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port.number)).is_ok()));
    }
}
