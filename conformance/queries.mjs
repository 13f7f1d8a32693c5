// Witness of our own questions: each .graphql file of the repository is valid for the schema that GitHub publishes. A file
// of fragments alone is sent with the questions that spread them, and is looked at with those.

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
  const documents = files.map((file) => {
    const text = readFileSync(join(process.env.REPO_ROOT, file), "utf8");
    return { file, text, definitions: parse(text).definitions };
  });
  const isShared = ({ definitions }) => definitions.every(({ kind }) => kind === "FragmentDefinition");
  const shared = documents.filter(isShared);
  const spreads = (text, { definitions }) => definitions.some(({ name }) => text.includes(`...${name.value}`));
  const questions = documents.filter((document) => !isShared(document));
  for (const { file, text } of questions) {
    await check(file, () => {
      const sent = [text, ...shared.filter((fragments) => spreads(text, fragments)).map((fragments) => fragments.text)];
      const errors = validate(github, parse(sent.join("\n")), rules);
      assert.deepEqual(errors.map(({ message }) => message), []);
    });
  }
  for (const fragments of shared) {
    await check(fragments.file, () => assert.ok(questions.some(({ text }) => spreads(text, fragments)), "nobody spreads it"));
  }
  return rows;
}
