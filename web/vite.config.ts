import { fileURLToPath } from "node:url";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin, Rolldown } from "vite";
import { defineConfig } from "vitest/config";

// Control plane to which `npm run dev` proxies API requests.
const apiOrigin = process.env.LOOPGATE_API_ORIGIN ?? "http://127.0.0.1:19440";

// First path segments of the API routes. All other paths are pages.
const apiPaths = [
  "agent-proposals",
  "agents",
  "api-keys",
  "audit-log",
  "auth",
  "compute-targets",
  "documents",
  "feature-flags",
  "health",
  "invitations",
  "loops",
  "me",
  "members",
  "organization",
  "organizations",
  "public-keys",
  "repositories",
  "sessions",
];

/**
 * Gives the style elements that libraries create the nonce of the page, which the content security policy requires. The
 * libraries have no option for it.
 */
const nonceStyles: Plugin = {
  name: "nonce-styles",
  apply: "build",
  transform: {
    filter: { id: /\/node_modules\//, code: /createElement/ },
    handler: (code) =>
      code.replaceAll(
        /document\.createElement\((["'])style\1\)/g,
        `Object.assign(document.createElement("style"), {
          nonce: document.querySelector('meta[property="csp-nonce"]')?.nonce,
        })`,
      ),
  },
};

/** Packages that export all their modules from one: the first page uses these of them, other pages load the others. */
const FIRST_PAGE_EXPORTS = [
  { from: "/radix-ui/dist/", used: /\/react-(popover|tooltip)\// },
  { from: "/uuid/dist/index.js", used: /\/v7\.js$/ },
];
const isUnusedExport = (file: string, imported: string) =>
  FIRST_PAGE_EXPORTS.some(({ from, used }) => file.includes(from) && !used.test(imported));

/** Returns a test for the modules that files import at once. */
function importedBy(
  ...paths: string[]
): (id: string, context: Rolldown.ChunkingContext) => boolean {
  const files = paths.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  let modules: Set<string> | undefined;
  return (id, context) => {
    if (modules) return modules.has(id);
    modules = new Set(files);
    // A set also iterates over what is added during the iteration.
    for (const own of modules) {
      for (const imported of context.getModuleInfo(own)?.importedIds ?? [])
        if (!isUnusedExport(own, imported)) modules.add(imported);
    }
    return modules.has(id);
  };
}

// With the start page, which is loaded on demand like the others.
const inApp = importedBy("./src/app/main.tsx", "./src/app/inbox-page.tsx");
const inDiagrams = importedBy("./src/markdown/diagram-frame.ts");

export default defineConfig({
  plugins: [react(), tailwindcss(), nonceStyles],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    target: "es2023",
    // The content security policy blocks inline scripts and `data:` fonts, so assets must be files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // For scripts/check-budget.mjs, which removes it.
    manifest: true,
    rolldownOptions: {
      input: ["index.html", "diagram.html"],
      // One file of what the first page needs, not one for each set of pages that share a module.
      output: {
        codeSplitting: {
          groups: [
            {
              name: (...module) => (inApp(...module) && inDiagrams(...module) ? "common" : null),
              priority: 1,
            },
            { name: (...module) => (inApp(...module) ? "initial" : null) },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 900,
  },
  // Workers import the grammars of languages when they need them.
  worker: { format: "es" },
  server: {
    port: 5173,
    proxy: Object.fromEntries(
      apiPaths.map((path) => [`^/${path}(/|$|\\?)`, { target: apiOrigin }]),
    ),
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
  },
});
