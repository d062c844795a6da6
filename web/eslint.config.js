import js from "@eslint/js";
import tailwind from "eslint-plugin-better-tailwindcss";
import jsxA11y from "eslint-plugin-jsx-a11y";
import reactHooks from "eslint-plugin-react-hooks";
import globals from "globals";
import tseslint from "typescript-eslint";

// Folders of `src`, each with the folders that it may import. A feature imports no other feature: features meet in `app`.
const IMPORTS = {
  api: [],
  model: ["api"],
  ui: ["api", "model"],
  markdown: ["api", "ui"],
  signing: ["api"],
  gateway: ["api", "signing"],
  routing: ["api"],
  drafts: ["api", "ui"],
  features: ["api", "model", "ui", "markdown", "signing", "gateway", "routing", "drafts"],
};

/** Forbids imports that match a regular expression, static and with `import()`. */
const forbidImports = (files, regex, message) => ({
  files,
  rules: {
    "no-restricted-imports": ["error", { patterns: [{ regex, message }] }],
    "no-restricted-syntax": [
      "error",
      { selector: `ImportExpression > Literal[value=/${regex.replaceAll("/", "\\/")}/]`, message },
    ],
  },
});

const folderRules = Object.entries(IMPORTS).flatMap(([folder, allowed]) => {
  const other = `@/(?!(${allowed.join("|")})/)`;
  const message = `See IMPORTS in eslint.config.js for what src/${folder} may import.`;
  // Relative imports stay inside a shared folder or a feature, which has one level of subfolders.
  return folder === "features"
    ? [
        forbidImports(["src/features/*/*"], `^(${other}|\\.\\./)`, message),
        forbidImports(["src/features/*/*/*"], `^(${other}|\\.\\./\\.\\./)`, message),
      ]
    : [forbidImports([`src/${folder}/**`], `^(${other}|\\.\\./)`, message)];
});

export default tseslint.config(
  { ignores: ["dist", "test-results", "playwright-report", "src/api/*.gen.ts"] },
  js.configs.recommended,
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/only-throw-error": [
        "error",
        // The router's redirects are thrown by design.
        {
          allow: [
            {
              from: "package",
              package: "@tanstack/router-core",
              name: ["Redirect", "NotFoundError"],
            },
          ],
        },
      ],
    },
  },
  {
    files: ["src/**/*.{ts,tsx}"],
    extends: [reactHooks.configs.flat.recommended, jsxA11y.flatConfigs.strict],
    languageOptions: { globals: globals.browser },
    plugins: { "better-tailwindcss": tailwind },
    settings: {
      "better-tailwindcss": { entryPoint: "src/app/styles.css", detectComponentClasses: true },
    },
    // A class without a rule, such as a color that the theme lacks, shows nothing.
    rules: {
      "better-tailwindcss/no-unknown-classes": "error",
      "no-restricted-properties": [
        "error",
        {
          object: "crypto",
          property: "randomUUID",
          message: "Pages at http addresses of other machines lack it. Use the package uuid.",
        },
      ],
    },
  },
  ...folderRules,
  { files: ["scripts/**", "dev/**", "e2e/**", "*.js"], languageOptions: { globals: globals.node } },
  { files: ["public/**"], languageOptions: { globals: globals.browser, sourceType: "script" } },
);
