/** All routes of the app. The features define their own; this file assembles them and adds layouts and redirects. */
import { createRoute, createRouter, redirect } from "@tanstack/react-router";

import { api, unwrap } from "@/api/client";
import { agentRoute, agentsRoute } from "@/features/agents/routes";
import { apiKeysRoute } from "@/features/api-keys/routes";
import { approvalsRoute } from "@/features/approvals/routes";
import { auditLogRoute } from "@/features/audit-log/routes";
import { inboxRoute, workRoute } from "@/features/change-requests/routes";
import { desktopsRoute } from "@/features/desktops/routes";
import { documentRoute, planRoute } from "@/features/documents/routes";
import { learningsRoute } from "@/features/learnings/routes";
import { loopRoute } from "@/features/loops/routes";
import { membersRoute } from "@/features/members/routes";
import { newChangeRequestRoute, newLoopRoute } from "@/features/new-change-request/routes";
import { organizationSettingsRoute } from "@/features/organization/routes";
import { profileRoute } from "@/features/profile/routes";
import { repositoriesRoute } from "@/features/repositories/routes";
import { machineRoute } from "@/features/set-up/routes";
import {
  joinRoute,
  resetPasswordRoute,
  signedOutRoute,
  signInRoute,
} from "@/features/sign-in/routes";
import { signingRoute } from "@/features/signing/routes";
import { usageRoute } from "@/features/usage/routes";
import { loopsRoute } from "@/features/loop-list/routes";
import { lazyView } from "@/ui/lazy-view";
import { organizationRoute, rootRoute, settingsRoute } from "@/routing/parents";
import { requireSession } from "@/routing/session";
import {
  AppPending,
  PageNotFound,
  RouteError,
  RouteNotFound,
  RoutePending,
} from "@/ui/route-states";

import { changeRequestRoute } from "./change-request-route";
import { Shell } from "./shell";

rootRoute.update({ notFoundComponent: PageNotFound });
organizationRoute.update({ component: Shell, pendingComponent: AppPending });
settingsRoute.update({
  component: lazyView(() => import("./settings-layout"), "SettingsLayout"),
});
loopsRoute.update({ component: lazyView(() => import("./loops-page"), "LoopsPage") });
newChangeRequestRoute.update({
  component: lazyView(() => import("./new-change-request-page"), "NewChangeRequestPage"),
});
inboxRoute.update({ component: lazyView(() => import("./inbox-page"), "InboxPage") });
loopRoute.update({ component: lazyView(() => import("./loop-page"), "LoopPage") });

/** Returns the signed-in user in the organization that the session selects. */
const currentUser = ({ href }: { href: string }) => requireSession(unwrap(api.GET("/me")), href);

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  pendingComponent: AppPending,
  beforeLoad: async ({ location }) => {
    const me = await currentUser(location);
    throw redirect({ to: "/$orgSlug/inbox", params: { orgSlug: me.organization.slug } });
  },
});

/** Address of a plan in pull requests, which names no organization. */
const sharedPlanRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/implementation-plans/$slug",
  pendingComponent: AppPending,
  beforeLoad: async ({ params, location }) => {
    const me = await currentUser(location);
    throw redirect({
      to: "/$orgSlug/implementation-plans/$slug",
      params: { orgSlug: me.organization.slug, slug: params.slug },
    });
  },
});

const organizationHomeRoute = createRoute({
  getParentRoute: () => organizationRoute,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/$orgSlug/inbox", params });
  },
});

const settingsHomeRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/$orgSlug/settings/profile", params });
  },
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    homeRoute,
    signInRoute,
    signedOutRoute,
    joinRoute,
    resetPasswordRoute,
    sharedPlanRoute,
    organizationRoute.addChildren([
      organizationHomeRoute,
      inboxRoute,
      workRoute,
      changeRequestRoute,
      loopsRoute,
      newChangeRequestRoute,
      newLoopRoute,
      loopRoute,
      documentRoute,
      planRoute,
      approvalsRoute,
      settingsRoute.addChildren([
        settingsHomeRoute,
        profileRoute,
        membersRoute,
        organizationSettingsRoute,
        machineRoute,
        desktopsRoute,
        repositoriesRoute,
        learningsRoute,
        agentsRoute,
        agentRoute,
        apiKeysRoute,
        signingRoute,
        usageRoute,
        auditLogRoute,
      ]),
    ]),
  ]),
  defaultPreload: "intent",
  // The query cache decides what is stale, also for preloads.
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 300,
  defaultPendingComponent: RoutePending,
  defaultErrorComponent: RouteError,
  defaultNotFoundComponent: RouteNotFound,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
