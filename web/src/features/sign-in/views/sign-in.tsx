/** Sign-in with a one-time link, the password of a local account, or an OpenID provider. */
import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type SubmitEvent, useEffect, useRef, useState } from "react";

import { ApiError, messageOf } from "@/api/errors";
import { queryClient } from "@/api/query-client";
import { Button, buttonClass } from "@/ui/button";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Notice } from "@/ui/panel";

import { takeReturnPath } from "../model/return-to";
import { signInErrorText } from "../model/sign-in-errors";
import { signInMethodsQuery, signInWithLink, signInWithPassword } from "../queries";
import { CenteredPage } from "./centered-page";

const route = getRouteApi("/sign-in");

export function SignIn() {
  usePageTitle("Sign in");
  const { token } = route.useSearch();
  return token === undefined ? <SignInMethods /> : <LinkSignIn token={token} />;
}

/** Returns a function that continues as the newly signed-in user. */
function useContinue() {
  const { returnTo } = route.useSearch();
  const router = useRouter();
  return () => {
    // The cache may belong to another account that was signed in.
    queryClient.clear();
    // Also taken if the address names a path, so that it does not apply to a later sign-in.
    const kept = takeReturnPath();
    router.history.replace(returnTo ?? kept ?? "/");
  };
}

function LinkSignIn({ token }: { token: string }) {
  const proceed = useContinue();
  const router = useRouter();
  const { mutate, error, isPending } = useMutation({
    mutationFn: signInWithLink,
    onSuccess: proceed,
  });

  // The token can be used once, and React's strict mode runs effects twice.
  const sent = useRef(false);
  useEffect(() => {
    if (sent.current) return;
    sent.current = true;
    mutate({ token });
  }, [token, mutate]);

  if (error instanceof ApiError && error.code === "already_signed_in") {
    const { newEmail } = error.data;
    return (
      <CenteredPage title="You are already signed in" alert>
        <p>{error.message}</p>
        <div className="flex flex-wrap justify-center gap-2">
          <Button onClick={() => router.history.replace("/")}>Stay signed in</Button>
          <Button
            variant="primary"
            busy={isPending}
            onClick={() => mutate({ token, replacesSession: true })}
          >
            Sign in as {typeof newEmail === "string" ? newEmail : "the other user"}
          </Button>
        </div>
      </CenteredPage>
    );
  }
  if (error instanceof ApiError && error.status >= 400 && error.status < 500)
    return <InvalidLink />;
  if (error) {
    return (
      <CenteredPage title="Sign-in failed" alert>
        <p>{messageOf(error)}</p>
        <Button onClick={() => mutate({ token })}>Try again</Button>
      </CenteredPage>
    );
  }
  return (
    <CenteredPage title="Signing you in…">
      <p role="status">Please wait.</p>
    </CenteredPage>
  );
}

function SignInMethods() {
  const { error, returnTo } = route.useSearch();
  const {
    data: { password, oidc },
  } = useSuspenseQuery(signInMethodsQuery);
  if (!password && !oidc) return <LinkOnly />;
  const start = new URLSearchParams(returnTo ? { returnTo } : {});
  return (
    <CenteredPage title="Sign in">
      <div className="w-full space-y-5 text-left">
        {error && (
          <Notice tone="bad" title="Sign-in failed">
            {signInErrorText(error)}
          </Notice>
        )}
        {oidc && (
          <a
            href={`/auth/oidc/start?${start}`}
            className={`${buttonClass(password ? "plain" : "primary")} w-full`}
          >
            Continue with {oidc}
          </a>
        )}
        {password && <PasswordForm />}
      </div>
    </CenteredPage>
  );
}

function PasswordForm() {
  const proceed = useContinue();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const signIn = useMutation({ mutationFn: signInWithPassword, onSuccess: proceed });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    signIn.mutate({ email: email.trim(), password });
  };
  return (
    <form onSubmit={submit} className="space-y-4">
      <Field label="E-mail address">
        {(control) => (
          <input
            {...control}
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            className={INPUT_CLASS}
          />
        )}
      </Field>
      <Field label="Password" error={signIn.error ? messageOf(signIn.error) : undefined}>
        {(control) => (
          <input
            {...control}
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
            className={INPUT_CLASS}
          />
        )}
      </Field>
      <Button type="submit" variant="primary" busy={signIn.isPending} className="w-full">
        Sign in
      </Button>
    </form>
  );
}

export function LinkOnly() {
  const { error } = route.useSearch();
  return (
    <CenteredPage title="Sign in with a link" alert={error !== undefined}>
      {error && <p>{signInErrorText(error)}</p>}
      <p>
        Run the command that started Loopgate again, on the same machine, to open a new sign-in link
        (the demo prints a separate command for this). Running loops continue.
      </p>
    </CenteredPage>
  );
}

function InvalidLink() {
  return (
    <CenteredPage title="This link is no longer valid" alert>
      <p>
        A sign-in link can be used once and expires after a short time. For a new one, run the
        command that started Loopgate again, on the same machine (the demo prints a separate command
        for this). Running loops continue.
      </p>
    </CenteredPage>
  );
}
