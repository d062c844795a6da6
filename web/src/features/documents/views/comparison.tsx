/** Two versions of a text side by side, below each other on narrow screens. A separate chunk with the diff library. */
import { memo, useMemo } from "react";

import { Markdown } from "@/markdown/markdown";
import { cx } from "@/ui/cx";

import { type BlockChange, compareVersions, type Word } from "../model/version-diff";

interface Side {
  /** For example `Version 1`. */
  name: string;
  text: string;
}

export const Comparison = memo(function Comparison({
  before,
  after,
}: {
  before: Side;
  after: Side;
}) {
  const changes = useMemo(
    () => compareVersions(before.text, after.text),
    [before.text, after.text],
  );
  const count = changes.filter(({ kind }) => kind !== "same").length;
  return (
    <div className="px-4 py-4">
      <p role="status" className="text-sm text-ink-2">
        {count === 0
          ? "No differences."
          : `${count} ${count === 1 ? "passage differs" : "passages differ"}.`}
      </p>
      <div className="mt-3 hidden grid-cols-2 gap-x-6 text-xs font-medium text-ink-3 lg:grid">
        <span>{before.name}</span>
        <span>{after.name}</span>
      </div>
      {changes.map((change, at) => (
        <ChangeRow key={at} change={change} names={[before.name, after.name]} />
      ))}
    </div>
  );
});

function ChangeRow({ change, names }: { change: BlockChange; names: [string, string] }) {
  const [before, after] = names;
  return (
    <div className="grid grid-cols-1 gap-x-6 lg:grid-cols-2">
      <Cell name={before} isMarked={change.kind !== "same"} isRepeated={change.kind === "same"}>
        {change.kind === "changed" ? (
          <Words words={change.words} side="removed" />
        ) : (
          change.kind !== "added" && <Markdown text={change.before.source} />
        )}
      </Cell>
      <Cell name={after} isMarked={change.kind !== "same"} isNew>
        {change.kind === "changed" ? (
          <Words words={change.words} side="added" />
        ) : (
          change.kind !== "removed" && <Markdown text={change.after.source} />
        )}
      </Cell>
    </div>
  );
}

function Cell({
  name,
  isMarked,
  isNew = false,
  isRepeated = false,
  children,
}: {
  name: string;
  isMarked: boolean;
  /** Belongs to the later version. */
  isNew?: boolean;
  /** The other cell has the same text, which a narrow screen shows once. */
  isRepeated?: boolean;
  children: React.ReactNode;
}) {
  if (children === false) return <div className="max-lg:hidden" />;
  return (
    <div
      dir="auto"
      className={cx(
        "min-w-0 rounded-sm border-s-3 px-3 py-1.5",
        !isMarked && "border-transparent",
        isMarked && (isNew ? "border-ok bg-ok-soft/50" : "border-bad bg-bad-soft/50"),
        isRepeated && "max-lg:hidden",
      )}
    >
      {isMarked && <p className="text-xs text-ink-3 lg:sr-only">{name}</p>}
      {children}
    </div>
  );
}

/** The source of one side of a changed block, with the words that the other side does not have. */
function Words({ words, side }: { words: Word[]; side: "added" | "removed" }) {
  const Mark = side === "added" ? "ins" : "del";
  return (
    <p className="text-[0.9375rem] leading-relaxed wrap-anywhere whitespace-pre-wrap">
      {words.map(
        ({ text, kind }, at) =>
          (kind === "same" && <span key={at}>{text}</span>) ||
          (kind === side && (
            <Mark
              key={at}
              className={cx(
                "rounded-sm underline decoration-2",
                side === "added" ? "bg-ok-soft text-ok" : "bg-bad-soft text-bad line-through",
              )}
            >
              {text}
            </Mark>
          )),
      )}
    </p>
  );
}
