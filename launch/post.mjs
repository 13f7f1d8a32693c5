// Finishes what a killed run left open. A job is never red because of this step.

import { complain, kept } from "./runner.mjs";
import { start } from "./start.mjs";

const binary = kept("binary");
if (binary) {
  try {
    await start(binary, "post");
  } catch (error) {
    complain("warning", error);
  }
}
