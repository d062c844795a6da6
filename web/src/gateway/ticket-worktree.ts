/** How the gateway of a machine names the worktree of a loop. */
import { queryOptions } from "@tanstack/react-query";

import type { Scope } from "@/api/scope";
import type { RepositoryChanges } from "@/api/types";

import { repositoryPath, type TicketWorktree } from "./operations";
import { request } from "./request";

/** Returns the name under which a gateway knows a worktree; undefined if it does not belong to the clone. */
export function ticketWorktree(clone: string, worktree: string): TicketWorktree | undefined {
  const nameOf = (path: string) => path.split("/").filter(Boolean).at(-1) ?? "";
  const prefix = `${nameOf(clone)}-`;
  const name = nameOf(worktree);
  if (prefix === "-" || !name.startsWith(prefix) || name === prefix) return undefined;
  return { repo: clone, ticket: name.slice(prefix.length) };
}

/** Reads the name of a worktree; null if the machine lists no clone to which it belongs. */
export const ticketWorktreeQuery = (
  scope: Scope,
  machine: string | undefined,
  { name, worktree }: Pick<RepositoryChanges, "name" | "worktree">,
) =>
  queryOptions({
    queryKey: scope.key("gateway", "ticket-worktree", machine, name, worktree),
    queryFn: async ({ signal }): Promise<TicketWorktree | null> => {
      const { path } = (await request(scope, machine, repositoryPath(name), signal)).data;
      return ticketWorktree(path ?? "", worktree ?? "") ?? null;
    },
    staleTime: Infinity,
    retry: false,
  });
