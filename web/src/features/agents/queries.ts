/** Queries and mutations of agents. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope, useScope } from "@/api/scope";

/** Agents whose name, role or description contains the search text. */
export const agentsQuery = ({ api, key }: Scope, search: string) =>
  queryOptions({
    queryKey: key("agents", "list", search),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/agents", { params: { query: search ? { search } : {} }, signal })),
  });

export const agentQuery = ({ api, key }: Scope, slug: string) =>
  queryOptions({
    queryKey: key("agents", slug),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/agents/{idOrSlug}", { params: { path: { idOrSlug: slug } }, signal })),
  });

export const agentVersionsQuery = ({ api, key }: Scope, slug: string) =>
  queryOptions({
    queryKey: key("agents", slug, "versions"),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/agents/{idOrSlug}/versions", { params: { path: { idOrSlug: slug } }, signal }),
      ),
  });

export const agentProposalsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("agents", "proposals"),
    queryFn: ({ signal }) => unwrap(api.GET("/agent-proposals", { signal })),
  });

export function useDecideProposal() {
  const client = useQueryClient();
  const { api, key } = useScope();
  return useMutation({
    mutationFn: async ({ id, accept }: { id: string; accept: boolean }) => {
      const params = { path: { id } };
      if (accept) await unwrap(api.POST("/agent-proposals/{id}/accept", { params }));
      else await unwrap(api.POST("/agent-proposals/{id}/reject", { params }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: key("agents") }),
  });
}

/** Fetches a version of an agent. */
export const agentVersion = ({ api }: Scope, slug: string, version: number) =>
  unwrap(
    api.GET("/agents/{idOrSlug}/versions/{version}", {
      params: { path: { idOrSlug: slug, version } },
    }),
  );

export interface AgentChange {
  name?: string;
  prompt?: string;
  enabled?: boolean;
  /** Reason for the change. Required for a new name or prompt. */
  changeNote?: string;
}

/** `onUpdated` is also called when the page has been left. */
export function useUpdateAgent(slug: string, onUpdated?: () => void) {
  const client = useQueryClient();
  const { api, key } = useScope();
  return useMutation({
    mutationFn: (body: AgentChange) =>
      unwrap(api.PATCH("/agents/{idOrSlug}", { params: { path: { idOrSlug: slug } }, body })),
    ...(onUpdated && { onSuccess: onUpdated }),
    onSettled: () => client.invalidateQueries({ queryKey: key("agents") }),
  });
}

export function useDeleteAgent(slug: string) {
  const client = useQueryClient();
  const { api, key } = useScope();
  return useMutation({
    mutationFn: () =>
      unwrap(api.DELETE("/agents/{idOrSlug}", { params: { path: { idOrSlug: slug } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: key("agents", "list") }),
  });
}
