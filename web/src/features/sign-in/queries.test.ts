import { afterEach, expect, test, vi } from "vitest";

import { signInWithLink } from "./queries";

/** Simulates a control plane that rejects the link as used; `GET /me` returns the status `me`. */
function stubUsedLink(me: number): void {
  vi.stubGlobal("fetch", (request: Request) => {
    const status = new URL(request.url).pathname === "/me" ? me : 401;
    return Promise.resolve(Response.json({ success: status === 200, data: {} }, { status }));
  });
}

afterEach(() => {
  vi.unstubAllGlobals();
});

test("used sign-in link is accepted when the user is signed in", async () => {
  stubUsedLink(200);
  await expect(signInWithLink({ token: "used" })).resolves.toBeUndefined();
});

test("used sign-in link is rejected without a session", async () => {
  stubUsedLink(401);
  await expect(signInWithLink({ token: "used" })).rejects.toMatchObject({ status: 401 });
});
