// Files of dist/ as the control plane serves them: compressed, cached, and with the same content security policy.
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
// Selects another version of the app: the addresses of all chunks are others.
const ASSETS = process.env.APP_VERSION ? `assets/${process.env.APP_VERSION}/` : "assets/";
const policy = (nonce, gatewayPort) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' http://127.0.0.1:${gatewayPort}`,
    "worker-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
// The sandboxed frame of diagrams has another origin, which may load the app's files.
const DIAGRAM_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Sends a file of the build, or the page of the app for all other paths. */
export async function sendFile(path, response, gatewayPort) {
  const isAsset = path.startsWith("/assets/");
  let target = join(DIST, normalize(path.replace(ASSETS, "assets/")));
  const info = await stat(target).catch(() => undefined);
  if (isAsset && !(info?.isFile() && path.startsWith(`/${ASSETS}`))) {
    return void response.writeHead(404).end("Not found");
  }
  // Other paths without a file are pages: the router in index.html resolves them.
  if (!info?.isFile()) target = join(DIST, "index.html");
  const nonce = randomBytes(16).toString("base64");
  const isPage = extname(target) === ".html";
  const compressed =
    isPage || ASSETS !== "assets/" ? undefined : await stat(`${target}.gz`).catch(() => undefined);
  response.writeHead(200, {
    "Content-Type": TYPES[extname(target)] ?? "application/octet-stream",
    "Content-Security-Policy":
      path === "/diagram.html" ? DIAGRAM_POLICY : policy(nonce, gatewayPort),
    "Cache-Control": isAsset ? "public, max-age=31536000, immutable" : "no-cache",
    ...(isAsset && { "Access-Control-Allow-Origin": "*" }),
    ...(compressed && { "Content-Encoding": "gzip" }),
  });
  if (ASSETS !== "assets/" && [".js", ".css"].includes(extname(target))) {
    const text = await readFile(target, "utf8");
    return void response.end(text.replaceAll("assets/", ASSETS));
  }
  if (!isPage) {
    return void createReadStream(compressed ? `${target}.gz` : target).pipe(response);
  }
  const page = await readFile(target, "utf8");
  response.end(
    page
      .replaceAll("assets/", ASSETS)
      .replace("__CSP_NONCE__", nonce)
      .replace("__GATEWAY_PORTS__", String(gatewayPort)),
  );
}
