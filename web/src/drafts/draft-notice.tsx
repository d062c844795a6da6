import { Button } from "@/ui/button";
import { Notice } from "@/ui/panel";

import type { DraftField } from "./use-draft";

/** Offers the text of another tab, or says that drafts are not kept. */
export function DraftNotice({
  draft,
}: {
  draft: Pick<DraftField<unknown>, "takeOther" | "isKept">;
}) {
  if (draft.takeOther) {
    return (
      <Notice
        title="Another tab has a different draft"
        action={
          <Button size="sm" onClick={draft.takeOther}>
            Use the other draft
          </Button>
        }
      />
    );
  }
  if (draft.isKept) return null;
  return (
    <Notice tone="warn" title="Drafts are not kept">
      This browser does not allow Loopgate to store data, or its storage is full. Text that you have
      not sent is lost when you close the page.
    </Notice>
  );
}
