// In place of actions/attest-build-provenance, which only GitHub can do: what would be attested is there.

import { statSync } from "node:fs";
import { resolve } from "node:path";

statSync(resolve(process.env.GITHUB_WORKSPACE, process.env["INPUT_SUBJECT-PATH"]));
