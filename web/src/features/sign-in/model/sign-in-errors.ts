// Messages for the error codes of sign-in through the OpenID provider.
const MESSAGES: Record<string, string> = {
  oidc_not_configured: "No OpenID provider is configured on this control plane.",
  oidc_unavailable: "The OpenID provider is not responding. Try again in a moment.",
  oidc_denied: "The OpenID provider denied the sign-in.",
  oidc_invalid:
    "The sign-in expired or was started in another browser. Start again from this page.",
  oidc_no_account: "You have no account here. Ask an administrator for an invitation.",
  oidc_not_allowed: "None of your groups is allowed to sign in here. Contact an administrator.",
  oidc_inactive: "Your account is deactivated. Contact an administrator.",
  oidc_invitation:
    "The invitation has expired, was revoked or has already been used. Ask an administrator for a new one.",
};

/** Returns the message for the error code in the address of the sign-in page. The code itself is never shown: anyone can put text into a link. */
export const signInErrorText = (code: string): string =>
  MESSAGES[code] ?? "The control plane could not sign you in. Its log contains the reason.";
