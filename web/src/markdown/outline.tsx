/** Table of contents of a document. */
import { type RefObject, useEffect, useState } from "react";

import { cx } from "@/ui/cx";

interface Heading {
  level: number;
  text: string;
  /** Id of the element. */
  id: string;
}

// Documents with fewer headings show no outline.
const MIN_HEADINGS = 3;

function headingsIn(article: HTMLElement | null): Heading[] {
  const elements = article?.querySelectorAll(".prose > :is(h2, h3)[id]") ?? [];
  return [...elements].map((heading) => ({
    level: Number(heading.tagName.charAt(1)),
    text: heading.textContent,
    id: heading.id,
  }));
}

/** Lists the headings of the rendered document in `article`. Rebuilt when `text` changes. */
export function Outline({
  article,
  text,
}: {
  article: RefObject<HTMLElement | null>;
  text: string;
}) {
  const [outline, setOutline] = useState<{ text: string; headings: Heading[] }>();
  useEffect(() => {
    // After the next paint, so that the outline does not delay the document.
    const frame = requestAnimationFrame(() =>
      setOutline({ text, headings: headingsIn(article.current) }),
    );
    return () => cancelAnimationFrame(frame);
  }, [article, text]);
  // Not the headings of an earlier text.
  const headings = outline?.text === text ? outline.headings : [];
  if (headings.length < MIN_HEADINGS) return null;
  return (
    <nav aria-label="Outline" className="max-lg:hidden">
      <h2 className="mb-2 text-xs font-medium text-ink-3">On this page</h2>
      <ul className="border-l border-line">
        {headings.map(({ id, level, text: title }) => (
          <li key={id}>
            <a
              dir="auto"
              href={`#${id}`}
              className={cx(
                "-ml-px block truncate border-l border-transparent py-1 text-sm text-ink-2 hover:border-line-strong hover:text-ink",
                level === 2 ? "pl-3.5" : "pl-6.5",
              )}
            >
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
