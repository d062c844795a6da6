/** Renders Markdown. Raw HTML is shown as text, links open in a new tab, images are not loaded. */
import { isValidElement, memo, type ReactElement, type ReactNode, Suspense } from "react";
import ReactMarkdown, { type Components } from "react-markdown";

import { lazyView } from "@/ui/lazy-view";

import { changedBlocks } from "./changed-blocks";
import { CodeBlock } from "./code-block";
import { gfmSyntax } from "./gfm";
import { headingIds } from "./heading-ids";
import { textDirection } from "./text-direction";

const Diagram = lazyView(() => import("./diagram"), "Diagram");

const remarkPlugins = [gfmSyntax];
const NO_LINES: ReadonlySet<number> = new Set();

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  // Loading an image would contact another host: show its description or address instead.
  img: ({ src, alt }) => <span>{alt ?? (typeof src === "string" ? src : "image")}</span>,
  input: ({ checked }) => (
    <input
      type="checkbox"
      checked={checked ?? false}
      disabled
      aria-label={checked ? "Done" : "Open"}
    />
  ),
  pre: ({ children }) => <Fence>{children}</Fence>,
  table: ({ children }) => (
    // A wide table scrolls separately from the page, and must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="overflow-x-auto" role="region" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

/** Marks the blocks that start on the lines `changedLines`. */
export const Markdown = memo(function Markdown({
  text,
  changedLines = NO_LINES,
}: {
  text: string;
  changedLines?: ReadonlySet<number>;
}) {
  return (
    <div className="prose">
      <ReactMarkdown
        remarkPlugins={remarkPlugins}
        rehypePlugins={[headingIds, textDirection, [changedBlocks, changedLines]]}
        components={components}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
});

function Fence({ children }: { children: ReactNode }) {
  if (!isValidElement(children)) return <pre>{children}</pre>;
  const { className, children: content } = (
    children as ReactElement<{ className?: string; children?: ReactNode }>
  ).props;
  const language = /language-([\w+-]+)/.exec(className ?? "")?.[1];
  const source = (typeof content === "string" ? content : "").replace(/\n$/, "");
  if (language === "mermaid") {
    return (
      <Suspense fallback={<CodeBlock source={source} language="mermaid" />}>
        <Diagram source={source} />
      </Suspense>
    );
  }
  return <CodeBlock source={source} language={language} />;
}
