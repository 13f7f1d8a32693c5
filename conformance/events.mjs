// Witness of what a job is told: its event file is held against GitHub's own description of the webhook.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { eventValidator } from "./openapi.mjs";
import { inWorld, witness } from "./world.mjs";

export default async function testify() {
  const { rows, check } = witness("@octokit/openapi");
  const validate = eventValidator();
  await inWorld(async (world) => {
    for (const job of ["pull", "comment"]) {
      const { GITHUB_EVENT_NAME: name, GITHUB_EVENT_PATH: path } = world.jobs[job].environment;
      await check(`the event file of ${name} has all that its webhook has`, () => {
        const event = JSON.parse(readFileSync(path, "utf8"));
        validate(name, event);
        assert.equal(event.repository.full_name, "octo/garden");
      });
    }
  });
  return rows;
}
