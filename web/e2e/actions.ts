/** What a person sends from the pages of the app: the page, the control, and the request that it causes. */
import type { Locator, Page } from "@playwright/test";

import { id } from "./mock";

export interface Action {
  name: string;
  path: string;
  /** Opens what contains the control. */
  reveal?: (page: Page) => Promise<void>;
  /** Enters what the control requires, and the page keeps. */
  prepare?: (page: Page) => Promise<void>;
  control: (page: Page) => Locator;
  method: "POST" | "PUT" | "PATCH";
  /** Path of the request. */
  request: RegExp;
  /** Whether it starts a loop, which costs money. */
  startsLoop?: boolean;
  /** Whether a gateway receives the request, which knows no sessions. */
  isOfGateway?: boolean;
  /** Field with a text that must not be lost. */
  draft?: (page: Page) => Locator;
  /** That text, if it is not `DRAFT_TEXT`. */
  text?: string;
}

const PLAN = "/acme/implementation-plans/plan-1";
const CHANGES = `/acme/loops/${id(11)}?tab=changes`;
const PULL = "/acme/work/feature-110?tab=pull-request";
const DEPLOY = "/acme/work/feature-110?tab=deploy";
const REPLY = (page: Page) => page.getByRole("textbox", { name: /^Reply on src\/webhooks/ });
export const DRAFT_TEXT = "Keep this text";

const button = (name: string | RegExp) => (page: Page) => page.getByRole("button", { name });
const inDialog = (name: string | RegExp) => (page: Page) =>
  page.getByRole("alertdialog").getByRole("button", { name });
const click = (control: (page: Page) => Locator) => (page: Page) => control(page).click();
const finding = (page: Page) =>
  page.getByRole("article", { name: /^Finding on src\/webhooks\/retry\.ts/ });
const pull = (page: Page) => page.getByRole("article", { name: "Retry webhooks with a growing" });
const inReview = (name: string) => (page: Page) =>
  page.getByRole("dialog", { name: "Finish review" }).getByRole("button", { name });
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
    reveal: click(button(/^Execute/)),
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
    name: "request changes of code",
    path: CHANGES,
    reveal: click(button(/^Finish review/)),
    prepare: fill({ Summary: DRAFT_TEXT }),
    control: inReview("Request changes"),
    method: "POST",
    request: /\/documents\/[^/]+\/run-loop$/,
    startsLoop: true,
    draft: field("Summary"),
  },
  {
    name: "comment on code",
    path: CHANGES,
    reveal: click(button(/^Finish review/)),
    prepare: fill({ Summary: DRAFT_TEXT }),
    control: inReview("Comment only"),
    method: "POST",
    request: /\/git\/pr\/review$/,
    isOfGateway: true,
    draft: field("Summary"),
  },
  {
    name: "ask about a finding",
    path: CHANGES,
    reveal: click((page) => finding(page).getByRole("button", { name: "Chat" })),
    prepare: fill({ "Question to the assistant": DRAFT_TEXT }),
    control: (page) => finding(page).getByRole("button", { name: "Ask" }),
    method: "POST",
    request: /\/reviewer\/finding-chat\//,
    isOfGateway: true,
    draft: field("Question to the assistant"),
  },
  {
    name: "argue about a finding",
    path: CHANGES,
    reveal: click((page) => finding(page).getByRole("button", { name: "Argue" })),
    prepare: fill({ "Argument against the reviewer": DRAFT_TEXT }),
    control: (page) => finding(page).locator("button[type=submit]"),
    method: "POST",
    request: /\/reviewer\/argue/,
    isOfGateway: true,
    draft: field("Argument against the reviewer"),
  },
  {
    name: "start a review",
    path: CHANGES,
    control: button("Review again"),
    method: "POST",
    request: /\/reviewer\/review(\/|$)/,
    isOfGateway: true,
  },
  {
    name: "answer a comment of a pull request",
    path: PULL,
    reveal: click((page) => pull(page).getByRole("button", { name: "Reply on src/webhooks" })),
    prepare: (page) => REPLY(page).fill(DRAFT_TEXT),
    control: (page) => pull(page).getByRole("button", { name: "Post" }),
    method: "POST",
    request: /\/git\/pr\/reply$/,
    isOfGateway: true,
    draft: REPLY,
  },
  {
    name: "address comments",
    path: PULL,
    reveal: async (page) => {
      await page.getByRole("checkbox", { name: /comments on src\/webhooks/ }).check();
      await button(/^Address comments/)(page).click();
    },
    control: inDialog("Start loop"),
    method: "POST",
    request: /\/documents\/[^/]+\/run-loop$/,
    startsLoop: true,
  },
  {
    name: "update a branch",
    path: PULL,
    control: (page) => pull(page).getByRole("button", { name: "Update branch" }),
    method: "POST",
    request: /\/git\/pr\/update-branch$/,
    isOfGateway: true,
  },
  {
    name: "merge",
    path: PULL,
    reveal: click((page) => pull(page).getByRole("button", { name: "Merge" })),
    control: inDialog("Merge"),
    method: "POST",
    request: /\/git\/pr\/merge$/,
    isOfGateway: true,
  },
  {
    name: "deploy",
    path: DEPLOY,
    control: button(/^Deploy/),
    method: "POST",
    request: /\/api\/gateway\/deploy$/,
    isOfGateway: true,
  },
  {
    name: "stop a deployment",
    path: DEPLOY,
    control: button(/^Stop/),
    method: "POST",
    request: /\/deploy\/teardown$/,
    isOfGateway: true,
  },
  {
    name: "send a message to a loop",
    path: `/acme/loops/${id(10)}`,
    prepare: fill({ "Message to the loop": DRAFT_TEXT }),
    control: button("Send message"),
    method: "POST",
    request: /\/loops\/[^/]+\/messages$/,
    draft: field("Message to the loop"),
  },
  {
    name: "cancel a loop",
    path: `/acme/loops/${id(10)}`,
    reveal: click(button("Cancel loop")),
    control: inDialog("Cancel loop"),
    method: "POST",
    request: /\/loops\/[^/]+\/cancel$/,
  },
  {
    name: "archive a change request",
    path: "/acme/work",
    reveal: click((page) => page.getByRole("button", { name: /^Actions for/ }).first()),
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
    text: "new@example.org",
  },
  {
    name: "create an API key",
    path: "/acme/settings/keys",
    prepare: fill({ Name: "deploy" }),
    control: button("Create key"),
    method: "POST",
    request: /\/api-keys$/,
    draft: field("Name"),
    text: "deploy",
  },
  {
    name: "allow a repository",
    path: "/acme/settings/repositories",
    prepare: fill({ Repository: "acme/docs" }),
    control: button("Allow"),
    method: "POST",
    request: /\/repositories$/,
    draft: field("Repository"),
    text: "acme/docs",
  },
  {
    name: "save the organization",
    path: "/acme/settings/organization",
    prepare: fill({ "Spending limit per loop": "7" }),
    control: (page) => page.getByRole("button", { name: "Save", exact: true }),
    method: "PUT",
    request: /\/organization\/settings$/,
    draft: field("Spending limit per loop"),
    text: "7",
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
  await action.reveal?.(page);
  await action.prepare?.(page);
  return action.control(page);
}

export const isRequestOf = (
  { method, request }: Action,
  sent: { url: () => string; method: () => string },
) => sent.method() === method && request.test(new URL(sent.url()).pathname);
