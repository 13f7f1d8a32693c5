// Witness of GraphQL as a whole: what the world says about itself is held against the schema that GitHub publishes.

import assert from "node:assert/strict";
import { schema as published } from "@octokit/graphql-schema";
import { buildClientSchema, buildSchema, getIntrospectionQuery, isInputObjectType, isListType, isNonNullType } from "graphql";
import { graphql, inWorld, witness } from "./world.mjs";

/** What gh 2.102 asks for already, and the published schema does not have yet. */
const NEWER = [
  "Issue.issueType", "Issue.blockedBy", "Issue.blocking", "IssueType", "Issue.assignedActors", "PullRequest.assignedActors",
  "Mutation.requestReviewsByLogin", "RequestReviewsByLoginInput", "RequestReviewsByLoginPayload",
  "Mutation.replaceActorsForAssignable", "ReplaceActorsForAssignableInput", "ReplaceActorsForAssignablePayload", "AssigneeConnection",
  "AssigneeEdge",
];

export default async function testify() {
  const { rows, check } = witness("@octokit/graphql-schema");
  const github = buildSchema(published.idl, { assumeValidSDL: true }).getTypeMap();
  await inWorld(async (world) => {
    const ours = buildClientSchema((await graphql(world, getIntrospectionQuery())).data).getTypeMap();
    await check("every type, field and argument of the world is one of GitHub's", () => {
      const types = Object.values(ours).filter(({ name, getFields }) => getFields && !name.startsWith("__"));
      const strange = types.flatMap((type) => differences(type, github[type.name]));
      assert.deepEqual(strange.filter((name) => !NEWER.includes(name)), []);
    });
  });
  return rows;
}

/** What a type of ours has that GitHub's has not, or that does not fit in its place. */
function differences(type, other) {
  if (!other) return [type.name];
  const theirs = other.getFields();
  return Object.values(type.getFields()).flatMap((field) => {
    const [name, same] = [`${type.name}.${field.name}`, theirs[field.name]];
    if (!same) return [name];
    if (isInputObjectType(type)) return fits(same.type, field.type) ? [] : [`${name}: ${field.type}`];
    const told = fits(field.type, same.type) ? [] : [`${name}: ${field.type}`];
    const asked = field.args.filter((arg) => !same.args.some(({ name, type }) => name === arg.name && fits(type, arg.type)));
    return [...told, ...asked.map((arg) => `${name}(${arg.name}: ${arg.type})`)];
  });
}

/** Whether a value of one type can stand where another is expected: it may promise more, but never less. */
function fits(given, expected) {
  if (isNonNullType(expected)) return isNonNullType(given) && fits(given.ofType, expected.ofType);
  if (isNonNullType(given)) return fits(given.ofType, expected);
  if (isListType(expected)) return isListType(given) && fits(given.ofType, expected.ofType);
  return `${given}` === `${expected}`;
}
