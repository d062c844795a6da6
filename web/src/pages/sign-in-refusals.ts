/** Why a sign-in through the OpenID provider did not come about, in words. */
const REFUSALS: Record<string, string> = {
  oidc_not_configured: "There is no OpenID provider here.",
  oidc_unavailable: "The OpenID provider does not answer. Try again in a moment.",
  oidc_denied: "The OpenID provider did not let you through.",
  oidc_invalid: "It took too long, or came from another browser. Start again from here.",
  oidc_no_account: "You have no account here. Ask an administrator for an invitation.",
  oidc_not_allowed: "None of your groups may sign in here. Ask an administrator.",
  oidc_inactive: "Your account is not active. Ask an administrator.",
  oidc_invitation: "The invitation was used, taken back or is too old. Ask for a new one.",
};

/** What a code of the sign-in page means. */
export const refusalOf = (code: string): string =>
  REFUSALS[code] ?? "The control plane could not sign you in. Its log says why.";
