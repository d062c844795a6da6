/** A fenced block of code, coloured once its grammars have arrived. */
import { type ReactNode, useEffect, useState } from "react";

import { CopyButton } from "@/ui/copy-button";

/** Blocks above this size stay plain: colouring them would hold up the page. */
const MAX_COLOURED_CHARS = 50_000;

export function CodeBlock({ source, language }: { source: string; language: string | undefined }) {
  const coloured = useColoured(source, language);
  return (
    <figure
      className="group relative overflow-hidden rounded-md border border-line bg-sunken"
      aria-label={language ? `${language} code` : "code"}
    >
      <pre
        // A scrolling region must be reachable without a mouse.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="overflow-x-auto px-3.5 py-3 text-[0.8125rem] leading-relaxed"
      >
        <code>{coloured ?? source}</code>
      </pre>
      <div className="absolute top-1 right-1 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
        <CopyButton text={source} label="Copy code" />
      </div>
    </figure>
  );
}

function useColoured(source: string, language: string | undefined): ReactNode {
  const [coloured, setColoured] = useState<ReactNode>();
  useEffect(() => {
    if (!language || source.length > MAX_COLOURED_CHARS) return;
    let current = true;
    import("./highlight").then(
      ({ highlight }) => current && setColoured(highlight(source, language)),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [source, language]);
  return coloured;
}
