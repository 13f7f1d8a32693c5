//! The engine version that this source was proven with, and the exact bytes of everything that is installed.

use std::borrow::Cow;

use crate::error::Error;

/// The engine version that this source was proven with.
pub const VERSION: &str = "1.18.33";

/// A machine to install for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    /// The operating system, as Rust calls it.
    pub os: &'static str,
    /// The processor, as Rust calls it.
    pub arch: &'static str,
    /// What an x86 processor can do.
    pub vectors: Vectors,
}

/// The engine's usual x86 build needs AVX2; on an older processor it would die of an illegal instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// AVX2 is there.
    Avx2,
    /// The processor lacks AVX2.
    Baseline,
}

impl Platform {
    /// The machine this runs on.
    pub fn here() -> Self {
        Self { os: std::env::consts::OS, arch: std::env::consts::ARCH, vectors: vectors() }
    }
}

#[cfg(target_arch = "x86_64")]
fn vectors() -> Vectors {
    if std::is_x86_feature_detected!("avx2") { Vectors::Avx2 } else { Vectors::Baseline }
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> Vectors {
    Vectors::Baseline
}

/// A published package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    /// The name it is published under.
    pub(crate) name: &'static str,
    pub(crate) version: Cow<'static, str>,
    /// SHA-512 of the packed package, in base64. A version that an operator chose has none: then the registry's word
    /// counts.
    pub(crate) sha512: Option<&'static str>,
    /// The size of the packed package, so that progress can be told of clients that tell none.
    pub(crate) bytes: u64,
    /// What is taken out of it.
    pub(crate) contents: Contents,
    /// The folder in the tool cache: two builds that cannot stand in for each other never share one.
    pub(crate) tool: &'static str,
    /// The architecture as the tool cache spells it.
    pub(crate) arch: &'static str,
}

/// What is taken out of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    /// One program.
    Program(&'static str),
    /// Everything, to be loaded as a module together with the packages it needs.
    Module { needs: &'static [Package] },
}

impl Package {
    /// The same package in another version.
    pub(crate) fn at(&self, version: String) -> Self {
        if version == self.version {
            return self.clone();
        }
        Self { version: version.into(), sha512: None, ..self.clone() }
    }
}

/// Returns the engine for a machine, or the fault that there is none we could vouch for.
pub(crate) fn engine(platform: Platform) -> Result<&'static Package, Error> {
    match (platform.os, platform.arch, platform.vectors) {
        ("linux", "x86_64", Vectors::Avx2) => Ok(&ENGINE_X64),
        ("linux", "x86_64", Vectors::Baseline) => Ok(&ENGINE_X64_BASELINE),
        (os, arch, _) => Err(Error::NoPin { tool: "OpenCode", os, arch }),
    }
}

/// Returns the search tool that the engine's `grep` and `glob` need and would otherwise download by themselves.
pub(crate) fn ripgrep(platform: Platform) -> Result<&'static Package, Error> {
    match (platform.os, platform.arch) {
        ("linux", "x86_64") => Ok(&RIPGREP_X64),
        ("linux", "aarch64") => Ok(&RIPGREP_ARM64),
        (os, arch) => Err(Error::NoPin { tool: "ripgrep", os, arch }),
    }
}

const ENGINE_X64: Package = Package {
    name: "opencode-linux-x64",
    version: Cow::Borrowed(VERSION),
    sha512: Some("q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw=="),
    bytes: 60_275_143,
    contents: Contents::Program("package/bin/opencode"),
    tool: "opencode",
    arch: "x64",
};

const ENGINE_X64_BASELINE: Package = Package {
    name: "opencode-linux-x64-baseline",
    version: Cow::Borrowed(VERSION),
    sha512: Some("1KQGBiiDDeL/VHHbHkOvvFo8Jr97WT5+C1tear+p7IcDTnXgVHXqIjU4O4jM4mHQzykTP2i884FCnW5LDa+zCA=="),
    bytes: 60_275_131,
    contents: Contents::Program("package/bin/opencode"),
    tool: "opencode-baseline",
    arch: "x64",
};

const RIPGREP_X64: Package = Package {
    name: "@vscode/ripgrep-linux-x64",
    version: Cow::Borrowed("1.18.0"),
    sha512: Some("mQ3bVrUpnD2vs7QT0vX90Lt0cnUq467uFtEktIdsJJmW296RoSULRGqWgzG1AKxyBpNDD6l4ZO4qKf6SgyC23Q=="),
    bytes: 2_351_856,
    contents: Contents::Program("package/bin/rg"),
    tool: "ripgrep",
    arch: "x64",
};

const RIPGREP_ARM64: Package = Package {
    name: "@vscode/ripgrep-linux-arm64",
    version: Cow::Borrowed("1.18.0"),
    sha512: Some("lQ/5zTG++U0E3IhVgS4EPTTn/U4okncaRMM5GOFfOYZywS4nuD31GhkHbNYlDk5CuDC68+hYJ0/eQeyCKJDA+g=="),
    bytes: 2_095_071,
    contents: Contents::Program("package/bin/rg"),
    tool: "ripgrep",
    arch: "arm64",
};

/// Oh My OpenCode. Its bundle has everything in it but one package, so that neither its two hundred dependencies nor
/// an installer are needed.
pub(crate) const OMO: Package = Package {
    name: "oh-my-opencode",
    version: Cow::Borrowed("4.19.4"),
    sha512: Some("MlL8JiB9zhpF+Cl7J6ilyuUS39dTzj2d2t14hhaSUc5v4jYldnfEuZfY+43vkPUzfjrWbQOvuPm3kd8yFvtL4g=="),
    bytes: 7_247_774,
    contents: Contents::Module { needs: &[ZOD] },
    tool: "oh-my-opencode",
    arch: "any",
};

const ZOD: Package = Package {
    name: "zod",
    version: Cow::Borrowed("4.6.7"),
    sha512: Some("g8W2D2kU6a8untc053fX1uVBKzM7yqAxW/3zwk83+6RyF2+SKOuV+c0wBDhUwzV1PaGapmZH+rmcUzPf+3CGwg=="),
    bytes: 1_141_941,
    contents: Contents::Module { needs: &[] },
    tool: "zod",
    arch: "any",
};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(os: &'static str, arch: &'static str, vectors: Vectors, expect: Option<&str>) {
        let found = engine(Platform { os, arch, vectors }).ok().map(|package| package.name);
        assert_eq!(found, expect, "{os} {arch} {vectors:?}");
    }

    #[test]
    fn every_machine_gets_its_own_build_or_none() {
        check("linux", "x86_64", Vectors::Avx2, Some("opencode-linux-x64"));
        check("linux", "x86_64", Vectors::Baseline, Some("opencode-linux-x64-baseline"));
        check("linux", "aarch64", Vectors::Baseline, None);
        check("macos", "x86_64", Vectors::Avx2, None);
        assert_ne!(ENGINE_X64.tool, ENGINE_X64_BASELINE.tool);
    }
}
