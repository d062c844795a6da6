import { expect, it } from "vitest";

import { signInErrorText } from "./sign-in-errors";

it("maps known codes to messages and unknown codes to a default message", () => {
  expect(signInErrorText("oidc_no_account")).toContain("invitation");
  expect(signInErrorText("<b>oops</b>")).toBe(
    "The control plane could not sign you in. Its log contains the reason.",
  );
});
