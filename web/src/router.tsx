/** All routes of the app. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";

import { ApiError } from "./api/errors";
import { setOrganization } from "./api/client";
import { featureFlagsQuery, meQuery } from "./api/queries";
import type { LoopCommand, LoopStatus } from "./api/types";
import { SignIn } from "./pages/sign-in";
import { SignedOut } from "./pages/signed-out";
import { queryClient } from "./query-client";
import { PageNotFound, RouteError, RouteNotFound, RoutePending } from "./shell/fallbacks";
import { Shell } from "./shell/shell";

const root = createRootRoute({ component: Outlet, notFoundComponent: PageNotFound });

/** Returns the signed-in user. Redirects to the signed-out page without a session. */
async function requireMe() {
  try {
    return await queryClient.query({ ...meQuery, staleTime: "static" });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) throw redirect({ to: "/signed-out" });
    throw error;
  }
}

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async () => {
    const me = await requireMe();
    throw redirect({ to: "/$orgSlug/loops", params: { orgSlug: me.organization.slug } });
  },
});

interface SignInSearch {
  /** Token of a one-time link. */
  token?: string;
  /** Error code of a failed sign-in through the OpenID provider. */
  error?: string;
  /** Path to open after the sign-in. */
  returnTo?: string;
}

// `//host` and `/\host` are other origins for a browser: accepting them would be an open redirect.
const isOwnPath = (value: unknown): value is string =>
  typeof value === "string" && /^\/(?![/\\])/.test(value);

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search): SignInSearch => {
    const { token, error, returnTo } = search;
    return {
      ...(typeof token === "string" && { token }),
      ...(typeof error === "string" && { error }),
      ...(isOwnPath(returnTo) && { returnTo }),
    };
  },
  component: SignIn,
});

const signedOut = createRoute({
  getParentRoute: () => root,
  path: "/signed-out",
  component: SignedOut,
});

const join = createRoute({
  getParentRoute: () => root,
  path: "/join",
  validateSearch: (search): { token?: string } =>
    typeof search.token === "string" ? { token: search.token } : {},
  component: lazyRouteComponent(() => import("./pages/join"), "Join"),
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  validateSearch: (search): { token?: string } =>
    typeof search.token === "string" ? { token: search.token } : {},
  component: lazyRouteComponent(() => import("./pages/reset-password"), "ResetPassword"),
});

/** Address of a plan in pull requests, which names no organization. */
const sharedPlan = createRoute({
  getParentRoute: () => root,
  path: "/implementation-plans/$slug",
  beforeLoad: async ({ params }) => {
    const me = await requireMe();
    throw redirect({
      to: "/$orgSlug/implementation-plans/$slug",
      params: { orgSlug: me.organization.slug, slug: params.slug },
    });
  },
});

const organization = createRoute({
  getParentRoute: () => root,
  path: "/$orgSlug",
  beforeLoad: async ({ params }) => {
    setOrganization(params.orgSlug);
    await requireMe();
    // Prefetched, so that the first diagram renders without delay. Diagrams treat an error as "disabled".
    queryClient.query(featureFlagsQuery).catch(() => undefined);
  },
  component: Shell,
});

const organizationHome = createRoute({
  getParentRoute: () => organization,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/$orgSlug/loops", params });
  },
});

/** Filters of the loops list. Part of the address, so that a filtered view can be shared. */
export interface LoopFilters {
  status?: LoopStatus[];
  command?: LoopCommand[];
}

const stringArray = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

const loops = createRoute({
  getParentRoute: () => organization,
  path: "/loops",
  validateSearch: (search): LoopFilters => {
    const status = stringArray(search.status) as LoopStatus[];
    const command = stringArray(search.command) as LoopCommand[];
    return { ...(status.length > 0 && { status }), ...(command.length > 0 && { command }) };
  },
  component: lazyRouteComponent(() => import("./pages/loops-list"), "LoopsList"),
});

const newLoop = createRoute({
  getParentRoute: () => organization,
  path: "/loops/new",
  component: lazyRouteComponent(() => import("./pages/new-loop"), "NewLoop"),
});

const loopDetail = createRoute({
  getParentRoute: () => organization,
  path: "/loops/$loopId",
  component: lazyRouteComponent(() => import("./pages/loop-detail"), "LoopDetailPage"),
});

const document = createRoute({
  getParentRoute: () => organization,
  path: "/documents/$slug",
  component: lazyRouteComponent(() => import("./pages/document"), "DocumentPage"),
});

const plan = createRoute({
  getParentRoute: () => organization,
  path: "/implementation-plans/$slug",
  component: lazyRouteComponent(() => import("./pages/document"), "DocumentPage"),
});

const approvals = createRoute({
  getParentRoute: () => organization,
  path: "/approvals",
  component: lazyRouteComponent(() => import("./pages/approvals"), "ApprovalsPage"),
});

const settings = createRoute({
  getParentRoute: () => organization,
  path: "/settings",
  component: lazyRouteComponent(() => import("./settings/layout"), "SettingsLayout"),
});

const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/$orgSlug/settings/profile", params });
  },
});

const settingsPages = [
  createRoute({
    getParentRoute: () => settings,
    path: "/profile",
    component: lazyRouteComponent(() => import("./settings/profile"), "ProfilePage"),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: "/members",
    component: lazyRouteComponent(() => import("./settings/members"), "MembersPage"),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: "/organization",
    component: lazyRouteComponent(() => import("./settings/organization"), "OrganizationPage"),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: "/desktops",
    component: lazyRouteComponent(() => import("./settings/desktops"), "DesktopsPage"),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: "/repositories",
    component: lazyRouteComponent(() => import("./settings/repositories"), "RepositoriesPage"),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: "/agents",
    component: lazyRouteComponent(() => import("./settings/agents"), "AgentsPage"),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: "/agents/$slug",
    component: lazyRouteComponent(() => import("./settings/agent"), "AgentPage"),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: "/keys",
    component: lazyRouteComponent(() => import("./settings/api-keys"), "ApiKeysPage"),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: "/signing",
    component: lazyRouteComponent(() => import("./settings/signing"), "SigningPage"),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: "/usage",
    component: lazyRouteComponent(() => import("./settings/usage"), "UsagePage"),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: "/audit-log",
    component: lazyRouteComponent(() => import("./settings/audit-log"), "AuditLogPage"),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    signIn,
    signedOut,
    join,
    resetPassword,
    sharedPlan,
    organization.addChildren([
      organizationHome,
      loops,
      newLoop,
      loopDetail,
      document,
      plan,
      approvals,
      settings.addChildren([settingsHome, ...settingsPages]),
    ]),
  ]),
  defaultPreload: "intent",
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
