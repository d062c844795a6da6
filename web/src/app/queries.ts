/** Organizations of the signed-in user, and the end of the session. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import { setSessionKey } from "@/api/session-key";

export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: ({ signal }) => unwrap(api.GET("/organizations", { signal })),
  staleTime: 5 * 60_000,
});

export const useSelectOrganization = () => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (slug: string) => unwrap(api.PUT("/auth/organization", { body: { slug } })),
    onSuccess: () => client.clear(),
  });
};

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/auth/sign-out", {})),
    onSuccess: () => client.clear(),
    onSettled: () => setSessionKey(undefined),
  });
}
