/** The landing of a one-time sign-in link. */
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { ApiError, messageOf } from "@/api/errors";
import { signInWithLink } from "@/api/queries";
import { queryClient } from "@/query-client";
import { Button } from "@/ui/button";
import { usePageTitle } from "@/ui/page-title";

import { CenteredPage } from "./centered-page";

const route = getRouteApi("/sign-in");

export function SignIn() {
  usePageTitle("Sign in");
  const { token } = route.useSearch();
  const navigate = useNavigate();
  const { mutate, error } = useMutation({
    mutationFn: signInWithLink,
    onSuccess: () => {
      queryClient.clear();
      return navigate({ to: "/", replace: true });
    },
  });

  // The token is good for one request, and effects may run twice.
  const sent = useRef(false);
  useEffect(() => {
    if (token === undefined || sent.current) return;
    sent.current = true;
    mutate(token);
  }, [token, mutate]);

  if (token === undefined) {
    return (
      <CenteredPage title="Sign in with a link">
        <p>
          Run the command that started Loopgate once more, on the same machine: it opens a fresh
          link (a demo prints a command of its own for that). Loops that are running go on.
        </p>
      </CenteredPage>
    );
  }
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
