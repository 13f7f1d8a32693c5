// Runs the binary as if the runner had started it: same streams, same signals, same exit code.

import { spawn } from "node:child_process";
import { constants } from "node:os";

/** Resolves to the exit code. The runner signals only this process, so signals are passed on. */
export function start(binary, stage) {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, [stage], { stdio: "inherit" });
    const forward = (signal) => child.kill(signal);
    process.on("SIGINT", forward).on("SIGTERM", forward);
    child.on("error", (error) => reject(new Error(`cannot start ${binary}: ${error.message}`, { cause: error })));
    child.on("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
