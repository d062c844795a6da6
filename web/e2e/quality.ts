/** Checks that apply to every page. */
import { expect, type Page } from "@playwright/test";
import axe, { type Result, type RunOptions } from "axe-core";

const RULES: RunOptions = {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
};

/** Fails on violations of the accessibility rules up to WCAG 2.2 AA. */
export function expectAccessible(page: Page): Promise<void> {
  return expectNoFindings(page, RULES);
}

/** Like `expectAccessible`, for a page whose title is a part of what is loading. */
export function expectAccessibleWithoutTitle(page: Page): Promise<void> {
  return expectNoFindings(page, {
    ...RULES,
    rules: { "page-has-heading-one": { enabled: false } },
  });
}

/** Checks colour contrast, the only accessibility rule that depends on the theme. */
export function expectContrast(page: Page): Promise<void> {
  return expectNoFindings(page, { runOnly: { type: "rule", values: ["color-contrast"] } });
}

async function expectNoFindings(page: Page, options: RunOptions): Promise<void> {
  const violations = await check(page, options);
  const findings = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary ?? ""}`).join("\n  ")}`,
  );
  expect(findings, findings.join("\n")).toEqual([]);
}

/** The only frame of the app renders diagrams and is hidden. */
async function check(page: Page, options: RunOptions): Promise<Result[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  return page.evaluate(async (chosen) => {
    // A text that fades in has too little contrast until then.
    const ending = document
      .getAnimations()
      .filter(
        ({ playState, effect }) =>
          playState === "running" && effect?.getComputedTiming().endTime !== Infinity,
      );
    await Promise.allSettled(ending.map(({ finished }) => finished));
    const run = { ...chosen, iframes: false, resultTypes: ["violations" as const] };
    return (await window.axe.run(run)).violations;
  }, options);
}

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** Fails when the page is wider than the window. */
export async function expectNoHorizontalScroll(page: Page): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, "the page scrolls horizontally").toBeLessThanOrEqual(0);
}

/**
 * Selects the dark theme. For pages with diagrams: while the frame of a diagram is loading, the browser may lose a colour
 * scheme that is emulated.
 */
export async function selectDark(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^More/ }).click();
  await page.getByText("Dark", { exact: true }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.keyboard.press("Escape");
}

/** Checks the contrast of the dark theme, and the widths of phones. */
export async function expectDarkAndNarrow(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expectContrast(page);
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 844 });
    await expectNoHorizontalScroll(page);
  }
}

/** Records policy violations, requests to other hosts, errors, and scripts of displayed texts that open a dialog. */
export class PageMonitor {
  readonly policyViolations: string[] = [];
  readonly externalRequests: string[] = [];
  readonly exceptions: string[] = [];
  readonly errors: string[] = [];
  readonly dialogs: string[] = [];

  constructor(page: Page, origin: string) {
    page.on("console", (message) => {
      const text = message.text();
      // axe adds style elements to the shadow trees of comparisons. Only scripts that a test adds have no address.
      const isOfAxe = text.startsWith("Applying inline style") && !message.location().url;
      if (/content security policy/i.test(text)) {
        if (!isOfAxe) this.policyViolations.push(text);
      }
      // The browser reports each response with an error status, which is what a test may be about.
      else if (message.type() === "error" && !text.startsWith("Failed to load resource"))
        this.errors.push(text);
    });
    page.on("dialog", (dialog) => {
      this.dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.on("pageerror", (error) => this.exceptions.push(String(error)));
    page.on("request", (request) => {
      const { protocol, origin: requestOrigin, hostname } = new URL(request.url());
      const local = requestOrigin === origin || hostname === "127.0.0.1";
      if (protocol.startsWith("http") && !local) this.externalRequests.push(request.url());
    });
  }

  expectClean(): void {
    expect(this.policyViolations, "violations of the content security policy").toEqual([]);
    expect(this.externalRequests, "requests to other hosts").toEqual([]);
    expect(this.exceptions, "uncaught exceptions").toEqual([]);
    expect(this.errors, "errors in the console").toEqual([]);
    expect(this.dialogs, "dialogs of scripts in displayed texts").toEqual([]);
  }
}

/** Waits until the page has copied a text that contains a part, and returns it: it is written after the click. */
export async function copiedText(page: Page, part: string): Promise<string> {
  let text = "";
  await expect
    .poll(async () => (text = await page.evaluate(() => navigator.clipboard.readText())))
    .toContain(part);
  return text;
}
