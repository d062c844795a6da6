import { queryOptions, useMutation } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope, useScope } from "@/api/scope";
import { useChange } from "@/api/use-change";

export const sessionsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("sessions"),
    queryFn: ({ signal }) => unwrap(api.GET("/sessions", { signal })),
  });

export const useEndSession = () =>
  useChange(
    ({ api }, id: string) => unwrap(api.DELETE("/sessions/{id}", { params: { path: { id } } })),
    "sessions",
  );

/** Changes the password of the signed-in user. */
export function useChangePassword() {
  const { api } = useScope();
  return useMutation({
    mutationFn: (body: { currentPassword?: string; newPassword: string }) =>
      unwrap(api.PUT("/auth/password", { body })),
  });
}
