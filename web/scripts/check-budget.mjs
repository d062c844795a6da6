// Fails when the files that a browser loads for a page exceed the budget. Counts what the control plane sends: the
// compressed copies that scripts/compress.mjs wrote, and files that have none.
import { readFile, rm, stat } from "node:fs/promises";

// Code and style. About one second on a 2 Mbit/s connection.
const FIRST_PAGE_KB = 200;
// Loaded while the text is already displayed in another font.
const FONT_KB = 50;
// Code that another page adds.
const LATER_PAGE_KB = 60;
// Code of a part of a page, such as the renderer of Markdown: loaded while the page is already displayed.
const PART_KB = 60;
const KB = 1024;

const dist = new URL("../dist/", import.meta.url);
const manifestFile = new URL(".vite/manifest.json", dist);
const manifest = JSON.parse(await readFile(manifestFile, "utf8"));
const page = await readFile(new URL("index.html", dist), "utf8");

const sentBytes = async (path) => {
  const sizeOf = (name) => stat(new URL(name, dist)).then(({ size }) => size);
  return sizeOf(`${path}.gz`).catch(() => sizeOf(path));
};
const sum = async (paths) => {
  const sizes = await Promise.all([...paths].map(sentBytes));
  return Math.round(sizes.reduce((total, size) => total + size, 0) / KB);
};

/** Files of a chunk and of its static imports. */
function filesOf(key, files = new Set()) {
  const { file, css = [], imports = [] } = manifest[key];
  if (files.has(file)) return files;
  for (const own of [file, ...css]) files.add(own);
  for (const imported of imports) filesOf(imported, files);
  return files;
}

/** Chunks that a chunk and its static imports load on demand. */
function onDemand(key, seen = new Set(), found = new Set()) {
  if (seen.has(key)) return found;
  seen.add(key);
  const { imports = [], dynamicImports = [] } = manifest[key];
  for (const chunk of dynamicImports) found.add(chunk);
  for (const imported of imports) onDemand(imported, seen, found);
  return found;
}

const problems = [];
if (/<script(?![^>]*\bsrc=)/.test(page)) {
  problems.push(
    "dist/index.html contains an inline script, which the content security policy blocks.",
  );
}
const linked = [...page.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, path]) => path);
const chunks = Object.keys(manifest).filter((key) => linked.includes(manifest[key].file));
const initial = new Set(chunks.flatMap((key) => [...filesOf(key)]));
const first = await sum(new Set(["index.html", ...linked, ...initial]));
console.log(`first page: ${first} KB of ${FIRST_PAGE_KB}, ${initial.size} files of code and style`);
if (first > FIRST_PAGE_KB) problems.push(`The first page loads ${first} KB.`);
// The one font file that every page uses.
const font = Object.values(manifest).find(({ file }) => file.includes("sans-latin-wght-normal"));
const fontSize = font ? await sum([font.file]) : Infinity;
if (fontSize > FONT_KB) problems.push(`The font has ${fontSize} KB of ${FONT_KB}.`);

const added = (key, present) => [...filesOf(key)].filter((file) => !present.has(file));
const pages = [];
const parts = [];
for (const key of new Set(chunks.flatMap((chunk) => [...onDemand(chunk)]))) {
  pages.push({ name: manifest[key].name ?? key, size: await sum(added(key, initial)) });
  const present = new Set([...initial, ...filesOf(key)]);
  for (const part of onDemand(key)) {
    parts.push({ name: manifest[part].name ?? part, size: await sum(added(part, present)) });
  }
}
for (const [kind, list, limit] of [
  ["later pages", pages, LATER_PAGE_KB],
  ["parts of pages", parts, PART_KB],
]) {
  list.sort((a, b) => b.size - a.size);
  for (const { name, size } of list)
    if (size > limit) problems.push(`${name} adds ${size} KB of ${limit}.`);
  const largest = list.slice(0, 3).map(({ name, size }) => `${name} ${size} KB`);
  console.log(`${kind}: ${largest.join(", ")} of ${limit}`);
}

// It describes the build and is no part of the app.
await rm(new URL(".vite/", dist), { recursive: true });
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
