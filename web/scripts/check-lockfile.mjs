// Fails when the lock file contains registry addresses, which would break installs from another registry.
import { readFile } from "node:fs/promises";

const lock = await readFile(new URL("../package-lock.json", import.meta.url), "utf8");
if (/"resolved": "https?:/.test(lock)) {
  console.error(
    "package-lock.json contains the address of a registry. Delete node_modules and package-lock.json, then run `npm install`.",
  );
  process.exit(1);
}
