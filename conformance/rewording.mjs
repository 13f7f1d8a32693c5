// The same GraphQL question in other words: every name of the asker's own is another one, and the order is turned round.

import { parse, print, visit } from "graphql";

const MARK = "_too";
const another = (name) => ({ ...name, value: name.value + MARK });

/** Rewords a question and its variables. */
export function reworded({ query, variables }) {
  const turned = (node, key) => ({ ...node, [key]: node[key].toReversed() });
  const document = visit(parse(query), {
    Document: { leave: (node) => turned(node, "definitions") },
    SelectionSet: { leave: (node) => turned(node, "selections") },
    OperationDefinition: { leave: (node) => ({ ...node, name: { kind: "Name", value: `Another${MARK}` } }) },
    Field: { leave: (node) => ({ ...node, alias: another(node.alias ?? node.name) }) },
    FragmentDefinition: { leave: (node) => ({ ...node, name: another(node.name) }) },
    FragmentSpread: { leave: (node) => ({ ...node, name: another(node.name) }) },
    Variable: { leave: (node) => ({ ...node, name: another(node.name) }) },
  });
  const renamed = Object.entries(variables ?? {}).map(([name, value]) => [name + MARK, value]);
  return { query: print(document), variables: Object.fromEntries(renamed) };
}

/** Takes the other names out of an answer again. */
export function originally(answer) {
  if (Array.isArray(answer)) return answer.map(originally);
  if (answer === null || typeof answer !== "object") return answer;
  const fields = Object.entries(answer).map(([name, value]) => [name.slice(0, -MARK.length), originally(value)]);
  return Object.fromEntries(fields);
}
