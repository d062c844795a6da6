import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { lazyView } from "@/ui/lazy-view";
import { rootRoute } from "@/routing/parents";

import { invitationQuery, signInMethodsQuery } from "./queries";
import { LoadingPage } from "./views/loading-page";
import { SignedOut } from "./views/signed-out";

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

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: (search): SignInSearch => {
    const { token, error, returnTo } = search;
    return {
      ...(typeof token === "string" && { token }),
      ...(typeof error === "string" && { error }),
      ...(isOwnPath(returnTo) && { returnTo }),
    };
  },
  loaderDeps: ({ search: { token } }) => ({ token }),
  // A link needs no other methods.
  loader: ({ deps: { token } }) => token === undefined && ensure(signInMethodsQuery),
  pendingComponent: () => <LoadingPage title="Sign in" />,
  errorComponent: lazyView(() => import("./views/sign-in"), "LinkOnly"),
  component: lazyView(() => import("./views/sign-in"), "SignIn"),
});

export const signedOutRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/signed-out",
  validateSearch: ({ returnTo }: Record<string, unknown>): Pick<SignInSearch, "returnTo"> =>
    isOwnPath(returnTo) ? { returnTo } : {},
  component: SignedOut,
});

const tokenSearch = (search: Record<string, unknown>): { token?: string } =>
  typeof search.token === "string" ? { token: search.token } : {};

export const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/join",
  validateSearch: tokenSearch,
  loaderDeps: ({ search: { token } }) => ({ token }),
  loader: ({ deps: { token = "" } }) => ensure(invitationQuery(token)),
  pendingComponent: () => <LoadingPage title="Invitation" />,
  errorComponent: lazyView(() => import("./views/join"), "InvalidInvitation"),
  component: lazyView(() => import("./views/join"), "Join"),
});

export const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reset-password",
  validateSearch: tokenSearch,
  component: lazyView(() => import("./views/reset-password"), "ResetPassword"),
});
