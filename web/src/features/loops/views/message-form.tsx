/** Sends a message to a running loop. */
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { cx } from "@/ui/cx";
import { Field, INPUT_CLASS } from "@/ui/field";
import { isSubmitKey } from "@/ui/submit-key";

import { byteLength, MAX_MESSAGE_BYTES } from "../model/messages";
import { useSendMessage } from "../actions";

export function MessageForm({ loopId }: { loopId: string }) {
  const text = useDraft(`loops/${loopId}`, "message", "");
  const send = useSendMessage(loopId);
  const trimmed = text.value.trim();
  const isTooLong = byteLength(trimmed) > MAX_MESSAGE_BYTES;
  const submit = () => {
    if (trimmed && !isTooLong) send.mutate(trimmed, { onSuccess: text.discard });
  };
  return (
    <form
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Field
        label="Message to the loop"
        hint="The assistant receives it after its current step, and continues with its work."
        error={
          isTooLong
            ? `The message is longer than ${MAX_MESSAGE_BYTES} bytes. Shorten it.`
            : undefined
        }
      >
        {(control) => (
          <textarea
            {...control}
            rows={2}
            readOnly={send.isPending}
            value={text.value}
            onChange={(event) => text.change(() => event.target.value)}
            onKeyDown={(event) => {
              if (isSubmitKey(event)) submit();
            }}
            className={cx(INPUT_CLASS, "h-auto resize-y py-2 leading-relaxed")}
          />
        )}
      </Field>
      <DraftNotice draft={text} />
      <Button type="submit" busy={send.isPending} disabled={!trimmed || isTooLong}>
        Send message
      </Button>
      {send.error && <ActionError title="The message could not be sent" error={send.error} />}
    </form>
  );
}
