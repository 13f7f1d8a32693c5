// In place of actions/upload-artifact: the files that its path names, put where the next job finds them.

import { copyFileSync, globSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";

const { INPUT_NAME: name, INPUT_PATH: pattern, GITHUB_WORKSPACE: workspace, ARTIFACTS: kept } = process.env;
const files = globSync(pattern, { cwd: workspace });
if (files.length === 0) throw new Error(`nothing is at ${pattern}`);
mkdirSync(join(kept, name), { recursive: true });
for (const file of files) copyFileSync(join(workspace, file), join(kept, name, basename(file)));
