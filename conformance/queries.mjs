// Witness of our own questions: each .graphql file of the repository is valid for the schema that GitHub publishes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { schema } from "@octokit/graphql-schema";
import { buildSchema, parse, specifiedRules, validate, OverlappingFieldsCanBeMergedRule } from "graphql";
import { witness } from "./world.mjs";

export default async function testify() {
  const { rows, check } = witness("@octokit/graphql-schema");
  // The file defines two fields twice, which nobody here minds.
  const github = buildSchema(schema.idl, { assumeValidSDL: true });
  // GitHub takes fields of one name and different types in branches that exclude each other.
  const rules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);
  const files = process.env.GRAPHQL_FILES.split("\n").filter(Boolean);
  assert.ok(files.length > 0, "no .graphql file was found");
  for (const file of files) {
    await check(file, () => {
      const errors = validate(github, parse(readFileSync(join(process.env.REPO_ROOT, file), "utf8")), rules);
      assert.deepEqual(errors.map(({ message }) => message), []);
    });
  }
  return rows;
}
