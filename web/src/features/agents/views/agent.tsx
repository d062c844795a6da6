/** Page of an agent: prompt and versions. Administrators can edit it. */
import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { messageOf } from "@/api/errors";
import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { Agent } from "@/api/types";
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { moment } from "@/model/format";
import { Button } from "@/ui/button";
import { ConfirmDialog } from "@/ui/confirm-dialog";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { Panel } from "@/ui/panel";
import { RequestError, Row, Rows, Section } from "@/ui/section";

import {
  agentQuery,
  agentVersion,
  agentVersionsQuery,
  useDeleteAgent,
  useUpdateAgent,
} from "../queries";

const route = getRouteApi("/$orgSlug/settings/agents/$slug");

export function AgentPage() {
  const scope = useScope();
  const { slug } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(scope, slug));
  usePageTitle(agent.name);
  // The key resets the form when a new version is loaded.
  return <AgentView key={agent.currentVersion} agent={agent} />;
}

function AgentView({ agent }: { agent: Agent }) {
  const scope = useScope();
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const isAdmin = me.role === "org:admin";
  const facts = [agent.role, agent.sourceRepo, agent.description].filter(Boolean).join(" · ");
  return (
    <>
      <Section title={agent.name} about={facts} action={isAdmin && <AgentActions agent={agent} />}>
        {isAdmin ? (
          <EditForm agent={agent} />
        ) : (
          <Panel className="px-4 py-3">
            <p dir="auto" className="font-mono text-sm break-words whitespace-pre-wrap">
              {agent.prompt}
            </p>
          </Panel>
        )}
      </Section>
      <Versions agent={agent} isAdmin={isAdmin} />
    </>
  );
}

function AgentActions({ agent }: { agent: Agent }) {
  const { orgSlug } = route.useParams();
  const navigate = route.useNavigate();
  const [confirming, setConfirming] = useState(false);
  const update = useUpdateAgent(agent.slug);
  const remove = useDeleteAgent(agent.slug);
  const error = update.error ?? remove.error;
  return (
    <div className="flex flex-wrap items-center gap-2">
      {error && (
        <p role="alert" className="text-sm text-bad">
          {messageOf(error)}
        </p>
      )}
      <Button
        size="sm"
        busy={update.isPending}
        onClick={() => update.mutate({ enabled: !agent.enabled })}
      >
        {agent.enabled ? "Disable" : "Enable"}
      </Button>
      <Button size="sm" variant="danger" onClick={() => setConfirming(true)}>
        Delete
      </Button>
      <ConfirmDialog
        open={confirming}
        onOpenChange={setConfirming}
        title={`Delete ${agent.name}?`}
        confirm="Delete"
        busy={remove.isPending}
        onConfirm={() =>
          remove.mutate(undefined, {
            onSuccess: () =>
              void navigate({ to: "/$orgSlug/settings/agents", params: { orgSlug } }),
          })
        }
      >
        All its versions are deleted permanently.
      </ConfirmDialog>
    </div>
  );
}

function EditForm({ agent }: { agent: Agent }) {
  const stored = { name: agent.name, prompt: agent.prompt, changeNote: "" };
  const draft = useDraft(`agents/${agent.slug}`, "prompt", stored);
  const { name, prompt, changeNote } = draft.value;
  const change = (changes: Partial<typeof stored>) =>
    draft.change((value) => ({ ...value, ...changes }));
  const update = useUpdateAgent(agent.slug, draft.remove);
  const changed = name !== agent.name || prompt !== agent.prompt;
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate({ name: name.trim(), prompt, changeNote });
      }}
    >
      <Field label="Name">
        {(control) => (
          <input
            {...control}
            required
            maxLength={200}
            value={name}
            onChange={(event) => change({ name: event.target.value })}
            className={`${INPUT_CLASS} max-w-sm`}
          />
        )}
      </Field>
      <Field label="Prompt">
        {(control) => (
          <textarea
            {...control}
            required
            rows={14}
            readOnly={update.isPending}
            value={prompt}
            onChange={(event) => change({ prompt: event.target.value })}
            className={`${INPUT_CLASS} h-auto resize-y py-2.5 font-mono text-sm leading-relaxed`}
          />
        )}
      </Field>
      {changed && (
        <Field
          label="Reason for the change"
          hint="Stored with the version"
          error={update.error ? messageOf(update.error) : undefined}
        >
          {(control) => (
            <input
              {...control}
              required
              maxLength={500}
              value={changeNote}
              onChange={(event) => change({ changeNote: event.target.value })}
              className={INPUT_CLASS}
            />
          )}
        </Field>
      )}
      <DraftNotice draft={draft} />
      <div className="flex gap-2">
        <Button type="submit" variant="primary" disabled={!changed} busy={update.isPending}>
          Save as version {agent.currentVersion + 1}
        </Button>
        {changed && <Button onClick={draft.discard}>Discard changes</Button>}
      </div>
    </form>
  );
}

function Versions({ agent, isAdmin }: { agent: Agent; isAdmin: boolean }) {
  const scope = useScope();
  const {
    data: { versions },
  } = useSuspenseQuery(agentVersionsQuery(scope, agent.slug));
  const update = useUpdateAgent(agent.slug);
  const restore = useMutation({
    mutationFn: async (version: number) => {
      const { name, prompt } = await agentVersion(scope, agent.slug, version);
      return update.mutateAsync({ name, prompt, changeNote: `Restored version ${version}` });
    },
  });
  return (
    <Section title="Versions">
      {restore.error && <RequestError error={restore.error} />}
      <Rows items={versions} empty="No versions.">
        {(version) => (
          <Row
            key={version.id}
            actions={
              version.version === agent.currentVersion ? (
                <span className="text-sm text-ink-3">Current</span>
              ) : (
                isAdmin && (
                  <Button
                    size="sm"
                    aria-label={`Restore version ${version.version}`}
                    busy={restore.isPending && restore.variables === version.version}
                    onClick={() => restore.mutate(version.version)}
                  >
                    Restore
                  </Button>
                )
              )
            }
          >
            <p className="font-medium">Version {version.version}</p>
            <p dir="auto" className="text-sm text-ink-3">
              {[version.changeNote, fullName(version.changedBy), moment(version.createdAt)]
                .filter(Boolean)
                .join(" · ")}
            </p>
          </Row>
        )}
      </Rows>
    </Section>
  );
}

const fullName = ({
  firstName,
  lastName,
}: {
  firstName?: string | null;
  lastName?: string | null;
}) => [firstName, lastName].filter(Boolean).join(" ");
