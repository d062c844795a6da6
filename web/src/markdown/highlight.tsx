/** Syntax highlighting with the grammars of the diff viewer. A separate chunk, loaded with the first code block. */
import { Fragment, type ReactNode } from "react";
import { createCssVariablesTheme, createHighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import { bundledLanguages } from "shiki/langs";

const DEFAULT_COLOUR = "currentColor";
const STRING_COLOUR = "var(--code-token-string)";

// The colours are custom properties, so that a change of the theme needs no new highlighting.
const theme = createCssVariablesTheme({
  variablePrefix: "--code-",
  variableDefaults: {
    background: "transparent",
    foreground: DEFAULT_COLOUR,
    "token-parameter": DEFAULT_COLOUR,
    "token-punctuation": DEFAULT_COLOUR,
    "token-link": STRING_COLOUR,
    "token-string-expression": STRING_COLOUR,
    "token-inserted": STRING_COLOUR,
    "token-deleted": "var(--code-token-constant)",
    "token-changed": "var(--code-token-constant)",
  },
  fontStyle: false,
});

// Not the engine in WebAssembly, which the content security policy blocks.
const highlighter = createHighlighterCore({
  themes: [theme],
  engine: createJavaScriptRegexEngine({ forgiving: true }),
});

const isLanguage = (name: string): name is keyof typeof bundledLanguages =>
  Object.hasOwn(bundledLanguages, name);

/** Returns the highlighted code as elements, or `undefined` for an unknown language. */
export async function highlight(source: string, language: string): Promise<ReactNode> {
  if (!isLanguage(language)) return undefined;
  const { loadLanguage, codeToTokensBase } = await highlighter;
  await loadLanguage(bundledLanguages[language]);
  return codeToTokensBase(source, { lang: language, theme: "css-variables" }).map((line, row) => (
    <Fragment key={row}>
      {row > 0 && "\n"}
      {line.map(({ content, color = DEFAULT_COLOUR, offset }) => (
        <span key={offset} style={{ color }}>
          {content}
        </span>
      ))}
    </Fragment>
  ));
}
