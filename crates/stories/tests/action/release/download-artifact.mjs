// In place of actions/download-artifact: everything that the run has uploaded, merged into one folder. Who may execute a
// file is not kept, as it is not by GitHub.

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const { INPUT_PATH: path, GITHUB_WORKSPACE: workspace, ARTIFACTS: kept } = process.env;
if (process.env["INPUT_MERGE-MULTIPLE"] !== "true") throw new Error("only merging is played here");
mkdirSync(join(workspace, path), { recursive: true });
for (const name of readdirSync(kept)) {
  for (const file of readdirSync(join(kept, name))) writeFileSync(join(workspace, path, file), readFileSync(join(kept, name, file)));
}
