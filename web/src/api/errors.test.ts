import { expect, test } from "vitest";

import { ApiError, messageOf, presentUserOf } from "./errors";

test("error response sets message, code, status and details", () => {
  const error = new ApiError(403, {
    success: false,
    error: "Forbidden",
    code: "forbidden",
    details: { a: 1 },
  });
  expect(error).toMatchObject({
    message: "Forbidden",
    code: "forbidden",
    status: 403,
    details: { a: 1 },
  });
});

test("typed conflict sets its code and payload", () => {
  const error = new ApiError(409, {
    error: "Conflict",
    data: { error: "loop_already_active", loopId: "l1" },
  });
  expect(error.code).toBe("loop_already_active");
  expect(error.data.loopId).toBe("l1");
});

test("message of a typed conflict has precedence over the envelope's", () => {
  const data = { error: "compute_preference_required", message: "Select a target first." };
  expect(messageOf(new ApiError(409, { error: "Conflict", data }))).toBe("Select a target first.");
});

test.each([
  [
    { category: "compute_target_offline", machineName: "studio-7" },
    "Machine studio-7 is offline. Run `loopgate up` there, then try again.",
  ],
  [
    { category: "compute_target_unavailable" },
    "No machine is online. Run `loopgate up` on the machine that has the repository, then try again.",
  ],
])("start without an online machine names the command that helps: %j", (details, message) => {
  const error = "Compute target is offline. Ensure the desktop app is running.";
  expect(messageOf(new ApiError(400, { error, details }))).toBe(message);
});

test("present user is the one whose session a link would replace", () => {
  const conflict = (data: object) => new ApiError(409, { error: "Conflict", data });
  const data = { error: "already_signed_in", email: "ada@example.org" };
  expect(presentUserOf(conflict(data))).toBe("ada@example.org");
  expect(presentUserOf(conflict({ error: "already_signed_in" }))).toBe("another user");
  expect(presentUserOf(conflict({ error: "already_member", email: "x" }))).toBeUndefined();
  expect(presentUserOf(new Error("failed"))).toBeUndefined();
});

test.each([["text"], [null], [undefined], [[1]], [{ error: 5, details: [], data: "x" }]])(
  "body without an error text yields a default message: %j",
  (body) => {
    const error = new ApiError(502, body);
    expect(error.message).toContain("502");
    expect(error.details).toEqual({});
    expect(error.data).toEqual({});
  },
);

test("missing response yields advice to check that Loopgate is running", () => {
  expect(messageOf(ApiError.unreachable(new TypeError("failed")))).toContain("still running");
});
