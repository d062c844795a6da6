import { cleanup, render, screen, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { OutsideDelivery } from "./outside-delivery";

afterEach(cleanup);

test("work outside of the delivery is named with its rule or place", () => {
  render(
    <OutsideDelivery
      undelivered={[
        { name: "notes.txt", place: "ignored", detail: "/home/ada/.gitignore:1:*.txt" },
        { name: "/tmp/a", place: "outside" },
      ]}
      earlyPushes={[
        { remote: "origin", ref: "refs/heads/main", commit: "0123456789abcdef" },
        { remote: "origin", ref: "refs/tags/v1", commit: "0123456789abcdef" },
      ]}
    />,
  );
  const items = (label: string) =>
    within(screen.getByRole("list", { name: label }))
      .getAllByRole("listitem")
      .map((item) => item.textContent);
  expect(items("Work that is not in the delivery")).toEqual([
    "notes.txt is ignored by git: /home/ada/.gitignore:1:*.txt",
    "/tmp/a is outside the repository",
  ]);
  expect(items("Refs pushed before the delivery")).toEqual([
    "main at origin (0123456789)",
    "tag v1 at origin (0123456789)",
  ]);
});

test("nothing is shown for an ordinary delivery", () => {
  const { container } = render(<OutsideDelivery undelivered={[]} earlyPushes={[]} />);
  expect(container.textContent).toBe("");
});
