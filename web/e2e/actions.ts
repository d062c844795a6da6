/** What a person sends from the pages of the app: the page, the control, and the request that it causes. */
import type { Locator, Page } from "@playwright/test";

import { id } from "./mock";

export interface Action {
  name: string;
  path: string;
  /** Enters what the control requires. */
  prepare?: (page: Page) => Promise<void>;
  control: (page: Page) => Locator;
  method: "POST" | "PUT" | "PATCH";
  /** Path of the request. */
  request: RegExp;
  /** Whether it starts a loop, which costs money. */
  startsLoop?: boolean;
  /** Field with a text that must not be lost. */
  draft?: (page: Page) => Locator;
}

const PLAN = "/acme/implementation-plans/plan-1";
export const DRAFT_TEXT = "Keep this text";

const button = (name: string | RegExp) => (page: Page) => page.getByRole("button", { name });
const inDialog = (name: string | RegExp) => (page: Page) =>
  page.getByRole("alertdialog").getByRole("button", { name });
const field = (label: string) => (page: Page) => page.getByLabel(label, { exact: true });

/** Fields in order, and their texts. */
const fill = (texts: Record<string, string>) => async (page: Page) => {
  for (const [label, text] of Object.entries(texts)) await field(label)(page).fill(text);
};

export const ACTIONS: Action[] = [
  {
    name: "start a plan",
    path: "/acme/new",
    prepare: fill({ "Describe the change": DRAFT_TEXT, Repository: "acme/shop" }),
    control: button("Create plan"),
    method: "POST",
    request: /\/documents\/run-loop$/,
    startsLoop: true,
    draft: field("Describe the change"),
  },
  {
    name: "request changes of a plan",
    path: PLAN,
    prepare: async (page) => {
      await button("Comment on the whole plan")(page).click();
      await page.getByRole("textbox", { name: "Comment 1" }).fill(DRAFT_TEXT);
    },
    control: button("Request changes"),
    method: "POST",
    request: /\/documents\/plan-1\/run-loop$/,
    startsLoop: true,
    draft: (page) => page.getByRole("textbox", { name: "Comment 1" }),
  },
  {
    name: "execute a plan",
    path: PLAN,
    prepare: (page) => button(/^Execute/)(page).click(),
    control: inDialog(/^Execute/),
    method: "POST",
    request: /\/documents\/plan-1\/run-loop$/,
    startsLoop: true,
  },
  {
    name: "resume a loop",
    path: `/acme/loops/${id(13)}`,
    control: button("Resume"),
    method: "POST",
    request: /\/loops\/[^/]+\/resume$/,
    startsLoop: true,
  },
  {
    name: "answer a question",
    path: `/acme/loops/${id(17)}`,
    prepare: fill({ "Your answer": DRAFT_TEXT }),
    control: button("Answer and resume"),
    method: "POST",
    request: /\/loops\/[^/]+\/resume$/,
    startsLoop: true,
    draft: field("Your answer"),
  },
  {
    name: "cancel a loop",
    path: `/acme/loops/${id(10)}`,
    prepare: (page) => button("Cancel loop")(page).click(),
    control: inDialog("Cancel loop"),
    method: "POST",
    request: /\/loops\/[^/]+\/cancel$/,
  },
  {
    name: "archive a change request",
    path: "/acme/work",
    prepare: (page) =>
      page
        .getByRole("button", { name: /^Actions for/ })
        .first()
        .click(),
    control: (page) => page.getByRole("menuitem", { name: "Archive" }),
    method: "PATCH",
    request: /\/change-requests\/[^/]+$/,
  },
  {
    name: "invite a member",
    path: "/acme/settings/members",
    prepare: fill({ "E-mail address": "new@example.org" }),
    control: button("Invite"),
    method: "POST",
    request: /\/invitations$/,
    draft: field("E-mail address"),
  },
  {
    name: "create an API key",
    path: "/acme/settings/keys",
    prepare: fill({ Name: "deploy" }),
    control: button("Create key"),
    method: "POST",
    request: /\/api-keys$/,
    draft: field("Name"),
  },
  {
    name: "allow a repository",
    path: "/acme/settings/repositories",
    prepare: fill({ Repository: "acme/docs" }),
    control: button("Allow"),
    method: "POST",
    request: /\/repositories$/,
    draft: field("Repository"),
  },
  {
    name: "save the organization",
    path: "/acme/settings/organization",
    prepare: fill({ "Spending limit per loop": "7" }),
    control: (page) => page.getByRole("button", { name: "Save", exact: true }),
    method: "PUT",
    request: /\/organization\/settings$/,
    draft: field("Spending limit per loop"),
  },
  {
    name: "save an agent",
    path: "/acme/settings/agents/payments",
    prepare: fill({ Prompt: DRAFT_TEXT, "Reason for the change": "Shorter" }),
    control: button(/^Save as version/),
    method: "PATCH",
    request: /\/agents\/payments$/,
    draft: field("Prompt"),
  },
  {
    name: "connect a machine",
    path: "/acme/settings/desktops",
    control: button("Connect a machine"),
    method: "POST",
    request: /\/desktop\/onboarding-attempt$/,
  },
  {
    name: "register a browser",
    path: "/acme/settings/signing",
    control: button("Register this browser"),
    method: "POST",
    request: /\/public-keys$/,
  },
];

/** Opens the page of an action, and enters what its control requires. */
export async function prepare(page: Page, origin: string, action: Action): Promise<Locator> {
  await page.goto(origin + action.path);
  await action.prepare?.(page);
  return action.control(page);
}

export const isRequestOf = (
  { method, request }: Action,
  sent: { url: () => string; method: () => string },
) => sent.method() === method && request.test(new URL(sent.url()).pathname);
