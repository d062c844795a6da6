import { createRoute } from "@tanstack/react-router";

import { ensure } from "@/api/query-client";
import { onlyValid } from "@/routing/valid-search";
import { lazyView } from "@/ui/lazy-view";
import { rootRoute } from "@/routing/parents";

import { isReturnPath } from "./model/return-to";
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

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  validateSearch: onlyValid<SignInSearch>(({ token, error, returnTo }) => ({
    ...(typeof token === "string" && { token }),
    ...(typeof error === "string" && { error }),
    ...(isReturnPath(returnTo) && { returnTo }),
  })),
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
  validateSearch: onlyValid<Pick<SignInSearch, "returnTo">>(({ returnTo }) =>
    isReturnPath(returnTo) ? { returnTo } : {},
  ),
  component: SignedOut,
});

interface TokenSearch {
  token?: string;
}

const tokenSearch = (search: Record<string, unknown>): TokenSearch =>
  typeof search.token === "string" ? { token: search.token } : {};

export const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/join",
  validateSearch: onlyValid<TokenSearch>(tokenSearch),
  loaderDeps: ({ search: { token } }) => ({ token }),
  loader: ({ deps: { token = "" } }) => ensure(invitationQuery(token)),
  pendingComponent: () => <LoadingPage title="Invitation" />,
  errorComponent: lazyView(() => import("./views/join"), "InvalidInvitation"),
  component: lazyView(() => import("./views/join"), "Join"),
});

export const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reset-password",
  validateSearch: onlyValid<TokenSearch>(tokenSearch),
  component: lazyView(() => import("./views/reset-password"), "ResetPassword"),
});
