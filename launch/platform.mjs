// What this machine is called in the names of released binaries.

import { Trouble } from "./runner.mjs";

const SYSTEMS = { linux: "linux", darwin: "macos" };
const ARCHITECTURES = { x64: "x64", arm64: "arm64" };

/** Returns a name such as `linux-x64`, `linux-arm64-musl` or `macos-arm64`. */
export function platform({ system = process.platform, architecture = process.arch, glibc = hasGlibc() } = {}) {
  const known = SYSTEMS[system] && ARCHITECTURES[architecture];
  if (!known) {
    throw new Trouble(
      `fro-bot does not run on ${system} ${architecture}`,
      "let the job run on Linux or macOS, for instance `runs-on: ubuntu-latest`",
    );
  }
  const libc = system === "linux" && !glibc ? "-musl" : "";
  return `${SYSTEMS[system]}-${ARCHITECTURES[architecture]}${libc}`;
}

function hasGlibc() {
  // The whole report would also look at the network, which can take seconds.
  process.report.excludeNetwork = true;
  return Boolean(process.report.getReport().header.glibcVersionRuntime);
}
