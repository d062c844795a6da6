import { createRoute } from "@tanstack/react-router";

import { meQuery, membersQuery } from "@/api/queries";
import { ensure } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { settingsRoute } from "@/routing/parents";
import { SettingsError } from "@/ui/route-states";

import { invitationsQuery } from "./queries";

export const membersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/members",
  loader: async ({ context: { scope } }) => {
    const { role } = await ensure(meQuery(scope));
    await Promise.all([
      ensure(membersQuery(scope)),
      // Only administrators can read the invitations.
      role === "org:admin" && ensure(invitationsQuery(scope)),
    ]);
  },
  errorComponent: SettingsError,
  component: lazyView(() => import("./views/members"), "MembersPage"),
});
