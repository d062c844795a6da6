/** Editor for Markdown. A separate chunk with the editor library. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import {
  defineLanguageFacet,
  HighlightStyle,
  Language,
  syntaxHighlighting,
} from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { GFM, parser } from "@lezer/markdown";
import { useEffect, useRef } from "react";

// Not @codemirror/lang-markdown, which contains parsers for HTML, CSS and JavaScript: three times the size.
const MARKDOWN = new Language(defineLanguageFacet(), parser.configure(GFM), [], "markdown");

const HIGHLIGHTS = HighlightStyle.define([
  { tag: tags.heading, fontWeight: "bold" },
  { tag: tags.strong, fontWeight: "bold" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.link, tags.url], color: "var(--accent)" },
  { tag: tags.monospace, color: "var(--code-token-string)" },
  { tag: [tags.processingInstruction, tags.quote], color: "var(--ink-3)" },
]);

const THEME = EditorView.theme({
  "&": { fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-content": {
    fontFamily: "var(--font-mono)",
    padding: "1rem",
    caretColor: "var(--ink)",
    minHeight: "20rem",
  },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
});

export function MarkdownEditor({
  initial,
  label,
  onChange,
}: {
  /** Text at the start. Later changes of it are ignored. */
  initial: string;
  /** Accessible name. */
  label: string;
  onChange: (text: string) => void;
}) {
  const parent = useRef<HTMLDivElement>(null);
  const start = useRef({ initial, label });
  const changed = useRef(onChange);
  useEffect(() => {
    changed.current = onChange;
  });
  useEffect(() => {
    if (!parent.current) return;
    const editor = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        doc: start.current.initial,
        extensions: [
          history(),
          // Without Tab, which moves the focus.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          MARKDOWN,
          syntaxHighlighting(HIGHLIGHTS),
          EditorView.lineWrapping,
          EditorView.perLineTextDirection.of(true),
          EditorView.contentAttributes.of({ "aria-label": start.current.label, dir: "auto" }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) changed.current(state.doc.toString());
          }),
          THEME,
        ],
      }),
    });
    return () => editor.destroy();
  }, []);
  return <div ref={parent} />;
}
