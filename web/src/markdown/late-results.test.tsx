/** Results that arrive after the content has changed. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { Tooltip } from "radix-ui";
import type { ReactElement } from "react";
import { afterEach, expect, test, vi } from "vitest";

import type { Scope } from "@/api/scope";

import { CodeBlock } from "./code-block";
import { Diagram } from "./diagram";
import { Outline } from "./outline";

const renderDiagram = vi.hoisted(() =>
  vi.fn((_: string, source: string) => Promise.resolve(`<svg>${source}</svg>`)),
);
vi.mock("./render-diagram", () => ({ renderDiagram }));
vi.mock("./sanitise-svg", () => ({
  sanitiseSvg: (svg: string) =>
    new DOMParser().parseFromString(svg, "image/svg+xml").documentElement,
}));
vi.mock("./diagram-viewer", () => ({
  DiagramViewer: ({ svg }: { svg: SVGSVGElement }) => <p>{svg.textContent}</p>,
}));
vi.mock("@/api/scope", () => ({ useScope: (): Partial<Scope> => ({}) }));
vi.mock("@/ui/theme", () => ({ useTheme: () => "light" }));
vi.mock("@/api/queries", () => ({
  featureFlagsQuery: () => ({
    queryKey: ["flags"],
    queryFn: () => ({ flags: { "mermaid-enhancements": true } }),
  }),
}));

// Even once it is loaded, the highlighter responds after the new code is on the page.
vi.mock("./highlight", () => ({
  highlight: (source: string) => Promise.resolve(<mark>{source}</mark>),
}));

afterEach(cleanup);

function show(first: ReactElement) {
  const client = new QueryClient();
  const page = (content: ReactElement) => (
    <QueryClientProvider client={client}>
      <Tooltip.Provider>{content}</Tooltip.Provider>
    </QueryClientProvider>
  );
  const { rerender } = render(page(first));
  return (next: ReactElement) => rerender(page(next));
}

const text = (selector: string) => document.querySelector(selector)?.textContent;

test("code is not shown with the highlighting of earlier code", async () => {
  const change = show(<CodeBlock source="let a" language="rust" />);
  await vi.waitFor(() => expect(text("code mark")).toBe("let a"));
  change(<CodeBlock source="let b" language="rust" />);
  expect(text("code")).toBe("let b");
  await vi.waitFor(() => expect(text("code mark")).toBe("let b"));
});

test("diagram of an earlier source is not shown, also when it arrives last", async () => {
  const change = show(<Diagram source="first" />);
  await screen.findByText("first");
  let finish: (drawing: string) => void = () => undefined;
  renderDiagram.mockImplementationOnce(() => new Promise((resolve) => (finish = resolve)));
  change(<Diagram source="second" />);
  expect(screen.queryByText("first")).toBeNull();
  await vi.waitFor(() =>
    expect(renderDiagram).toHaveBeenLastCalledWith(expect.anything(), "second", "light"),
  );
  change(<Diagram source="third" />);
  finish("<svg>second</svg>");
  await screen.findByText("third");
  expect(screen.queryByText("second")).toBeNull();
});

test("outline of an earlier text is not shown", async () => {
  const article = { current: document.createElement("article") };
  const write = (title: string) => {
    const headings = [1, 2, 3].map((n) => `<h2 id="h${n}">${title} ${n}</h2>`).join("");
    article.current.innerHTML = `<div class="prose">${headings}</div>`;
  };
  write("Plan");
  const change = show(<Outline article={article} text="Plan" />);
  await screen.findByText("Plan 1");
  write("Review");
  change(<Outline article={article} text="Review" />);
  expect(screen.queryByText("Plan 1")).toBeNull();
  await screen.findByText("Review 1");
});
