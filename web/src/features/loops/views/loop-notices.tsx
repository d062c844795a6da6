/** What a person should know about a loop besides its status: verdict, warnings, and a machine that is offline. */
import { useQuery } from "@tanstack/react-query";

import { computeTargetsQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { ComputeTarget, LoopDetail } from "@/api/types";
import { isWaiting } from "@/model/status";
import { Code } from "@/ui/code";
import { CommandLine } from "@/ui/command-line";
import { Notice } from "@/ui/panel";

import { reviewOutcome } from "../model/results";

export function LoopNotices({ loop }: { loop: LoopDetail }) {
  const waits = isWaiting(loop.status);
  const { data: targets } = useQuery({ ...computeTargetsQuery(useScope()), enabled: waits });
  return (
    <>
      <ReviewVerdict loop={loop} />
      <Warnings loop={loop} />
      {waits && <MachineNotice machine={loop.computeTarget} targets={targets} />}
    </>
  );
}

/** Warning that a loop cannot start because its machine, or every machine, is offline. */
export function MachineNotice({
  machine,
  targets,
}: {
  machine: LoopDetail["computeTarget"];
  targets: Pick<ComputeTarget, "id" | "isOnline">[] | undefined;
}) {
  if (!targets) return null;
  if (!machine) {
    if (targets.some(({ isOnline }) => isOnline)) return null;
    return (
      <div className="mt-4">
        <Notice tone="warn" title="No machine is online">
          The loop starts when a machine is online. Run <Code>loopgate up</Code> on the machine that
          has the repository.
        </Notice>
      </div>
    );
  }
  const { isOnline } = targets.find(({ id }) => id === machine.id) ?? machine;
  if (isOnline) return null;
  return (
    <div className="mt-4">
      <Notice tone="warn" title={`Machine ${machine.machineName} is offline`}>
        <p>
          The loop is assigned to this machine and starts when the machine is online again. Run this
          command there:
        </p>
        <CommandLine text="loopgate up" label="Copy the command" />
      </Notice>
    </div>
  );
}

/** Verdict of a review, or a notice that it produced none. */
function ReviewVerdict({ loop }: { loop: LoopDetail }) {
  const outcome = reviewOutcome(loop);
  if (!outcome) return null;
  return (
    <div className="mt-4">
      <Notice title={outcome.title}>{outcome.reason}</Notice>
    </div>
  );
}

const WARNING_TEXT: Record<string, string> = {
  ARTIFACT_UPLOAD_FAILED: "Some files of the loop could not be uploaded.",
  EVENT_POST_FAILED: "Some output could not be sent to the control plane.",
  FILES_HELD_BACK:
    "Files that may contain secrets, dependencies or build output were excluded from delivery. They remain in the worktree.",
  GIT_PUSH_FAILED:
    "The work was not delivered completely, and remains in the worktree. See Result for the reason.",
  LFS_NOT_UPLOADED:
    "The content of files in Git LFS was not uploaded. The loop's output names the files and the command that uploads them.",
  PULL_REQUEST_HELD:
    "The work is pushed. Approve the changes to open the pull request: see Changes, Finish review.",
  PUSHED_BEFORE_DELIVERY:
    "The assistant pushed commits before Loopgate had checked them. Review the branches and tags under Result, or in the output of a loop without a delivery.",
  SUPPORT_UPLOAD_FAILED: "The support files could not be uploaded.",
  REQUIRED_OUTPUT_MISSING: "The assistant did not write the result of this command.",
  TESTS_FAILED_BEFORE: "The repository's tests fail, as they did before this loop.",
  TESTS_INCONCLUSIVE:
    "The repository's tests did not run to completion, so their result is unknown.",
  TESTS_WEAKENED:
    "The loop changed tests in ways that may make them less strict. Check each change under Result.",
  REVIEW_COMMENTS_UNANSWERED:
    "The loop ended without an answer to some comments of the review. See Changes for which.",
  REVIEW_CHANGED_FILES: "The review changed files. The changes were not committed.",
  WORKTREE_INCOMPLETE:
    "The worktree lacks submodules or ignored files that a build may need. The loop's output names them.",
  WORK_NOT_DELIVERED:
    "The loop left work that the pull request does not contain, for example in files that git ignores. See Result for what and where.",
};

function Warnings({ loop }: { loop: LoopDetail }) {
  const { warnings } = loop.metadata as { warnings?: unknown };
  if (!Array.isArray(warnings) || warnings.length === 0) return null;
  return (
    <div className="mt-4">
      <Notice
        tone="warn"
        title={loop.status === "COMPLETED" ? "Completed with warnings" : "Warnings"}
      >
        <ul>
          {warnings.map((warning) => (
            <li key={String(warning)}>{WARNING_TEXT[String(warning)] ?? String(warning)}</li>
          ))}
        </ul>
      </Notice>
    </div>
  );
}
