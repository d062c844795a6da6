/** Queries and mutations of the settings pages. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import type { AuditAction, OrganizationSettings, Role, Scope } from "@/api/types";

export const membersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: ({ signal }) => unwrap(api.GET("/members", { signal })),
});

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: ({ signal }) => unwrap(api.GET("/invitations", { signal })),
});

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => unwrap(api.GET("/sessions", { signal })),
});

export const apiKeysQuery = queryOptions({
  queryKey: ["api-keys"],
  queryFn: ({ signal }) => unwrap(api.GET("/api-keys", { signal })),
});

export const repositoriesQuery = queryOptions({
  queryKey: ["allowed-repositories"],
  queryFn: ({ signal }) => unwrap(api.GET("/repositories", { signal })),
});

export const organizationSettingsQuery = queryOptions({
  queryKey: ["organization-settings"],
  queryFn: ({ signal }) => unwrap(api.GET("/organization/settings", { signal })),
});

export const organizationsQuery = queryOptions({
  queryKey: ["organizations"],
  queryFn: ({ signal }) => unwrap(api.GET("/organizations", { signal })),
  staleTime: 5 * 60_000,
});

/** One page of the audit log, newest first, with the entries before the cursor `before`. */
export const auditLogQuery = (action: AuditAction | undefined, before: string | undefined) =>
  queryOptions({
    queryKey: ["audit-log", action, before],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/audit-log", {
          params: { query: { ...(action && { action }), ...(before && { before }), limit: 50 } },
          signal,
        }),
      ),
  });

/** Usage of loops in a period. Both days have the form `2026-11-27` or are blank, and are inclusive. */
export const usageQuery = (since: string, until: string) =>
  queryOptions({
    queryKey: ["usage", since, until],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/loops/usage", {
          params: {
            query: {
              ...(since && { startDate: since }),
              ...(until && { endDate: `${until}T23:59:59.999Z` }),
            },
          },
          signal,
        }),
      ),
  });

/** Mutation that invalidates the queries with these keys, and the audit log, which records every change. */
function useChange<Input, Output>(change: (input: Input) => Promise<Output>, ...changes: string[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () =>
      Promise.all(
        [...changes, "audit-log"].map((key) => client.invalidateQueries({ queryKey: [key] })),
      ),
  });
}

export const useUpdateMember = () =>
  useChange(
    ({ id, ...body }: { id: string; role?: Role; active?: boolean }) =>
      unwrap(api.PATCH("/members/{id}", { params: { path: { id } }, body })),
    "members",
  );

export const useResetPassword = () =>
  useChange((id: string) =>
    unwrap(api.POST("/members/{id}/password-reset", { params: { path: { id } } })),
  );

export const useInvite = () =>
  useChange(
    (body: { email: string; role: Role }) => unwrap(api.POST("/invitations", { body })),
    "invitations",
  );

export const useRevokeInvitation = () =>
  useChange(
    (id: string) => unwrap(api.DELETE("/invitations/{id}", { params: { path: { id } } })),
    "invitations",
  );

export const useEndSession = () =>
  useChange(
    (id: string) => unwrap(api.DELETE("/sessions/{id}", { params: { path: { id } } })),
    "sessions",
  );

export const useCreateApiKey = () =>
  useChange(
    (body: { name: string; scopes: Scope[]; expiresAt?: string }) =>
      unwrap(api.POST("/api-keys", { body })),
    "api-keys",
  );

export const useRevokeApiKey = () =>
  useChange(
    (id: string) => unwrap(api.DELETE("/api-keys/{id}", { params: { path: { id } } })),
    "api-keys",
  );

/** Creates the onboarding attempt that a desktop exchanges for its API key. */
export const useCreateOnboardingAttempt = () =>
  useMutation({
    mutationFn: () =>
      unwrap(
        // Unlike other routes this one returns no `{success, data}` envelope: add what `unwrap` removes.
        api
          .POST("/desktop/onboarding-attempt", { body: { webAppOrigin: window.location.origin } })
          .then(({ data, ...rest }) => ({ ...rest, ...(data && { data: { data } }) })),
      ),
  });

export const useShareDesktop = () =>
  useChange(
    ({ id, ...body }: { id: string; isSharedWithOrg: boolean; grantsCommands: boolean }) =>
      unwrap(api.PATCH("/compute-targets/{id}/sharing", { params: { path: { id } }, body })),
    "compute-targets",
  );

export const useRemoveDesktop = () =>
  useChange(
    (id: string) => unwrap(api.DELETE("/compute-targets/{id}", { params: { path: { id } } })),
    "compute-targets",
  );

export const useAllowRepository = () =>
  useChange(
    (body: { fullName: string; branches?: string[] }) =>
      unwrap(api.POST("/repositories", { body })),
    "allowed-repositories",
  );

export const useForbidRepository = () =>
  useChange((fullName: string) => {
    const [owner = "", name = ""] = fullName.split("/");
    return unwrap(
      api.DELETE("/repositories/{owner}/{name}", { params: { path: { owner, name } } }),
    );
  }, "allowed-repositories");

export const useSetOrganizationSettings = () =>
  useChange(
    (body: OrganizationSettings) => unwrap(api.PUT("/organization/settings", { body })),
    "organization-settings",
  );

export const useSetFeatureFlag = () =>
  useChange(
    ({ key, enabled }: { key: string; enabled: boolean }) =>
      unwrap(api.PUT("/feature-flags/{key}", { params: { path: { key } }, body: { enabled } })),
    "feature-flags",
  );

export const useSelectOrganization = () => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (slug: string) => unwrap(api.PUT("/auth/organization", { body: { slug } })),
    onSuccess: () => client.clear(),
  });
};
