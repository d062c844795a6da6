import { useId } from "react";

import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { INPUT_CLASS } from "@/ui/field";
import { isSubmitKey } from "@/ui/submit-key";

import { type OpenedPull, useReply } from "../queries";

/** Form for a comment at the code host. Its text is a draft of the caller. */
export function ReplyForm({
  pull,
  label,
  replyTo,
  text,
  isOpened,
  onChange,
  onClose,
}: {
  pull: OpenedPull;
  label: string;
  replyTo: number | undefined;
  text: string;
  /** Whether the person has just opened the form. */
  isOpened: boolean;
  onChange: (text: string) => void;
  onClose: () => void;
}) {
  const id = useId();
  const reply = useReply(pull);
  const body = text.trim();
  const send = () => {
    if (body === "" || reply.isPending) return;
    reply.mutate({ body, replyTo }, { onSuccess: onClose });
  };
  return (
    <form
      aria-label={label}
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <textarea
        id={id}
        dir="auto"
        rows={3}
        readOnly={reply.isPending}
        // Not for a draft that the page displays again.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus={isOpened}
        value={text}
        placeholder="Posted with the account of the machine"
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (isSubmitKey(event)) send();
        }}
        className={`${INPUT_CLASS} h-auto py-2`}
      />
      <div className="flex flex-wrap justify-end gap-2">
        {reply.error && <ActionError title="The comment could not be posted" error={reply.error} />}
        <Button size="sm" variant="quiet" onClick={onClose}>
          Discard
        </Button>
        <Button
          size="sm"
          variant="primary"
          type="submit"
          busy={reply.isPending}
          disabled={body === ""}
        >
          Post
        </Button>
      </div>
    </form>
  );
}
