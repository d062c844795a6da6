// Fails when the scripts that a browser loads before the first page exceed the budget (gzipped).
import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

// About one second on a 2 Mbit/s connection.
const BUDGET_KB = 250;
const dist = new URL("../dist/", import.meta.url);
const page = await readFile(new URL("index.html", dist), "utf8");
const scripts = [...page.matchAll(/(?:src|href)="\/([^"]+\.js)"/g)].map(([, path]) => path);
if (/<script(?![^>]*\bsrc=)/.test(page)) {
  console.error(
    "dist/index.html contains an inline script, which the content security policy blocks.",
  );
  process.exit(1);
}
let bytes = 0;
for (const path of scripts) bytes += gzipSync(await readFile(new URL(path, dist))).length;
const kilobytes = Math.round(bytes / 1024);
console.log(`initial scripts: ${kilobytes} KB gzipped of ${BUDGET_KB}`);
if (scripts.length === 0 || kilobytes > BUDGET_KB) process.exit(1);
