import { fileURLToPath } from "node:url";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
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

export default defineConfig({
  plugins: [react(), tailwindcss(), nonceStyles],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    target: "es2023",
    // The content security policy blocks inline scripts and `data:` fonts, so assets must be files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: ["index.html", "diagram.html"] },
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
