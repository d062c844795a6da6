/** What must hold on every page, whatever it shows. */
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

/** No finding of the accessibility rules up to WCAG 2.2 AA. */
export function expectAccessible(page: Page): Promise<void> {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  return expectNoFindings(new AxeBuilder({ page }).withTags(tags));
}

/** Text stands out from its ground; the one rule that another theme can break. */
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

/** Nothing wider than the window. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, "the page scrolls sideways").toBeLessThanOrEqual(0);
}

/** What the page did that it must never do. */
export class Watch {
  readonly policyViolations: string[] = [];
  readonly foreignRequests: string[] = [];
  readonly exceptions: string[] = [];

  constructor(page: Page, origin: string) {
    page.on("console", (message) => {
      if (/content security policy/i.test(message.text()))
        this.policyViolations.push(message.text());
    });
    page.on("pageerror", (error) => this.exceptions.push(String(error)));
    page.on("request", (request) => {
      const { protocol, origin: asked, hostname } = new URL(request.url());
      const local = asked === origin || hostname === "127.0.0.1";
      if (protocol.startsWith("http") && !local) this.foreignRequests.push(request.url());
    });
  }

  expectClean(): void {
    expect(this.policyViolations, "breaches of the content security policy").toEqual([]);
    expect(this.foreignRequests, "requests to other hosts").toEqual([]);
    expect(this.exceptions, "uncaught exceptions").toEqual([]);
  }
}
