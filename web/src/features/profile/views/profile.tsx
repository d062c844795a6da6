/** Profile of the signed-in user: role, settings of this browser, sessions and password. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";

import { messageOf } from "@/api/errors";
import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { ago, moment } from "@/model/format";
import { Button } from "@/ui/button";
import { useNow } from "@/ui/clock";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { RequestError, Row, Rows, Section } from "@/ui/section";

import { sessionsQuery, useChangePassword, useEndSession } from "../queries";
import { Notifications, Shortcuts } from "./browser-settings";

export function ProfilePage() {
  const scope = useScope();
  usePageTitle("Profile");
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const name = [me.firstName, me.lastName].filter(Boolean).join(" ");
  return (
    <>
      <Section title={name || me.email} about={name ? me.email : undefined}>
        <p className="wrap-anywhere text-ink-2">
          {me.role === "org:admin" ? "Administrator" : "Member"} of{" "}
          <bdi>{me.organization.name}</bdi>
        </p>
      </Section>
      <Notifications />
      <Shortcuts />
      <Sessions />
      <Password />
    </>
  );
}

function Sessions() {
  const scope = useScope();
  const { data: sessions } = useSuspenseQuery(sessionsQuery(scope));
  const end = useEndSession();
  const now = useNow(undefined);
  return (
    <Section title="Sessions" about="The browsers in which you are signed in.">
      {end.error && <RequestError error={end.error} />}
      <Rows items={sessions} empty="No sessions.">
        {(session) => (
          <Row
            key={session.id}
            actions={
              session.current ? (
                <span className="text-sm text-ink-3">This browser</span>
              ) : (
                <Button
                  size="sm"
                  variant="danger"
                  busy={end.isPending && end.variables === session.id}
                  onClick={() => end.mutate(session.id)}
                >
                  Sign out
                </Button>
              )
            }
          >
            <p dir="auto" className="truncate">
              {session.userAgent ?? "Unknown browser"}
            </p>
            <p className="text-sm text-ink-3">
              {session.address ?? "Unknown address"}, last used {ago(session.lastUsedAt, now)},
              signed in {moment(session.createdAt)}
            </p>
          </Row>
        )}
      </Rows>
    </Section>
  );
}

function Password() {
  const [currentPassword, setCurrent] = useState("");
  const [newPassword, setNew] = useState("");
  const change = useChangePassword();
  return (
    <Section
      title="Password"
      about="Changing your password signs out all other browsers. If you have no password yet, leave the first field empty."
    >
      <form
        className="max-w-sm space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(
            { ...(currentPassword && { currentPassword }), newPassword },
            {
              onSuccess: () => {
                setCurrent("");
                setNew("");
              },
            },
          );
        }}
      >
        <Field label="Current password">
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="current-password"
              value={currentPassword}
              onChange={(event) => setCurrent(event.target.value)}
              className={INPUT_CLASS}
            />
          )}
        </Field>
        <Field
          label="New password"
          hint="12 to 256 characters"
          error={change.error ? messageOf(change.error) : undefined}
        >
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="new-password"
              value={newPassword}
              onChange={(event) => setNew(event.target.value)}
              className={INPUT_CLASS}
            />
          )}
        </Field>
        <Button type="submit" busy={change.isPending} disabled={newPassword === ""}>
          Change password
        </Button>
        {change.isSuccess && <p role="status">Password changed.</p>}
      </form>
    </Section>
  );
}
