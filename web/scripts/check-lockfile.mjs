// Keeps the lock file free of addresses: an install must work against any registry.
import { readFile } from "node:fs/promises";

const lock = await readFile(new URL("../package-lock.json", import.meta.url), "utf8");
if (/"resolved": "https?:/.test(lock)) {
  console.error(
    "package-lock.json names a registry host. Delete node_modules and package-lock.json, then run `npm install`.",
  );
  process.exit(1);
}
