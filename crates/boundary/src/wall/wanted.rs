//! What a process behind the wall wants to connect to: the bytes that it gave to `connect`, read once.

use std::{
    ffi::{CStr, OsStr},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    os::unix::ffi::OsStrExt as _,
    path::Path,
};

use crate::wall::Address;

/// The most that the kernel takes for an address.
pub(super) const LONGEST: usize = 128;

impl Address {
    /// Reads an address as `connect` gets it, or nothing if it is of no kind that may be connected to.
    ///
    /// Flow and scope of an IPv6 address are left out: no address on a wall's list has any.
    pub(super) fn from_kernel(bytes: &[u8]) -> Option<Self> {
        let (family, rest) = bytes.split_first_chunk()?;
        match i32::from(u16::from_ne_bytes(*family)) {
            libc::AF_INET if bytes.len() >= size_of::<libc::sockaddr_in>() => {
                let (port, rest) = rest.split_first_chunk()?;
                let (address, _) = rest.split_first_chunk::<4>()?;
                Some(tcp(Ipv4Addr::from(*address), *port))
            }
            libc::AF_INET6 if bytes.len() >= size_of::<libc::sockaddr_in6>() => {
                let (port, rest) = rest.split_first_chunk()?;
                let (_flow, rest) = rest.split_first_chunk::<4>()?;
                let (address, _) = rest.split_first_chunk::<16>()?;
                Some(tcp(Ipv6Addr::from(*address), *port))
            }
            libc::AF_UNIX => path(rest).map(|path| Self::Unix(path.to_owned())),
            _ => None,
        }
    }

    /// Tells whether a connection to `wanted` is one to this place; IPv4 may be written as IPv6.
    pub(super) fn admits(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (Self::Tcp(own), Self::Tcp(wanted)) => {
                own.port() == wanted.port() && own.ip() == wanted.ip().to_canonical()
            }
            (Self::Unix(own), Self::Unix(wanted)) => own.as_os_str() == wanted.as_os_str(),
            (Self::Tcp(_), Self::Unix(_)) | (Self::Unix(_), Self::Tcp(_)) => false,
        }
    }
}

fn tcp(ip: impl Into<std::net::IpAddr>, port: [u8; 2]) -> Address {
    Address::Tcp(SocketAddr::new(ip.into(), u16::from_be_bytes(port)))
}

/// Returns the path up to its first zero; none begins with one, for those name abstract sockets.
fn path(bytes: &[u8]) -> Option<&Path> {
    let name = CStr::from_bytes_until_nul(bytes).map_or(bytes, CStr::to_bytes);
    (!name.is_empty()).then(|| Path::new(OsStr::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Lays an address out as the kernel wants it.
    fn bytes(family: i32, rest: &[u8]) -> Vec<u8> {
        [&u16::try_from(family).unwrap().to_ne_bytes(), rest].concat()
    }

    fn v4(address: [u8; 4], port: u16) -> Vec<u8> {
        bytes(libc::AF_INET, &[&port.to_be_bytes()[..], &address, &[0; 8]].concat())
    }

    fn v6(address: &str, port: u16) -> Vec<u8> {
        let address: Ipv6Addr = address.parse().unwrap();
        bytes(libc::AF_INET6, &[&port.to_be_bytes()[..], &[9; 4], &address.octets(), &[9; 4]].concat())
    }

    fn unix(path: &[u8]) -> Vec<u8> {
        bytes(libc::AF_UNIX, path)
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        let list = ["127.0.0.1:80", "[::1]:80", "unix:/run/broker"];
        let list = list.map(|text| Address::parse(text.as_ref()).unwrap());
        let wanted = Address::from_kernel(bytes);
        let admitted = wanted.as_ref().is_some_and(|wanted| list.iter().any(|own| own.admits(wanted)));
        let name = wanted.map_or("nothing".to_owned(), |wanted| wanted.to_string());
        assert_eq!(format!("{name} {}", if admitted { "yes" } else { "no" }), expected);
    }

    #[test]
    fn an_address_has_to_be_on_the_list() {
        check(&v4([127, 0, 0, 1], 80), "127.0.0.1:80 yes");
        check(&v4([127, 0, 0, 2], 80), "127.0.0.2:80 no");
        check(&v4([127, 0, 0, 1], 81), "127.0.0.1:81 no");
        check(&v4([0, 0, 0, 0], 80), "0.0.0.0:80 no");
        check(&v6("::1", 80), "[::1]:80 yes");
        check(&v6("::ffff:127.0.0.1", 80), "[::ffff:127.0.0.1]:80 yes");
        check(&v6("::ffff:127.0.0.2", 80), "[::ffff:127.0.0.2]:80 no");
        check(&v6("::", 80), "[::]:80 no");
    }

    #[test]
    fn a_path_has_to_be_on_the_list_as_it_stands() {
        check(&unix(b"/run/broker\0"), "unix:/run/broker yes");
        check(&unix(b"/run/broker"), "unix:/run/broker yes");
        check(&unix(b"/run/broker\0/../x"), "unix:/run/broker yes");
        check(&unix(b"/run/broker2\0"), "unix:/run/broker2 no");
        check(&unix(b"/run/./broker\0"), "unix:/run/./broker no");
        check(&unix(b"broker\0"), "unix:broker no");
        check(&unix(b"\0/run/broker"), "nothing no");
        check(&unix(b""), "nothing no");
    }

    #[test]
    fn what_is_cut_off_or_of_another_kind_is_nothing() {
        check(&[], "nothing no");
        check(&[2], "nothing no");
        check(&v4([127, 0, 0, 1], 80)[..15], "nothing no");
        check(&v6("::1", 80)[..27], "nothing no");
        check(&bytes(libc::AF_UNSPEC, &[0; 26]), "nothing no");
        check(&bytes(libc::AF_VSOCK, &[0; 14]), "nothing no");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in vec(any::<u8>(), 0..LONGEST)) {
            drop(Address::from_kernel(&bytes));
        }
    }
}
