/** The plan as Markdown. Its unsent text is kept, and stored as the next version. */
import { Suspense, useState } from "react";

import { messageOf } from "@/api/errors";
import type { Document } from "@/api/types";
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { lazyPart, lazyView } from "@/ui/lazy-view";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { Notice, Skeleton } from "@/ui/panel";

import { draftPage } from "../model/draft-page";
import { useSaveVersion } from "../queries";

const MarkdownEditor = lazyPart(() => import("@/markdown/markdown-editor"), "MarkdownEditor");
const Comparison = lazyView(() => import("./comparison"), "Comparison");

interface TextDraft {
  text: string;
  /** Version that it is derived from. */
  base: number;
}

export function PlanEditor({
  plan: { id, content, currentVersion },
  onClose,
}: {
  plan: Pick<Document, "id" | "content" | "currentVersion">;
  onClose: () => void;
}) {
  // That of the first render: the editor does not show a version that is created later.
  const [initial] = useState<TextDraft>({ text: content, base: currentVersion });
  const draft = useDraft(draftPage(id), "text", initial);
  const { text, base } = draft.value;
  // The editor starts again with another text.
  const [starts, setStarts] = useState(0);
  const { takeOther } = draft;
  const openOther = () => {
    takeOther?.();
    setStarts(starts + 1);
  };
  const discard = () => {
    draft.discard();
    onClose();
  };
  const save = useSaveVersion(id, (saved, version) => {
    if (saved === draft.value.text) discard();
    // The person has typed since: that is the text of the next version.
    else draft.change((value) => ({ ...value, base: version }));
  });
  const isReplaced = base !== currentVersion;
  const isChanged = text !== content;
  return (
    <>
      <div className="space-y-3 px-4 pt-4 empty:hidden">
        <DraftNotice draft={{ ...draft, takeOther: takeOther && openOther }} />
        {isReplaced && (
          <Notice
            tone="warn"
            title={`Version ${currentVersion} was created while you edited version ${base}`}
          >
            Your text is kept. Both texts are below: adopt what you need in your text, or discard
            it.
          </Notice>
        )}
        {save.error && !isReplaced && (
          <Notice tone="bad" title="The text was not saved">
            {messageOf(save.error)}
          </Notice>
        )}
      </div>
      <Suspense fallback={<Skeleton className="m-4 h-96" />}>
        <MarkdownEditor
          key={starts}
          initial={text}
          label="Plan as Markdown"
          onChange={(changed) => draft.change((value) => ({ ...value, text: changed }))}
        />
        {isReplaced && (
          <div className="border-t border-line">
            <Comparison
              before={{ name: `Version ${currentVersion}`, text: content }}
              after={{ name: "Your text", text }}
            />
          </div>
        )}
      </Suspense>
      <div className="flex flex-wrap items-center justify-end gap-2 border-t border-line p-3">
        <p className="flex-1 basis-60 text-sm text-ink-3">
          Unsaved text is kept in this browser. EXECUTE reads the tasks of an edited plan from its
          text.
        </p>
        {isChanged && <DiscardButton onDiscard={discard} />}
        <Button onClick={onClose}>Close</Button>
        <Button
          variant="primary"
          busy={save.isPending}
          disabled={!isChanged || text.trim() === ""}
          onClick={() => save.mutate({ content: text, version: currentVersion })}
        >
          {isReplaced
            ? `Replace version ${currentVersion}`
            : `Save as version ${currentVersion + 1}`}
        </Button>
      </div>
    </>
  );
}

function DiscardButton({ onDiscard }: { onDiscard: () => void }) {
  const [confirming, setConfirming] = useState(false);
  return (
    <>
      <Button variant="danger" onClick={() => setConfirming(true)}>
        Discard changes
      </Button>
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title="Discard your text?"
        cancel="Keep it"
        confirm="Discard"
        busy={false}
        onConfirm={onDiscard}
      >
        <p>Your changes of the plan are deleted from this browser.</p>
      </ConfirmDialog>
    </>
  );
}
