/** Page on which a person sets a new password with the link of an administrator. */
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";

import { messageOf, presentUserOf } from "@/api/errors";
import { queryClient } from "@/api/query-client";
import { Button } from "@/ui/button";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Notice } from "@/ui/panel";

import { resetPassword } from "../queries";
import { CenteredPage } from "./centered-page";

const route = getRouteApi("/reset-password");

export function ResetPassword() {
  usePageTitle("New password");
  const { token = "" } = route.useSearch();
  const router = useRouter();
  const [password, setPassword] = useState("");
  const reset = useMutation({
    mutationFn: resetPassword,
    onSuccess: () => {
      // The cache may belong to another account that was signed in.
      queryClient.clear();
      router.history.replace("/");
    },
  });
  const presentUser = presentUserOf(reset.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    reset.mutate({ token, password, replacesSession: presentUser !== undefined });
  };
  return (
    <CenteredPage title="Set a new password">
      <p>All sessions of your account end, and this browser is signed in.</p>
      <form onSubmit={submit} className="mt-5 space-y-4">
        <Field label="New password" hint="12 to 256 characters.">
          {(control) => (
            <input
              {...control}
              type="password"
              required
              autoComplete="new-password"
              value={password}
              onChange={(event) => setPassword(event.target.value)}
              className={INPUT_CLASS}
            />
          )}
        </Field>
        {reset.error && (
          <Notice tone="bad" title="The password could not be set">
            {messageOf(reset.error)}
          </Notice>
        )}
        <Button type="submit" variant="primary" busy={reset.isPending} className="w-full">
          {presentUser === undefined ? "Set password" : "Set password and switch account"}
        </Button>
      </form>
    </CenteredPage>
  );
}
