//! Which files and ports the engine reaches: the Landlock rules.

use std::{
    io,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, RestrictSelf, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

use crate::wall::{Address, WallError, WallSpec};

/// Tells whether a path lies in a folder of the system's own programs, which the engine may read.
pub(crate) fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}

/// Returns the version of Landlock that this kernel offers, or why it is not enough.
pub(super) fn offered() -> Result<i32, String> {
    let status = RestrictSelf::default().no_new_privs(false).apply().map_err(|error| error.to_string())?;
    match status.landlock {
        LandlockStatus::NotEnabled => Err("Landlock is switched off in this kernel".to_owned()),
        LandlockStatus::NotImplemented => Err("this kernel has no Landlock".to_owned()),
        LandlockStatus::Available { effective_abi, .. } if effective_abi < LEAST => {
            Err(format!("Landlock of this kernel is version {effective_abi}, {LEAST} is needed for ports"))
        }
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            Ok(kernel_abi.unwrap_or(effective_abi as i32))
        }
    }
}

/// Restricts this process and all that come after it to what the wall lets through.
pub(super) fn restrict(spec: &WallSpec) -> Result<(), WallError> {
    for path in &spec.write {
        fs_err::metadata(path).map_err(|source| WallError::Folder { path: path.clone(), source })?;
    }
    rules(spec).map_err(|error| WallError::Kernel("restrict files and ports", io::Error::other(error)))
}

/// Rules for ports came with version 4; with 6 also signals and abstract sockets end at the wall.
const LEAST: ABI = ABI::V4;
/// The newest version that was tried. Older kernels get as much of it as they know.
const TRIED: ABI = ABI::V7;

const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/// What the system's programs need besides their own folders.
///
/// `/etc` goes file by file: keys lie there too, and user 0 without capabilities still owns them.
/// Of `/proc` the kernel itself hides the memory and environment of processes outside the wall.
const NEEDED: &[&str] = &[
    "/proc",
    // How many processors and how much memory there are to use.
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/lsb-release",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/openssl.cnf",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

/// Runtimes whose distribution keeps part of them in `/etc`.
const NEEDED_PREFIXES: &[&str] = &["python", "java-", "perl"];

const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

fn rules(spec: &WallSpec) -> Result<(), RulesetError> {
    let read = AccessFs::from_read(TRIED);
    let write = AccessFs::from_all(TRIED) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(TRIED))?
        .handle_access(AccessNet::from_all(TRIED))?
        .scope(Scope::from_all(TRIED))?
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, read))?
        .add_rules(path_beneath_rules(NEEDED, read))?
        .add_rules(path_beneath_rules(runtimes_in_etc(), read))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules(&spec.read, read))?
        .add_rules(path_beneath_rules(&spec.write, write))?
        .add_rules(ports(spec.listen.iter().copied(), AccessNet::BindTcp))?
        .add_rules(ports(spec.connect.iter().filter_map(Address::port), AccessNet::ConnectTcp))?;
    ruleset.restrict_self()?;
    Ok(())
}

fn ports(
    ports: impl Iterator<Item = u16>,
    access: AccessNet,
) -> impl Iterator<Item = Result<NetPort, RulesetError>> {
    ports.map(move |port| Ok(NetPort::new(port, BitFlags::from(access))))
}

fn runtimes_in_etc() -> Vec<PathBuf> {
    let is_runtime = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        NEEDED_PREFIXES.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
    };
    let entries = std::fs::read_dir("/etc").into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(is_runtime).collect()
}
