import { useId, useState } from "react";

import { useDraft } from "@/drafts/use-draft";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { INPUT_CLASS } from "@/ui/field";
import { isSubmitKey } from "@/ui/submit-key";

import type { LineRange, Side } from "../model/comments";
import type { WrittenComment } from "../review-queries";

/** Form for a comment on lines, or on a file. Its text is a draft. */
export function CommentForm({
  page,
  path,
  lines: initial,
  onAdd,
  onCancel,
}: {
  page: string;
  path: string;
  /** The selected lines; undefined for a comment on the file. */
  lines: LineRange | undefined;
  onAdd: (comment: Pick<WrittenComment, "id" | "body" | "lines">) => Promise<unknown>;
  onCancel: () => void;
}) {
  const { value: body, change, discard } = useDraft(page, "comment", "");
  const [lines, setLines] = useState(initial);
  const id = useId();
  const [commentId] = useState(() => crypto.randomUUID());
  const [isStoring, setIsStoring] = useState(false);
  const [error, setError] = useState<Error>();
  const add = () => {
    if (body.trim() === "" || isStoring) return;
    setIsStoring(true);
    onAdd({ id: commentId, body: body.trim(), lines }).then(discard, (failure: unknown) => {
      setIsStoring(false);
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    });
  };
  return (
    <form
      aria-label={`Comment on ${path}`}
      className="space-y-2 border-y border-line bg-raised p-3 font-sans text-base whitespace-normal text-ink"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      {lines && <LineFields lines={lines} onChange={setLines} />}
      <label htmlFor={id} className="sr-only">
        Comment
      </label>
      <textarea
        id={id}
        dir="auto"
        rows={3}
        // The person has just asked for this form.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        value={body}
        placeholder="What should change here?"
        onChange={(event) => change(() => event.target.value)}
        onKeyDown={(event) => {
          if (isSubmitKey(event)) add();
          if (event.key === "Escape") onCancel();
        }}
        className={`${INPUT_CLASS} h-auto py-2`}
      />
      {error && <ActionError title="The comment could not be stored" error={error} />}
      <div className="flex justify-end gap-2">
        <Button size="sm" variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <Button
          size="sm"
          variant="primary"
          type="submit"
          busy={isStoring}
          disabled={body.trim() === ""}
        >
          Add comment
        </Button>
      </div>
    </form>
  );
}

/** The lines of a comment, for people who do not select them with a pointer. */
function LineFields({
  lines,
  onChange,
}: {
  lines: LineRange;
  onChange: (lines: LineRange) => void;
}) {
  const field = "w-20 rounded-md border border-line-strong/70 bg-surface px-1.5 py-0.5";
  const number = (value: number, set: (line: number) => LineRange, label: string) => (
    <input
      type="number"
      min={1}
      required
      aria-label={label}
      value={value}
      onChange={(event) => {
        const line = event.target.valueAsNumber;
        if (line >= 1) onChange(set(line));
      }}
      className={field}
    />
  );
  return (
    <div className="flex flex-wrap items-center gap-1.5 text-sm text-ink-2">
      Lines
      {number(
        lines.from,
        (from) => ({ ...lines, from, to: Math.max(from, lines.to) }),
        "First line",
      )}
      to
      {number(lines.to, (to) => ({ ...lines, to, from: Math.min(lines.from, to) }), "Last line")}
      <select
        aria-label="Side"
        value={lines.side}
        onChange={(event) => onChange({ ...lines, side: event.target.value as Side })}
        className={`${field} w-auto`}
      >
        <option value="new">after the change</option>
        <option value="old">before the change</option>
      </select>
    </div>
  );
}
