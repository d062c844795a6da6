import { queryOptions, useMutation } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import { useChange } from "@/api/use-change";

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => unwrap(api.GET("/sessions", { signal })),
});

export const useEndSession = () =>
  useChange(
    (id: string) => unwrap(api.DELETE("/sessions/{id}", { params: { path: { id } } })),
    "sessions",
  );

/** Changes the password of the signed-in user. */
export const useChangePassword = () =>
  useMutation({
    mutationFn: (body: { currentPassword?: string; newPassword: string }) =>
      unwrap(api.PUT("/auth/password", { body })),
  });
