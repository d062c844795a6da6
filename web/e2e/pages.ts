/** Every page of the app, with what a test of its states needs. */
import { id } from "./mock";

export interface AppPage {
  name: string;
  path: string;
  /** Text of the page with the fixtures of the mock server. */
  ready: string | RegExp;
  /** Path of the request without which the page shows nothing. */
  data?: RegExp;
  /** Path of a request without which the page does not send that of `data`. */
  needs?: RegExp;
  /** Text of the page while it loads, if it shows no shape of its content. */
  loading?: string;
  /** Text of the page without entries: why, and what to do next. */
  empty?: string | RegExp;
  /** Its content comes from a stream or a gateway, and is kept only while the page is open. */
  isLive?: boolean;
  /** A list that has 1,000 rows in the variant `many`. */
  isList?: boolean;
  /** `data` is one thing that the address names, which may be missing. */
  isSingle?: boolean;
}

const CHANGE_REQUEST = "/acme/work/feature-1";
/** With pull requests. */
const DELIVERED = "/acme/work/feature-110";
const LOOP = /^\/loops\/[0-9a-f-]{36}$/;

/** Pages of an organization. */
export const PAGES: AppPage[] = [
  {
    name: "Needs you",
    path: "/acme/inbox",
    ready: "Change 1: question",
    data: /^\/change-requests$/,
    empty: "Describe the first change",
    isList: true,
  },
  {
    name: "Work",
    path: "/acme/work",
    ready: "Change 1: question",
    data: /^\/change-requests$/,
    empty: "No change requests yet",
    isList: true,
  },
  {
    name: "change request, request",
    path: `${CHANGE_REQUEST}?tab=request`,
    ready: "Cover it with a test.",
    data: /^\/documents\/feature-1$/,
    isSingle: true,
  },
  {
    name: "change request, plan",
    path: `${CHANGE_REQUEST}?tab=plan`,
    ready: "Exit status",
    data: /^\/documents\/plan-1$/,
    isSingle: true,
  },
  {
    name: "change request, live",
    path: `${CHANGE_REQUEST}?tab=live`,
    isLive: true,
    ready: "package.json",
    data: LOOP,
    isSingle: true,
  },
  {
    name: "change request, changes",
    path: `${CHANGE_REQUEST}?tab=changes`,
    ready: "Doubles with each attempt",
    isLive: true,
    data: /\/git\/loop-changes\//,
    needs: LOOP,
    isSingle: true,
  },
  {
    name: "change request, evidence",
    path: `${CHANGE_REQUEST}?tab=evidence`,
    ready: "A later loop is running.",
    data: LOOP,
    isSingle: true,
  },
  {
    name: "change request, evidence of an execution that has ended",
    path: `${DELIVERED}?tab=evidence`,
    ready: "Pull request opened",
    data: LOOP,
    isSingle: true,
  },
  {
    name: "change request, no pull request",
    path: `${CHANGE_REQUEST}?tab=pull-request`,
    ready: "No pull request yet",
    data: /^\/change-requests\/feature-1$/,
    isSingle: true,
  },
  {
    name: "change request, pull requests",
    path: `${DELIVERED}?tab=pull-request`,
    isLive: true,
    ready: "1 of 2 checks failed",
    data: /^\/api\/gateway\/git\/pr\/(standing|comments)$/,
  },
  {
    name: "change request, deploy",
    path: `${DELIVERED}?tab=deploy`,
    isLive: true,
    ready: "npm run dev",
    data: /\/git\/(loop-changes|repo-path)|\/deploy\/status\//,
    isSingle: true,
  },
  {
    name: "change request, history",
    path: `${CHANGE_REQUEST}?tab=history`,
    ready: "wrote the request",
    data: /^\/change-requests\/feature-1\/history$/,
    isSingle: true,
    isList: true,
  },
  {
    name: "loops",
    path: "/acme/loops",
    ready: "Retry webhooks",
    data: /^\/loops$/,
    empty: "No loops yet",
    isList: true,
  },
  { name: "new loop", path: "/acme/new", ready: "Describe the change" },
  {
    name: "running loop",
    path: `/acme/loops/${id(10)}`,
    isLive: true,
    ready: "package.json",
    data: LOOP,
    isSingle: true,
  },
  {
    name: "changes of a loop",
    path: `/acme/loops/${id(11)}?tab=changes`,
    ready: "Doubles with",
    isLive: true,
  },
  { name: "loop with results", path: `/acme/loops/${id(11)}`, ready: "Pull request opened" },
  { name: "cost of a loop", path: `/acme/loops/${id(12)}?tab=cost`, ready: "m-large" },
  { name: "loop with a plan", path: `/acme/loops/${id(12)}`, ready: "Exit status" },
  {
    name: "loop that needs approval",
    path: `/acme/loops/${id(14)}`,
    isLive: true,
    ready: "Waiting for approval on the machine",
  },
  { name: "failed loop", path: `/acme/loops/${id(13)}`, ready: "rate limit was reached" },
  {
    name: "loop with a question",
    path: `/acme/loops/${id(17)}`,
    ready: "Should the total be rounded",
  },
  {
    name: "document",
    path: "/acme/implementation-plans/plan-1",
    ready: "Exit status",
    data: /^\/documents\/plan-1$/,
    isSingle: true,
  },
  {
    name: "approvals",
    path: "/acme/approvals",
    isLive: true,
    ready: "Requested by",
    data: /^\/api\/gateway\/approvals$/,
    isList: true,
  },
  {
    name: "profile",
    path: "/acme/settings/profile",
    ready: "The browsers in which you are signed in",
    data: /^\/sessions$/,
  },
  {
    name: "members",
    path: "/acme/settings/members",
    ready: "Ben Lindqvist",
    data: /^\/members$/,
    isList: true,
  },
  {
    name: "organization",
    path: "/acme/settings/organization",
    ready: "Spending limit per loop",
    data: /^\/organization\/settings$/,
  },
  {
    name: "this machine",
    path: "/acme/settings/machine",
    ready: "Everything required is present",
    data: /^\/api\/gateway\/health-check$/,
    loading: "Checking this machine…",
  },
  {
    name: "machines",
    path: "/acme/settings/desktops",
    ready: "online, Linux, shared",
    data: /^\/compute-targets$/,
    empty: "No machines connected.",
    isList: true,
  },
  {
    name: "repositories",
    path: "/acme/settings/repositories",
    ready: "acme/shop",
    data: /^\/repositories$/,
    empty: /No repositor/,
    isList: true,
  },
  {
    name: "agents",
    path: "/acme/settings/agents",
    ready: "payments-domain",
    data: /^\/agents$/,
    empty: /No agents/,
    isList: true,
  },
  {
    name: "agent",
    path: "/acme/settings/agents/payments",
    ready: "Restore",
    data: /^\/agents\/payments$/,
    isSingle: true,
  },
  {
    name: "API keys",
    path: "/acme/settings/keys",
    ready: "No API keys",
    data: /^\/api-keys$/,
    empty: "No API keys",
  },
  {
    name: "command signing",
    path: "/acme/settings/signing",
    ready: "No browser is registered",
    data: /^\/public-keys$/,
    empty: "No browser is registered",
  },
  {
    name: "usage",
    path: "/acme/settings/usage",
    ready: "By user",
    data: /^\/loops\/usage$/,
    empty: "No loops in this period",
  },
  {
    name: "audit log",
    path: "/acme/settings/audit-log",
    ready: "by Ada Okafor",
    data: /^\/audit-log$/,
    empty: /No (entries|matching)/,
    isList: true,
  },
];

/** Pages outside an organization, and pages that do not exist. */
export const OTHER_PAGES: AppPage[] = [
  { name: "unknown loop", path: "/acme/loops/nope", ready: "Not found" },
  { name: "unknown page", path: "/acme/nope/nope", ready: "Page not found" },
  { name: "sign-in without a link", path: "/sign-in", ready: "Sign in with a link" },
  { name: "signed out", path: "/signed-out", ready: "You are signed out" },
  { name: "invitation", path: "/join?token=mock", ready: "You are invited as new@example.org" },
  { name: "used invitation", path: "/join?token=used", ready: "This invitation is not valid" },
  { name: "reset password", path: "/reset-password?token=mock", ready: "Set a new password" },
];
