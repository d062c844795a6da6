import { queryOptions } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import type { Role } from "@/api/types";
import { useChange } from "@/api/use-change";

export const invitationsQuery = queryOptions({
  queryKey: ["invitations"],
  queryFn: ({ signal }) => unwrap(api.GET("/invitations", { signal })),
});

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
