import { useId, useState } from "react";

import type { MergeMethod, PullRequestStanding } from "@/api/types";
import { ActionError } from "@/ui/action-error";
import { announce } from "@/ui/announce";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";

import { METHODS } from "../model/standing";
import { type OpenedPull, useMerge } from "../queries";

/** Merges a pull request after a confirmation, with a method that the repository allows. */
export function MergeButton({
  pull,
  standing: { state, mergeObstacle, mergeMethods, headSha, baseBranch },
}: {
  pull: OpenedPull;
  standing: PullRequestStanding;
}) {
  const [isOpen, setIsOpen] = useState(false);
  const [chosen, setChosen] = useState<MergeMethod>();
  const merge = useMerge(pull);
  const name = useId();
  const method = chosen ?? mergeMethods[0];
  if (state !== "open" || !method) return null;
  const open = () => {
    merge.reset();
    setIsOpen(true);
  };
  const confirm = () =>
    merge.mutate(
      { method, headSha },
      {
        onSuccess: () => {
          setIsOpen(false);
          announce(`${pull.fullName} #${pull.number} is merged.`);
        },
      },
    );
  return (
    <>
      <Button variant="primary" disabled={mergeObstacle !== null} onClick={open}>
        Merge
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setIsOpen}
        title={`Merge ${pull.fullName} #${pull.number}`}
        confirm="Merge"
        variant="primary"
        busy={merge.isPending}
        onConfirm={confirm}
      >
        <p>
          Merges commit <code>{headSha.slice(0, 7)}</code> into <code>{baseBranch}</code>, with the
          account of the machine.
        </p>
        <fieldset className="mt-3 space-y-1.5">
          <legend className="mb-1 font-medium text-ink">Method</legend>
          {mergeMethods.map((offered) => (
            <label key={offered} className="flex items-baseline gap-2">
              <input
                type="radio"
                name={name}
                checked={offered === method}
                onChange={() => setChosen(offered)}
                className="shrink-0 translate-y-0.5"
              />
              <span>
                {METHODS[offered].name}
                <span className="block text-sm text-ink-3">{METHODS[offered].effect}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {merge.error && (
          <div className="mt-3">
            <ActionError title="The pull request is not merged" error={merge.error} />
          </div>
        )}
      </ConfirmDialog>
    </>
  );
}
