import { queryOptions } from "@tanstack/react-query";

import { unwrap } from "@/api/client";
import { type Scope } from "@/api/scope";
import type { Role } from "@/api/types";
import { useChange } from "@/api/use-change";

export const invitationsQuery = ({ api, key }: Scope) =>
  queryOptions({
    queryKey: key("invitations"),
    queryFn: ({ signal }) => unwrap(api.GET("/invitations", { signal })),
  });

export const useUpdateMember = () =>
  useChange(
    ({ api }, { id, ...body }: { id: string; role?: Role; active?: boolean }) =>
      unwrap(api.PATCH("/members/{id}", { params: { path: { id } }, body })),
    "members",
  );

export const useResetPassword = () =>
  useChange(({ api }, id: string) =>
    unwrap(api.POST("/members/{id}/password-reset", { params: { path: { id } } })),
  );

export const useInvite = () =>
  useChange(
    ({ api }, body: { email: string; role: Role }) => unwrap(api.POST("/invitations", { body })),
    "invitations",
  );

export const useRevokeInvitation = () =>
  useChange(
    ({ api }, id: string) => unwrap(api.DELETE("/invitations/{id}", { params: { path: { id } } })),
    "invitations",
  );
