import { useMutation } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { useScope } from "@/api/scope";
import { useChange } from "@/api/use-change";

/** Creates the onboarding attempt that a desktop exchanges for its API key. */
export function useCreateOnboardingAttempt() {
  const { api } = useScope();
  return useMutation({
    mutationFn: () =>
      unwrap(
        // Unlike other routes this one returns no `{success, data}` envelope: add what `unwrap` removes.
        api
          .POST("/desktop/onboarding-attempt", { body: { webAppOrigin: window.location.origin } })
          .then(({ data, ...rest }) => ({ ...rest, ...(data && { data: { data } }) })),
      ),
  });
}

export const useShareDesktop = () =>
  useChange(
    ({ api }, { id, ...body }: { id: string; isSharedWithOrg: boolean; grantsCommands: boolean }) =>
      unwrap(api.PATCH("/compute-targets/{id}/sharing", { params: { path: { id } }, body })),
    "compute-targets",
  );

export const useRemoveDesktop = () =>
  useChange(
    ({ api }, id: string) =>
      unwrap(api.DELETE("/compute-targets/{id}", { params: { path: { id } } })),
    "compute-targets",
  );
