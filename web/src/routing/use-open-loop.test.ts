import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { render } from "@testing-library/react";
import { createElement } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { ApiError } from "@/api/errors";
import { scopeOf } from "@/api/scope";

import { useOpenLoop } from "./use-open-loop";

const CHANGES = "/acme/work/retry?tab=changes";
const LIVE = "/acme/work/retry?tab=live";

beforeEach(() => {
  // After a navigation, the router scrolls to the top.
  vi.stubGlobal("scrollTo", () => undefined);
  const document = { slug: "retry" };
  vi.stubGlobal("fetch", () =>
    Promise.resolve(Response.json({ success: true, data: { document } })),
  );
});
afterEach(() => void vi.unstubAllGlobals());

/** Renders a page that starts loops at an address. */
async function setUp(address: string) {
  let start: ReturnType<typeof useOpenLoop> | undefined;
  const rootRoute = createRootRoute();
  const organizationRoute = createRoute({
    getParentRoute: () => rootRoute,
    path: "/$orgSlug",
    beforeLoad: () => ({ scope: scopeOf("acme") }),
    component: function Page() {
      start = useOpenLoop("acme", "retry");
      return createElement(Outlet);
    },
  });
  const pages = ["/inbox", "/work/$slug", "/loops/$loopId"].map((path) =>
    createRoute({ getParentRoute: () => organizationRoute, path }),
  );
  const router = createRouter({
    routeTree: rootRoute.addChildren([organizationRoute.addChildren(pages)]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  const client = new QueryClient();
  render(
    createElement(QueryClientProvider, {
      client,
      // Another tree than that of the app, whose type the provider expects.
      children: createElement(RouterProvider, { router: router as never }),
    }),
  );
  await vi.waitFor(() => expect(start).toBeDefined());
  return {
    press: () => {
      if (!start) throw new Error("the page is not rendered");
      return start();
    },
    open: (to: string) => router.navigate({ to }),
    address: () => router.state.location.href,
  };
}

test("started loop is opened", async () => {
  const { press, address } = await setUp(CHANGES);
  await press().onSuccess("loop");
  expect(address()).toBe(LIVE);
});

test("loop that a conflict names is opened", async () => {
  const { press, address } = await setUp(CHANGES);
  press().onError(new ApiError(409, { code: "loop_running", data: { loopId: "loop" } }));
  await vi.waitFor(() => expect(address()).toBe(LIVE));
});

for (const [name, ...opened] of [
  ["opens another tab", "/acme/work/retry?tab=plan"],
  ["opens another page", "/acme/inbox"],
  ["leaves the page and returns", "/acme/inbox", CHANGES],
] as [string, ...string[]][])
  test(`person who ${name} before the loop has started stays there`, async () => {
    const { press, open, address } = await setUp(CHANGES);
    const { onSuccess } = press();
    for (const to of opened) await open(to);
    await onSuccess("loop");
    expect(address()).toBe(opened.at(-1));
  });
