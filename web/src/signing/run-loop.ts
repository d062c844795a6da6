/** Starts a loop on a document, with the signature of this browser if a desktop requires one. */
import { unwrap } from "@/api/client";
import type { Scope } from "@/api/scope";
import type { RunLoopBody } from "@/api/types";
import { keyed } from "@/api/use-keyed-mutation";

import { signingKey } from "./commands";
import { type Displayed, signedLaunch } from "./launch";
import { signRequest } from "./sign";

// Gateway route that starts loops. The signature of a command includes the path.
const LOOP_PATH = "/api/gateway/orchestrator/loop";

/** The members of a start that a page selects. */
export type RunSelection = Pick<
  RunLoopBody,
  | "prompt"
  | "repo"
  | "additionalRepos"
  | "computeTargetId"
  | "model"
  | "maxSpendUsd"
  | "agents"
  | "selfLearning"
  | "withoutPlan"
  | "review"
  | "approve"
>;

export interface RunDocument extends Displayed, RunSelection {
  /** Id or slug of the document. */
  documentId: string;
  command: "plan" | "execute" | "request_changes";
}

/** Returns the id of the loop. `key` is the idempotency key. */
export async function runLoop(
  scope: Scope,
  { documentId, version, content, comments, ...request }: RunDocument,
  key: string,
): Promise<string> {
  const { api } = scope;
  const params = { path: { idOrSlug: documentId } };
  let body: RunLoopBody = { ...request, version };
  const signer = await signingKey(scope);
  if (signer) {
    const preview = await unwrap(
      api.POST("/documents/{idOrSlug}/run-loop/preview", { params, body }),
    );
    body = {
      ...body,
      launch: await signedLaunch(preview, body, {
        version,
        content,
        ...(comments && { comments }),
      }),
    };
    const intent = { documentId, ...body };
    const signature = await signRequest(signer, { method: "POST", path: LOOP_PATH, body: intent });
    body.userIntentSignature = { ...signature, body: intent };
  }
  const started = await unwrap(
    api.POST("/documents/{idOrSlug}/run-loop", { params, body, ...keyed(key) }),
  );
  return started.loopId;
}
