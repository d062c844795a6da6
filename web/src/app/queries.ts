/** Organizations of the signed-in user, and the end of the session. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope, scopeOf, useScope } from "@/api/scope";
import { setSessionKey } from "@/api/session-key";

export const organizationsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("organizations"),
    queryFn: ({ signal }) => unwrap(api.GET("/organizations", { signal })),
    staleTime: 5 * 60_000,
  });

/** Selects the organization of requests that name none. */
export const useSelectOrganization = () =>
  useMutation({
    mutationFn: (slug: string) =>
      unwrap(scopeOf(slug).api.PUT("/auth/organization", { body: { slug } })),
  });

export function useSignOut() {
  const client = useQueryClient();
  const { api } = useScope();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/auth/sign-out", {})),
    // A failed sign-out leaves the session valid, so its key stays.
    onSuccess: () => {
      setSessionKey(undefined);
      client.clear();
    },
  });
}
