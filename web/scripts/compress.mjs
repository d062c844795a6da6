/** Adds a compressed copy to each text of the build. The control plane embeds and serves only these copies. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const DIST = new URL("../dist/", import.meta.url);
const COMPRESSED_ALREADY = /\.(gz|woff2|png|ico)$/;

for (const entry of await readdir(DIST, { recursive: true, withFileTypes: true })) {
  if (
    !entry.isFile() ||
    COMPRESSED_ALREADY.test(entry.name) ||
    entry.parentPath.endsWith(".vite")
  ) {
    continue;
  }
  const path = `${entry.parentPath}/${entry.name}`;
  await writeFile(`${path}.gz`, gzipSync(await readFile(path), { level: 9 }));
}
