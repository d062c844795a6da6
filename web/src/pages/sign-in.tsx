/** The ways in: a one-time link, the password of a local account, an OpenID provider. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type SubmitEvent, useEffect, useRef, useState } from "react";

import { ApiError, messageOf } from "@/api/errors";
import { signInMethodsQuery, signInWithLink, signInWithPassword } from "@/api/queries";
import { queryClient } from "@/query-client";
import { Button, buttonClass } from "@/ui/button";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Notice, Skeleton } from "@/ui/panel";

import { CenteredPage } from "./centered-page";
import { refusalOf } from "./sign-in-refusals";

const route = getRouteApi("/sign-in");

export function SignIn() {
  usePageTitle("Sign in");
  const { token } = route.useSearch();
  return token === undefined ? <Ways /> : <LinkLanding token={token} />;
}

/** Goes on as the person who has just signed in. */
function useEnter() {
  const { returnTo } = route.useSearch();
  const router = useRouter();
  return () => {
    queryClient.clear();
    router.history.replace(returnTo ?? "/");
  };
}

function LinkLanding({ token }: { token: string }) {
  const enter = useEnter();
  const { mutate, error } = useMutation({ mutationFn: signInWithLink, onSuccess: enter });

  // The token is good for one request, and effects may run twice.
  const sent = useRef(false);
  useEffect(() => {
    if (sent.current) return;
    sent.current = true;
    mutate(token);
  }, [token, mutate]);

  if (error instanceof ApiError && error.status >= 400 && error.status < 500) return <SpentLink />;
  if (error) {
    return (
      <CenteredPage title="Signing in did not work" alert>
        <p>{messageOf(error)}</p>
        <Button onClick={() => mutate(token)}>Try again</Button>
      </CenteredPage>
    );
  }
  return (
    <CenteredPage title="Signing you in…">
      <p role="status">One moment.</p>
    </CenteredPage>
  );
}

function Ways() {
  const { error, returnTo } = route.useSearch();
  const methods = useQuery(signInMethodsQuery);
  if (methods.isPending) {
    return (
      <CenteredPage title="Sign in">
        <Skeleton className="h-24 w-full rounded-md" />
      </CenteredPage>
    );
  }
  const { password = false, oidc } = methods.data ?? {};
  if (!password && !oidc) return <LinkOnly />;
  const start = new URLSearchParams(returnTo ? { returnTo } : {});
  return (
    <CenteredPage title="Sign in">
      <div className="w-full space-y-5 text-left">
        {error && (
          <Notice tone="bad" title="Signing in did not work">
            {refusalOf(error)}
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
  const enter = useEnter();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const signIn = useMutation({ mutationFn: signInWithPassword, onSuccess: enter });
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
      <Button type="submit" look="primary" busy={signIn.isPending} className="w-full">
        Sign in
      </Button>
    </form>
  );
}

function LinkOnly() {
  const { error } = route.useSearch();
  return (
    <CenteredPage title="Sign in with a link" alert={error !== undefined}>
      {error && <p>{refusalOf(error)}</p>}
      <p>
        Run the command that started Loopgate once more, on the same machine: it opens a fresh link
        (a demo prints a command of its own for that). Loops that are running go on.
      </p>
    </CenteredPage>
  );
}

function SpentLink() {
  return (
    <CenteredPage title="This link is used up" alert>
      <p>
        A sign-in link works once and for a short time. To get a fresh one, run the command that
        started Loopgate once more, on the same machine (a demo prints a command of its own for
        that). Loops that are running go on.
      </p>
    </CenteredPage>
  );
}
