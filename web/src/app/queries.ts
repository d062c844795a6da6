/** Organizations of the signed-in user, and the end of the session. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";

import { unwrap } from "@/api/client";
import { type Scope, scopeOf, useScope } from "@/api/scope";
import { setSessionKey } from "@/api/session-key";

export const organizationsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("organizations"),
    queryFn: ({ signal }) => unwrap(api.GET("/organizations", { signal })),
    staleTime: 5 * 60_000,
  });

/** Opens an organization, and selects it for requests that name none. */
export function useSwitchOrganization() {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (slug: string) =>
      unwrap(scopeOf(slug).api.PUT("/auth/organization", { body: { slug } })),
    onSettled: (_, __, slug) => navigate({ to: "/$orgSlug", params: { orgSlug: slug } }),
  });
}

/** Ends the session and opens the signed-out page, from which the person returns to this page. */
export function useSignOut() {
  const client = useQueryClient();
  const router = useRouter();
  const { api } = useScope();
  return useMutation({
    mutationFn: async () => {
      const { href } = router.state.location;
      await unwrap(api.POST("/auth/sign-out", {}));
      return href;
    },
    // A failed sign-out leaves the session valid, so its key stays.
    onSuccess: (href) => {
      setSessionKey(undefined);
      client.clear();
      void router.navigate({ to: "/signed-out", search: { returnTo: href } });
    },
  });
}
