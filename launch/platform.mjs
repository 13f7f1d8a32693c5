// What this machine is called in the names of released binaries, and why some machines have none.

import { Trouble } from "./runner.mjs";

const RUNS_ON = "let the job run on Linux on x86-64 with glibc, for instance `runs-on: ubuntu-latest`";

/** Returns the name of the one binary: it is static, so it runs on every Linux on x86-64 that the engine runs on. */
export function platform({ system = process.platform, architecture = process.arch, glibc = hasGlibc() } = {}) {
  if (system !== "linux") {
    throw new Trouble(`fro-bot does not run on ${system}: the wall around the agent is the Linux kernel's`, RUNS_ON);
  }
  if (architecture !== "x64") {
    throw new Trouble(`fro-bot does not run on ${architecture}: no OpenCode engine is pinned for it`, RUNS_ON);
  }
  if (!glibc) {
    throw new Trouble("fro-bot does not run without glibc, as on Alpine: the pinned OpenCode engine needs it", RUNS_ON);
  }
  return "linux-x64-musl";
}

function hasGlibc() {
  // The whole report would also look at the network, which can take seconds.
  process.report.excludeNetwork = true;
  return Boolean(process.report.getReport().header.glibcVersionRuntime);
}
