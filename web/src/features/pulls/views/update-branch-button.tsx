import type { PullRequestStanding } from "@/api/types";
import { ActionError } from "@/ui/action-error";
import { announce } from "@/ui/announce";
import { Button } from "@/ui/button";

import { type OpenedPull, useUpdateBranch } from "../queries";

/** Merges the base branch into the branch of a pull request, at the code host. */
export function UpdateBranchButton({
  pull,
  standing: { headSha, baseBranch },
}: {
  pull: OpenedPull;
  standing: PullRequestStanding;
}) {
  const update = useUpdateBranch(pull);
  const onSuccess = () => announce(`The branch of ${pull.fullName} #${pull.number} is updated.`);
  return (
    <>
      <Button
        title={`Merges ${baseBranch} into the branch`}
        busy={update.isPending}
        onClick={() => update.mutate(headSha, { onSuccess })}
      >
        Update branch
      </Button>
      {update.error && <ActionError title="The branch could not be updated" error={update.error} />}
    </>
  );
}
