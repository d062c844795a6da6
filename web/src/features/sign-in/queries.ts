/** Sign-in, invitations and password resets. Each sign-in stores the session key of this browser. */
import { queryOptions } from "@tanstack/react-query";

import { api, unwrap } from "@/api/client";
import { ApiError } from "@/api/errors";
import { setSessionKey } from "@/api/session-key";

/** Signs in with a one-time link. A used link is accepted when the browser is already signed in. */
export async function signInWithLink(body: {
  token: string;
  replacesSession?: boolean;
}): Promise<void> {
  try {
    const signedIn = await unwrap(api.POST("/auth/sign-in-link", { body }));
    setSessionKey(signedIn.sessionKey);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    // Opening the link again from the terminal or the history is common: fail only without a session.
    await unwrap(api.GET("/me")).catch(() => {
      throw error;
    });
  }
}

/** Sign-in methods that the control plane offers. */
export const signInMethodsQuery = queryOptions({
  queryKey: ["sign-in-methods"],
  queryFn: ({ signal }) => unwrap(api.GET("/auth/methods", { signal })),
});

/** Signs in with the password of a local account. */
export async function signInWithPassword(body: { email: string; password: string }): Promise<void> {
  const signedIn = await unwrap(api.POST("/auth/sign-in", { body }));
  setSessionKey(signedIn.sessionKey);
}

/** The organization and e-mail address of an invitation. */
export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ["invitation", token],
    queryFn: ({ signal }) => unwrap(api.POST("/invitations/preview", { body: { token }, signal })),
    staleTime: Infinity,
  });

/** Accepts an invitation with a local account, which is created if it does not exist. */
export async function acceptInvitation(body: {
  token: string;
  firstName: string;
  lastName: string;
  password: string;
  replacesSession: boolean;
}): Promise<void> {
  const signedIn = await unwrap(api.POST("/invitations/accept", { body }));
  setSessionKey(signedIn.sessionKey);
}

/** Sets a new password with the link of an administrator, and signs in. */
export async function resetPassword(body: {
  token: string;
  password: string;
  replacesSession: boolean;
}): Promise<void> {
  const signedIn = await unwrap(api.POST("/auth/password-reset", { body }));
  setSessionKey(signedIn.sessionKey);
}
