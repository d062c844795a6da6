// Generates the API types in src/api from the two OpenAPI documents. With --check it writes nothing
// and fails when the files are out of date.
import { readFile, writeFile } from "node:fs/promises";

import openapiTS, { astToString } from "openapi-typescript";

const documents = ["control-plane", "gateway"];
const check = process.argv.includes("--check");
const stale = [];

for (const name of documents) {
  const source = new URL(`../../docs/openapi/${name}.json`, import.meta.url);
  const target = new URL(`../src/api/${name}.gen.ts`, import.meta.url);
  const types = astToString(await openapiTS(source, { alphabetize: true }));
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
