import type { QueryClient } from "@tanstack/react-query";

import { documentQuery } from "@/api/queries";
import type { Scope } from "@/api/scope";
import type { Loop } from "@/api/types";

import { runLoop, type RunDocument } from "./run-loop";

/** Executes the plan of a loop again, with what the person selected. Returns the id of the new loop. */
export async function executeAgain(
  client: QueryClient,
  scope: Scope,
  loop: Pick<Loop, "document" | "repo"> | undefined,
  selection: Omit<RunDocument, "documentId" | "command" | "version" | "content" | "repo">,
  key: string,
): Promise<string> {
  if (!loop?.document) throw new Error("This loop has no plan on which a new loop can work.");
  const documentId = loop.document.slug;
  // The current version: the selection is about code, not about the plan.
  const plan = await client.query({ ...documentQuery(scope, documentId), staleTime: 0 });
  const { currentVersion: version, content } = plan;
  const start = { ...selection, documentId, command: "execute" as const, version, content };
  return runLoop(scope, { ...start, ...(loop.repo && { repo: loop.repo }) }, key);
}
