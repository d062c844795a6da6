// Generates the API types in src/api from the two OpenAPI documents. With --check it writes nothing
// and fails when the files are out of date.
import { readdir, readFile, writeFile } from "node:fs/promises";

import openapiTS, { astToString } from "openapi-typescript";

const documents = ["control-plane", "gateway"];
const SOURCES = new URL("../src/", import.meta.url);
const check = process.argv.includes("--check");
const stale = [];

/** The operations of the gateway that the pages name, as in `GatewayAnswer<"list_repos">`. */
async function usedOperations() {
  const names = new Set();
  for (const file of await readdir(SOURCES, { recursive: true })) {
    if (!/\.tsx?$/.test(file) || file.endsWith(".gen.ts")) continue;
    const source = await readFile(new URL(file, SOURCES), "utf8");
    for (const [, name] of source.matchAll(/GatewayAnswer<"(\w+)">/g)) names.add(name);
  }
  return [...names];
}

/** Removes the other operations of a document, and the schemas that they alone refer to. */
function keepOperations({ paths, components: { schemas } }, used) {
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { operationId }] of Object.entries(item))
      if (!used.includes(operationId)) delete item[method];
    if (Object.keys(item).length === 0) delete paths[path];
  }
  const referenced = new Set();
  const addReferences = (node) => {
    for (const [, name] of JSON.stringify(node).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (referenced.has(name)) continue;
      referenced.add(name);
      addReferences(schemas[name]);
    }
  };
  addReferences(paths);
  for (const name of Object.keys(schemas)) if (!referenced.has(name)) delete schemas[name];
}

for (const name of documents) {
  const source = new URL(`../../docs/openapi/${name}.json`, import.meta.url);
  const target = new URL(`../src/api/${name}.gen.ts`, import.meta.url);
  const document = JSON.parse(await readFile(source, "utf8"));
  // Most operations of the gateway are for other programs.
  if (name === "gateway") keepOperations(document, await usedOperations());
  const types = astToString(await openapiTS(document, { alphabetize: true }));
  const text = `// Generated from docs/openapi/${name}.json by \`npm run generate\`. Do not edit.\n\n${types}`;
  if (check) {
    const existing = await readFile(target, "utf8").catch(() => "");
    if (existing !== text) stale.push(`src/api/${name}.gen.ts`);
  } else {
    await writeFile(target, text);
  }
}

if (stale.length > 0) {
  console.error(
    `Out of date: ${stale.join(", ")}. Run \`npm run generate\` and commit the result.`,
  );
  process.exit(1);
}
