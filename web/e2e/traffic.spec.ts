/**
 * What an open page transfers while nothing happens: bytes received for responses and streams, with their headers, as
 * the browser's network layer counts them.
 */
import { type Browser, type CDPSession, expect, type Page, test } from "@playwright/test";

import { type Mock, signInTo, startMock, stopAfterEach } from "./mock";

const MINUTE_MS = 60_000;
const IDLE_BYTES = 2_000;
const RUNNING_BYTES = 20_000;
const RUNNING = "01980000-0000-7000-8000-000000000010";

let mock: Mock;

test.beforeEach(async () => {
  // The list of approvals is read more often while there are some.
  mock = await startMock(undefined, 0, 0, { APPROVALS: "0" });
});

stopAfterEach(() => mock);

/** Counts the bytes that a page receives, and names the requests. */
class Traffic {
  #bytes = 0;
  readonly #urls = new Map<string, string>();
  readonly requests: string[] = [];

  static async of(page: Page): Promise<Traffic> {
    const session: CDPSession = await page.context().newCDPSession(page);
    const traffic = new Traffic();
    const streamed = new Map<string, number>();
    session.on("Network.requestWillBeSent", ({ requestId, request: { url } }) => {
      traffic.#urls.set(requestId, url);
    });
    // Parts of a body, before the request ends: those of a stream never do.
    session.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
      traffic.#bytes += encodedDataLength;
      streamed.set(requestId, (streamed.get(requestId) ?? 0) + encodedDataLength);
    });
    // With the headers.
    session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      traffic.#bytes += encodedDataLength - (streamed.get(requestId) ?? 0);
      traffic.requests.push(`${traffic.#urls.get(requestId) ?? "?"}: ${encodedDataLength}`);
    });
    await session.send("Network.enable");
    return traffic;
  }

  get bytes(): number {
    return this.#bytes;
  }

  reset(): void {
    this.#bytes = 0;
    this.requests.length = 0;
  }
}

/** Returns what a page of a browser of its own receives in a minute after it has loaded. */
async function minuteOf(browser: Browser, path: string): Promise<Traffic> {
  const page = await (await browser.newContext()).newPage();
  await signInTo(mock, page);
  const traffic = await Traffic.of(page);
  await page.goto(`${mock.origin}/acme/${path}`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.waitForLoadState("load");
  // Chunks are prefetched, and lists refreshed once, when the stream opens.
  await page.waitForTimeout(5_000);
  traffic.reset();
  // What is measured is a rate, of timers in the page and of heartbeats of the server.
  await page.waitForTimeout(MINUTE_MS);
  return traffic;
}

test("idle page transfers at most 2 KB a minute, that of a running loop 20 KB", async ({
  browser,
}) => {
  test.slow();
  const [inbox, work, running] = await Promise.all(
    ["inbox", "work", `loops/${RUNNING}`].map((path) => minuteOf(browser, path)),
  );
  expect(inbox?.bytes, inbox?.requests.join("\n")).toBeLessThanOrEqual(IDLE_BYTES);
  expect(work?.bytes, work?.requests.join("\n")).toBeLessThanOrEqual(IDLE_BYTES);
  expect(running?.bytes, running?.requests.join("\n")).toBeLessThanOrEqual(RUNNING_BYTES);
});
