/** A fenced code block. Highlighted once the grammars are loaded. */
import { type ReactNode, useEffect, useState } from "react";

import { loadChunk } from "@/api/load-chunk";
import { CopyButton } from "@/ui/copy-button";

// Larger blocks are not highlighted: tokenizing runs on the main thread.
const MAX_HIGHLIGHTED_CHARS = 50_000;

export function CodeBlock({ source, language }: { source: string; language: string | undefined }) {
  const highlighted = useHighlighted(source, language);
  return (
    <figure
      className="group relative overflow-hidden rounded-md border border-line bg-sunken"
      aria-label={language ? `${language} code` : "code"}
    >
      <pre
        // A scrollable region must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="overflow-x-auto px-3.5 py-3 text-[0.8125rem] leading-relaxed"
      >
        <code>{highlighted ?? source}</code>
      </pre>
      <div className="absolute top-1 right-1 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
        <CopyButton text={source} label="Copy code" />
      </div>
    </figure>
  );
}

function useHighlighted(source: string, language: string | undefined): ReactNode {
  const [highlighted, setHighlighted] = useState<{
    source: string;
    language: string;
    code: ReactNode;
  }>();
  useEffect(() => {
    if (!language || source.length > MAX_HIGHLIGHTED_CHARS) return;
    let current = true;
    loadChunk(() => import("./highlight"))
      .then(({ highlight }) => highlight(source, language))
      .then(
        (code) => current && setHighlighted({ source, language, code }),
        // A chunk could not be loaded, for example after an update of the server: show plain text.
        () => undefined,
      );
    return () => {
      current = false;
    };
  }, [source, language]);
  // Not the result for an earlier source.
  return highlighted?.source === source && highlighted.language === language
    ? highlighted.code
    : undefined;
}
