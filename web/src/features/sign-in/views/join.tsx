/** Page on which an invitation is accepted. */
import { useMutation, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { type ErrorComponentProps, getRouteApi, useRouter } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";

import { messageOf, presentUserOf } from "@/api/errors";
import { queryClient } from "@/api/query-client";
import { Button, buttonClass } from "@/ui/button";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Notice } from "@/ui/panel";

import { acceptInvitation, invitationQuery, signInMethodsQuery } from "../queries";
import { CenteredPage } from "./centered-page";

const route = getRouteApi("/join");

export function Join() {
  usePageTitle("Invitation");
  const { token = "" } = route.useSearch();
  const {
    data: { organizationName, email },
  } = useSuspenseQuery(invitationQuery(token));
  return (
    <CenteredPage title={`Join ${organizationName}`}>
      <p>You are invited as {email}.</p>
      <AcceptForm token={token} />
    </CenteredPage>
  );
}

export function InvalidInvitation({ error }: ErrorComponentProps) {
  usePageTitle("Invitation");
  return (
    <CenteredPage title="This invitation is not valid" alert>
      <p>{messageOf(error)}</p>
    </CenteredPage>
  );
}

function AcceptForm({ token }: { token: string }) {
  const methods = useQuery(signInMethodsQuery);
  const router = useRouter();
  const [firstName, setFirstName] = useState("");
  const [lastName, setLastName] = useState("");
  const [password, setPassword] = useState("");
  const accept = useMutation({
    mutationFn: acceptInvitation,
    onSuccess: () => {
      // The cache may belong to another account that was signed in.
      queryClient.clear();
      router.history.replace("/");
    },
  });
  const presentUser = presentUserOf(accept.error);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    accept.mutate({
      token,
      firstName: firstName.trim(),
      lastName: lastName.trim(),
      password,
      replacesSession: presentUser !== undefined,
    });
  };
  const inputProps = (value: string, onValue: (value: string) => void, complete: string) => ({
    value,
    onChange: (event: { target: { value: string } }) => onValue(event.target.value),
    autoComplete: complete,
    className: INPUT_CLASS,
  });
  return (
    <div className="space-y-5">
      {methods.data?.oidc && (
        <a
          href={`/auth/oidc/start?${new URLSearchParams({ invitation: token })}`}
          className={`${buttonClass("plain")} w-full`}
        >
          Continue with {methods.data.oidc}
        </a>
      )}
      <form onSubmit={submit} className="space-y-4">
        <div className="grid grid-cols-2 gap-3">
          <Field label="First name">
            {(control) => (
              <input {...control} {...inputProps(firstName, setFirstName, "given-name")} />
            )}
          </Field>
          <Field label="Last name">
            {(control) => (
              <input {...control} {...inputProps(lastName, setLastName, "family-name")} />
            )}
          </Field>
        </div>
        <Field
          label="Password"
          hint="12 to 256 characters. If you already have an account with this e-mail address, enter its password."
        >
          {(control) => (
            <input
              {...control}
              {...inputProps(password, setPassword, "new-password")}
              type="password"
              required
            />
          )}
        </Field>
        {accept.error && (
          <Notice tone="bad" title="The invitation could not be accepted">
            {messageOf(accept.error)}
          </Notice>
        )}
        <Button type="submit" variant="primary" busy={accept.isPending} className="w-full">
          {presentUser === undefined ? "Join" : "Join and switch account"}
        </Button>
      </form>
    </div>
  );
}
