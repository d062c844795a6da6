import { afterEach, expect, test, vi } from "vitest";

import { signInWithLink } from "./queries";

/** A control plane where the link is used up, and reading the person has this status. */
function usedLink(me: number): void {
  vi.stubGlobal("fetch", (request: Request) => {
    const status = new URL(request.url).pathname === "/me" ? me : 401;
    return Promise.resolve(Response.json({ success: status === 200, data: {} }, { status }));
  });
}

afterEach(() => {
  vi.unstubAllGlobals();
});

test("a used sign-in link is no failure for whom is signed in", async () => {
  usedLink(200);
  await expect(signInWithLink("used")).resolves.toBeUndefined();
});

test("a used sign-in link is refused without a session", async () => {
  usedLink(401);
  await expect(signInWithLink("used")).rejects.toMatchObject({ status: 401 });
});
