import { expect, it } from "vitest";

import { refusalOf } from "./sign-in-refusals";

it("says what each code means, and never shows a code", () => {
  expect(refusalOf("oidc_no_account")).toContain("invitation");
  expect(refusalOf("<b>oops</b>")).toBe(
    "The control plane could not sign you in. Its log says why.",
  );
});
