/** Checks that apply to every page. */
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

/** Fails on violations of the accessibility rules up to WCAG 2.2 AA. */
export function expectAccessible(page: Page): Promise<void> {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  return expectNoFindings(new AxeBuilder({ page }).withTags(tags));
}

/** Checks colour contrast, the only accessibility rule that depends on the theme. */
export function expectContrast(page: Page): Promise<void> {
  return expectNoFindings(new AxeBuilder({ page }).withRules("color-contrast"));
}

async function expectNoFindings(rules: AxeBuilder): Promise<void> {
  const { violations } = await rules.analyze();
  const findings = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary ?? ""}`).join("\n  ")}`,
  );
  expect(findings, findings.join("\n")).toEqual([]);
}

/** Fails when the page is wider than the window. */
export async function expectNoHorizontalScroll(page: Page): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, "the page scrolls horizontally").toBeLessThanOrEqual(0);
}

/** Records policy violations, requests to other hosts and uncaught exceptions. */
export class PageMonitor {
  readonly policyViolations: string[] = [];
  readonly externalRequests: string[] = [];
  readonly exceptions: string[] = [];

  constructor(page: Page, origin: string) {
    page.on("console", (message) => {
      if (/content security policy/i.test(message.text()))
        this.policyViolations.push(message.text());
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
  }
}
