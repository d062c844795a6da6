import { type ReactNode, useId } from "react";

export const INPUT_CLASS =
  "border-line-strong/70 bg-surface hover:border-line-strong focus:border-focus focus:outline-focus/40 h-9 w-full rounded-md border px-3 focus:outline-2 focus:outline-offset-0 disabled:opacity-60";

interface ControlProps {
  id: string;
  /** The direction of the text that the person enters. */
  dir: "auto";
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

/** A labelled form control with a hint or an error that assistive technology announces. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  children: (control: ControlProps) => ReactNode;
}) {
  const id = useId();
  const noteId = error ? `${id}-error` : hint ? `${id}-hint` : undefined;
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block font-medium">
        {label}
      </label>
      {children({
        id,
        dir: "auto",
        "aria-describedby": noteId,
        "aria-invalid": error ? true : undefined,
      })}
      {error ? (
        <p id={`${id}-error`} role="alert" className="mt-1.5 text-sm text-bad">
          {error}
        </p>
      ) : (
        hint && (
          <div id={`${id}-hint`} className="mt-1.5 text-sm text-ink-3">
            {hint}
          </div>
        )
      )}
    </div>
  );
}
