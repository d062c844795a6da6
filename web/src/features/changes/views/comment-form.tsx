import { useId } from "react";

import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { INPUT_CLASS } from "@/ui/field";
import { focusAtEnd } from "@/ui/focus-at-end";
import { isSubmitKey } from "@/ui/submit-key";

import { useCardAction, useCardState } from "../model/card-state";
import type { LineRange, Side } from "../model/comments";

/** Form for the text of a comment, and for the lines of a new one. */
export function CommentForm({
  name,
  label,
  body,
  onBody,
  lines,
  onLines,
  submit,
  onSubmit,
  onCancel,
  onEscape,
}: {
  /** Names the form among the cards of the diff. */
  name: string;
  /** Accessible name. */
  label: string;
  body: string;
  onBody: (body: string) => void;
  /** Undefined for a comment on a file, or if they cannot be corrected. */
  lines?: LineRange | undefined;
  onLines?: (lines: LineRange) => void;
  /** Name of the button. */
  submit: string;
  /** Stores the comment and closes the form. */
  onSubmit: (body: string) => Promise<unknown>;
  onCancel: () => void;
  /** Without it, Escape keeps the form: canceling discards the text. */
  onEscape?: () => void;
}) {
  const id = useId();
  const storing = useCardAction(`${name}: store`);
  const store = () => {
    if (body.trim() !== "") storing.run(() => onSubmit(body.trim()));
  };
  return (
    <form
      aria-label={label}
      className="space-y-2 border-y border-line bg-raised p-3 font-sans text-base whitespace-normal text-ink"
      onSubmit={(event) => {
        event.preventDefault();
        store();
      }}
    >
      {lines && onLines && <LineFields form={name} lines={lines} onChange={onLines} />}
      <label htmlFor={id} className="sr-only">
        Comment
      </label>
      <textarea
        id={id}
        dir="auto"
        rows={3}
        readOnly={storing.isPending}
        ref={focusAtEnd}
        value={body}
        placeholder="What should change here?"
        onChange={(event) => onBody(event.target.value)}
        onKeyDown={(event) => {
          if (isSubmitKey(event)) store();
          if (event.key === "Escape") onEscape?.();
        }}
        className={`${INPUT_CLASS} h-auto py-2`}
      />
      {storing.error && (
        <ActionError title="The comment could not be stored" error={storing.error} />
      )}
      <div className="flex justify-end gap-2">
        <Button size="sm" variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <Button
          size="sm"
          variant="primary"
          type="submit"
          busy={storing.isPending}
          disabled={body.trim() === ""}
        >
          {submit}
        </Button>
      </div>
    </form>
  );
}

/** The lines of a comment, for people who do not select them with a pointer. */
function LineFields({
  form,
  lines,
  onChange,
}: {
  form: string;
  lines: LineRange;
  onChange: (lines: LineRange) => void;
}) {
  const { side, from, to } = lines;
  return (
    <div className="flex flex-wrap items-center gap-1.5 text-sm text-ink-2">
      Lines
      <LineField
        form={form}
        label="First line"
        value={from}
        isComplete={(line) => line <= to}
        onChange={(line) => onChange({ side, from: line, to: Math.max(line, to) })}
      />
      to
      <LineField
        form={form}
        label="Last line"
        value={to}
        isComplete={(line) => line >= from}
        onChange={(line) => onChange({ side, from: Math.min(from, line), to: line })}
      />
      <select
        aria-label="Side"
        value={side}
        onChange={(event) => onChange({ ...lines, side: event.target.value as Side })}
        className={`${FIELD} w-auto`}
      >
        <option value="new">after the change</option>
        <option value="old">before the change</option>
      </select>
    </div>
  );
}

const FIELD = "w-20 rounded-md border border-line-strong/70 bg-surface px-1.5 py-0.5";

/**
 * A number that would change the other line as well takes effect when the field is left: the person may have typed only
 * its first digits.
 */
function LineField({
  form,
  label,
  value,
  isComplete,
  onChange,
}: {
  form: string;
  label: string;
  value: number;
  isComplete: (line: number) => boolean;
  onChange: (line: number) => void;
}) {
  const [text, setText] = useCardState<string | undefined>(`${form}: ${label}`, undefined);
  const leave = () => {
    const line = Number(text);
    if (line >= 1) onChange(line);
    setText(undefined);
  };
  return (
    <input
      type="number"
      min={1}
      required
      aria-label={label}
      value={text ?? value}
      onChange={({ target }) => {
        setText(target.value);
        const line = target.valueAsNumber;
        if (line >= 1 && isComplete(line)) onChange(line);
      }}
      onBlur={leave}
      onKeyDown={({ key }) => {
        if (key === "Enter") leave();
      }}
      className={FIELD}
    />
  );
}
