// Starts fro-bot for the event of this workflow run.

import { complain, keep } from "./runner.mjs";
import { find } from "./binary.mjs";
import { start } from "./start.mjs";

try {
  const binary = await find(process.env);
  // Said before anything else happens, so that `post` can clean up even after this process was killed.
  keep("binary", binary);
  process.exitCode = await start(binary, "action");
} catch (error) {
  complain("error", error);
  process.exitCode = 1;
}
