import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { usePageTitle, useTitleCount } from "./page-title";

afterEach(cleanup);

function Page({ title, count }: { title: string; count: number }) {
  usePageTitle(title);
  useTitleCount(count);
  return null;
}

test("number of items that need the person precedes the title of each page", () => {
  const { rerender, unmount } = render(<Page title="Work" count={0} />);
  expect(document.title).toBe("Work · Loopgate");
  rerender(<Page title="Work" count={2} />);
  expect(document.title).toBe("(2) Work · Loopgate");
  rerender(<Page title="Members" count={2} />);
  expect(document.title).toBe("(2) Members · Loopgate");
  unmount();
  expect(document.title).toBe("Members · Loopgate");
});
