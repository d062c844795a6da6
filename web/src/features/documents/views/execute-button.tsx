import { useQuery } from "@tanstack/react-query";
import { Play } from "lucide-react";
import { useRef, useState } from "react";

import { useScope } from "@/api/scope";
import type { Document, RepoRef } from "@/api/types";
import { useOpenLoop } from "@/routing/use-open-loop";
import type { Displayed } from "@/signing/launch";
import { ActionError } from "@/ui/action-error";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { useShortcut } from "@/ui/shortcuts";

import { documentQuery, useRunDocument } from "../queries";

/** Executes a plan. Requires confirmation if it has already been executed. */
export function ExecuteButton({
  plan,
  repo,
  orgSlug,
  displayed,
}: {
  plan: Pick<Document, "slug">;
  repo: RepoRef | null | undefined;
  orgSlug: string;
  /** The version on the page, if it is not the current one. */
  displayed?: Displayed;
}) {
  const scope = useScope();
  const [confirming, setConfirming] = useState(false);
  const { data: document, isPending } = useQuery(documentQuery(scope, plan.slug));
  const executed = document?.loops.some(
    ({ command, status }) => command === "EXECUTE" && status === "COMPLETED",
  );
  const run = useRunDocument();
  const opening = useOpenLoop(orgSlug);
  const button = useRef<HTMLButtonElement>(null);
  // A single key must not start a loop, which costs money.
  useShortcut({ keys: "e", label: "Go to Execute", where: "page" }, () => button.current?.focus());
  const execute = () => {
    setConfirming(false);
    if (!document) return;
    const { version, content } = displayed ?? {
      version: document.currentVersion,
      content: document.content,
    };
    const request = { documentId: plan.slug, command: "execute" as const, version, content };
    run.mutate({ ...request, ...(repo && { repo }) }, opening);
  };
  return (
    <>
      <Button
        ref={button}
        variant="primary"
        busy={isPending || run.isPending}
        onClick={executed ? () => setConfirming(true) : execute}
      >
        {!(isPending || run.isPending) && <Play aria-hidden />}
        {executed ? "Execute again" : "Execute"}
      </Button>
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title="Execute this plan again?"
        confirm="Execute again"
        variant="primary"
        busy={run.isPending}
        onConfirm={execute}
      >
        <p>
          This plan has already been executed. Another loop applies it again on top of the existing
          work, at the cost of a new loop.
        </p>
      </ConfirmDialog>
      {run.error && <ActionError title="The plan could not be executed" error={run.error} />}
    </>
  );
}
