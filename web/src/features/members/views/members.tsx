/** Members and invitations of the organization. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";

import { messageOf } from "@/api/errors";
import { membersQuery, meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Member, Role } from "@/api/types";
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { moment } from "@/model/format";
import { Button } from "@/ui/button";
import { CommandLine } from "@/ui/command-line";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { cx } from "@/ui/cx";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Notice } from "@/ui/panel";
import { RequestError, Row, Rows, Section } from "@/ui/section";

import {
  invitationsQuery,
  useInvite,
  useResetPassword,
  useRevokeInvitation,
  useUpdateMember,
} from "../queries";

const ROLES: [Role, string][] = [
  ["org:member", "Member"],
  ["org:admin", "Administrator"],
];

export function MembersPage() {
  const scope = useScope();
  usePageTitle("Members");
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const { data: members } = useSuspenseQuery(membersQuery(scope));
  const isAdmin = me.role === "org:admin";
  return (
    <>
      <Section title="Members">
        <Rows items={members} empty="No members.">
          {(member) => (
            <MemberRow
              key={member.id}
              member={member}
              isAdmin={isAdmin}
              isMe={member.id === me.id}
            />
          )}
        </Rows>
      </Section>
      {isAdmin && <Invitations />}
    </>
  );
}

function MemberRow({ member, isAdmin, isMe }: { member: Member; isAdmin: boolean; isMe: boolean }) {
  const [confirming, setConfirming] = useState(false);
  const update = useUpdateMember();
  const reset = useResetPassword();
  const name = [member.firstName, member.lastName].filter(Boolean).join(" ") || member.email;
  const role = ROLES.find(([key]) => key === member.role)?.[1];
  return (
    <Row
      actions={
        isAdmin ? (
          <>
            <RoleChoice
              label={`Role of ${name}`}
              value={member.role}
              disabled={!member.active || update.isPending}
              onValue={(role) => update.mutate({ id: member.id, role })}
            />
            {member.active && !isMe && (
              <Button
                size="sm"
                busy={reset.isPending}
                aria-label={`Create a password reset link for ${name}`}
                onClick={() => reset.mutate(member.id)}
              >
                Reset link
              </Button>
            )}
            {member.active ? (
              <Button size="sm" variant="danger" onClick={() => setConfirming(true)}>
                Remove
              </Button>
            ) : (
              <Button
                size="sm"
                busy={update.isPending}
                onClick={() => update.mutate({ id: member.id, active: true })}
              >
                Reactivate
              </Button>
            )}
          </>
        ) : (
          <span className="text-ink-2">{role}</span>
        )
      }
    >
      <p dir="auto" className="truncate font-medium">
        {name}
        {isMe && <span className="font-normal text-ink-3"> (you)</span>}
      </p>
      <p className="truncate text-sm text-ink-3">
        {member.email}
        {!member.active && ", removed"}
      </p>
      {[update.error, reset.error].map(
        (error, index) =>
          error && (
            <p key={index} role="alert" className="text-sm text-bad">
              {messageOf(error)}
            </p>
          ),
      )}
      {reset.data && (
        <div className="mt-2">
          <p className="mb-2 text-sm text-ink-2">
            Send this link to <bdi>{name}</bdi> to set a new password. It can be used once, expires{" "}
            {moment(reset.data.expiresAt)} and is not shown again.
          </p>
          <CommandLine text={reset.data.url} label="Copy link" />
        </div>
      )}
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title={`Remove ${name}?`}
        confirm="Remove"
        busy={update.isPending}
        onConfirm={() =>
          update.mutate({ id: member.id, active: false }, { onSettled: () => setConfirming(false) })
        }
      >
        {isMe ? "Your" : "The user’s"} sessions, API keys and machines lose access immediately.
        Running loops continue.
      </ConfirmDialog>
    </Row>
  );
}

function RoleChoice({
  label,
  value,
  disabled,
  isTall,
  onValue,
}: {
  label: string;
  value: Role;
  disabled?: boolean;
  /** Uses the height of form fields. */
  isTall?: boolean;
  onValue: (role: Role) => void;
}) {
  return (
    <select
      aria-label={label}
      value={value}
      disabled={disabled}
      onChange={(event) => onValue(event.target.value as Role)}
      className={cx(INPUT_CLASS, "!w-auto px-2", !isTall && "!h-7.5 text-sm")}
    >
      {ROLES.map(([key, name]) => (
        <option key={key} value={key}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Invitations() {
  const scope = useScope();
  const { data: invitations } = useSuspenseQuery(invitationsQuery(scope));
  const revoke = useRevokeInvitation();
  return (
    <Section
      title="Invitations"
      about="Loopgate does not send e-mail. Share the link yourself: it can be used once and expires after seven days."
    >
      <Suspense>
        <InviteForm />
      </Suspense>
      {revoke.error && <RequestError error={revoke.error} />}
      <Rows items={invitations} empty="No pending invitations.">
        {(invitation) => (
          <Row
            key={invitation.id}
            actions={
              <Button
                size="sm"
                variant="danger"
                aria-label={`Revoke the invitation for ${invitation.email}`}
                busy={revoke.isPending && revoke.variables === invitation.id}
                onClick={() => revoke.mutate(invitation.id)}
              >
                Revoke
              </Button>
            }
          >
            <p className="truncate">{invitation.email}</p>
            <p className="text-sm text-ink-3">
              {ROLES.find(([role]) => role === invitation.role)?.[1]}, expires{" "}
              {moment(invitation.expiresAt)}
            </p>
          </Row>
        )}
      </Rows>
    </Section>
  );
}

const NO_INVITATION: { email: string; role: Role } = { email: "", role: "org:member" };

function InviteForm() {
  const draft = useDraft("settings/members", "invitation", NO_INVITATION);
  const { email, role } = draft.value;
  const invite = useInvite();
  return (
    <>
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate({ email: email.trim(), role }, { onSuccess: draft.discard });
        }}
      >
        <div className="min-w-56 flex-1">
          <Field label="E-mail address" error={invite.error ? messageOf(invite.error) : undefined}>
            {(control) => (
              <input
                {...control}
                type="email"
                required
                autoComplete="off"
                value={email}
                onChange={(event) =>
                  draft.change((value) => ({ ...value, email: event.target.value }))
                }
                className={INPUT_CLASS}
              />
            )}
          </Field>
        </div>
        <RoleChoice
          label="Role"
          value={role}
          onValue={(role) => draft.change((value) => ({ ...value, role }))}
          isTall
        />
        <Button type="submit" variant="primary" busy={invite.isPending}>
          Invite
        </Button>
      </form>
      <DraftNotice draft={draft} />
      {invite.data && (
        <Notice tone="info" title={`Invitation for ${invite.data.email}`}>
          <p className="mb-2">Copy the link now. It is not shown again.</p>
          <CommandLine text={invite.data.url} label="Copy link" />
        </Notice>
      )}
    </>
  );
}
