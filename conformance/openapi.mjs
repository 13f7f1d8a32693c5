// Holds answers of the REST API against GitHub's own description of them.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import Ajv from "ajv";
import addFormats from "ajv-formats";

const description = createRequire(import.meta.url)("@octokit/openapi").schemas["api.github.com"];

// One list wants an account to be a person and an enterprise at once; everywhere else it is either.
description.paths["/app/installations"].get.responses[200].content["application/json"].schema.items = {
  $ref: "#/components/schemas/installation",
};

// A conflict there is one of two kinds, of which the plainer one fits both.
description.paths["/repos/{owner}/{repo}/contents/{path}"].put.responses[409].content["application/json"].schema = {
  $ref: "#/components/schemas/basic-error",
};

/** Makes a function that fails if an event is not as GitHub describes the one of this name and action. */
export function eventValidator() {
  const schemaOf = schemas();
  return (name, event) => {
    const kind = `webhook-${name}-${event.action}`.replaceAll("_", "-");
    const fits = schemaOf("components", "schemas", kind);
    assert.ok(fits, `GitHub describes no ${kind}`);
    if (!fits(event)) assert.fail(`${kind} is not as GitHub describes it:\n${complaints(fits)}`);
  };
}

/** Makes a function that fails if an answer is not as GitHub describes it for its route and status. */
export function validator() {
  const schemaOf = schemas();
  return (method, url, { status, data, headers }) => {
    if (status === 204 || status === 304 || typeof data !== "object" || data instanceof ArrayBuffer) return;
    const path = template(url.replace(/^https?:\/\/[^/]+/, "").replace(/\{?\?.*/, ""));
    const verb = method.toLowerCase();
    const described = description.paths[path][verb].responses[status];
    // Refusals that any route can give are described once.
    assert.ok(described || status >= 400, `GitHub never answers ${status} to ${method} ${path}`);
    const place = described?.$ref ? described.$ref.slice(2).split("/") : ["paths", path, verb, "responses", `${status}`];
    const fits =
      (described && schemaOf(...place, "content", "application/json", "schema")) ??
      (status >= 400 && schemaOf("components", "schemas", "basic-error"));
    assert.ok(fits, `no schema for ${status} of ${method} ${path}`);
    // A list that fits on one page leads nowhere.
    const whole = described ? place.reduce((part, key) => part[key], description) : {};
    const promised = Object.keys(whole.headers ?? {}).filter((name) => name !== "Link");
    const missing = promised.filter((name) => !(name.toLowerCase() in headers));
    assert.deepEqual(missing, [], `headers of ${status} of ${method} ${path}`);
    if (!fits(data)) {
      assert.fail(`${status} of ${method} ${path} is not as GitHub describes it:\n${complaints(fits)}`);
    }
  };
}

/** Finds schemas by where they stand in GitHub's description. */
function schemas() {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true });
  addFormats(ajv);
  ajv.addSchema(asJsonSchema(description), "github");
  return (...keys) => {
    const escaped = keys.map((key) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1")));
    return ajv.getSchema(`github#/${escaped.join("/")}`);
  };
}

const complaints = ({ errors }) =>
  errors.slice(0, 12).map(({ instancePath, message }) => `${instancePath} ${message}`).join("\n");

/** The path as GitHub describes it; the next page of a list is asked for by its whole address, with a number for names. */
function template(asked) {
  if (description.paths[asked]) return asked;
  const path = asked.replace(/^\/repositories\/\d+/, "/repos/o/r");
  const fits = (known) => new RegExp(`^${known.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`).test(path);
  const found = Object.keys(description.paths).filter(fits);
  assert.equal(found.length, 1, `GitHub has no ${path}`);
  return found[0];
}

/** OpenAPI 3.0 says `nullable` where JSON Schema has a type or an alternative. */
function asJsonSchema(node) {
  if (Array.isArray(node)) return node.map(asJsonSchema);
  if (node === null || typeof node !== "object") return node;
  const { nullable, example, examples, ...rest } = node;
  const schema = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, asJsonSchema(value)]));
  return nullable === true ? { anyOf: [schema, { type: "null" }] } : schema;
}
