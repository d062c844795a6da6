/** Form of a new change request. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ShieldCheck } from "lucide-react";
import { type SubmitEvent, useEffect, useRef, useState } from "react";

import { computeTargetsQuery, documentQuery, organizationSettingsQuery } from "@/api/queries";
import { queryClient } from "@/api/query-client";
import { useScope } from "@/api/scope";
import type { Ticket } from "@/api/types";
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { useRequestKey } from "@/drafts/use-request-key";
import { permissionSentence } from "@/model/permission";
import { branchProblem, promptProblem } from "@/model/validation";
import { useOpenLoop } from "@/routing/use-open-loop";
import { Button } from "@/ui/button";

import type { RequestFile } from "../model/attachments";
import { loadLastRepository, saveLastRepository } from "../model/last-repository";
import {
  emptyRequest,
  limitOf,
  limitProblem,
  modelProblem,
  newPeer,
  repoRefOf,
  type RequestDraft,
  selectionOf,
} from "../model/request-draft";
import {
  branchCheckProblem,
  repositoryCheckProblem,
  useRepositoryChecks,
} from "../model/use-repository-checks";
import { repositoriesQuery, type RepositoryChoice, useStartRequest } from "../queries";
import { MachineChoice, ModeChoice, TicketChoice } from "./choices";
import { GatewayNotice } from "./gateway-notice";
import { MoreOptions, Peers } from "./more-options";
import { RepositoryFields } from "./repository-fields";
import { RequestText } from "./request-text";
import { StartError } from "./start-error";
import { Templates } from "./templates";

const route = getRouteApi("/$orgSlug/new");

/** `field`: name of the draft. `initial`: the values without a draft. `onMode`: called with the displayed mode. */
export function RequestForm({
  field,
  initial,
  onMode,
}: {
  field: string;
  initial: RequestDraft;
  onMode: (mode: RequestDraft["mode"]) => void;
}) {
  const scope = useScope();
  const { orgSlug } = route.useParams();
  const openLoop = useOpenLoop(orgSlug);
  const [first] = useState(initial);
  const draft = useDraft("new", field, first);
  const files = useDraft<RequestFile[]>("new", `${field} files`, []);
  // Drafts of earlier versions lack members.
  const value = { ...emptyRequest(), ...draft.value };
  const requestKey = useRequestKey("new", field);
  const change = (changes: Partial<RequestDraft>) => {
    // With the text: another tab that shows it sends the same request.
    requestKey.keep(requestKey.value);
    draft.change((current) => ({ ...current, ...changes }));
  };
  const { mode } = value;
  useEffect(() => onMode(mode), [mode, onMode]);

  const { data: settings } = useQuery(organizationSettingsQuery(scope));
  const { data: targets = [] } = useQuery(computeTargetsQuery(scope));
  const online = targets.filter((target) => target.isOnline);
  // The selected machine may be offline by now.
  const target = online.find(({ id }) => id === value.targetId);
  const machine = target?.id;
  const { data: choices } = useQuery(repositoriesQuery(scope, machine));
  const [lastRepository] = useState(loadLastRepository);
  const repository = value.repository ?? proposedRepository(choices, lastRepository) ?? "";
  const [check, ...peerChecks] = useRepositoryChecks(machine, [
    { repository, branch: value.branch },
    ...value.peers,
  ]);
  const [isSubmitted, setIsSubmitted] = useState(false);
  // Open when it contains a value, which would not be noticed otherwise.
  const [isExtended, setIsExtended] = useState(
    value.peers.length > 0 ||
      value.model !== "" ||
      value.limit !== "" ||
      value.agents !== undefined ||
      value.selfLearning === true,
  );
  const form = useRef<HTMLFormElement>(null);
  const removeDrafts = () => {
    draft.remove();
    files.remove();
  };
  const start = useStartRequest(requestKey, removeDrafts);
  if (!check) return null;

  const checks = [check, ...peerChecks];
  const problems = [
    promptProblem(value.prompt),
    modelProblem(value.model),
    limitProblem(value.limit),
    ...checks.flatMap((each) => [
      repositoryCheckProblem(each),
      branchProblem(each.branch.trim()),
      branchCheckProblem(each),
    ]),
  ];
  const ticketDocument = value.ticket === "" ? undefined : value.ticket;

  const submit = (event?: SubmitEvent) => {
    event?.preventDefault();
    setIsSubmitted(true);
    const repositories = checks.flatMap((each) => repoRefOf(each) ?? []);
    if (problems.some(Boolean) || repositories.length !== checks.length) {
      // After the render that marks the invalid fields.
      requestAnimationFrame(() =>
        form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus(),
      );
      return;
    }
    // A repetition must be the same request, whatever the form would propose then.
    change({ repository });
    const opening = openLoop();
    start.mutate(
      {
        text: value.prompt.trim(),
        command: value.mode === "plan" ? "plan" : "execute",
        ticketDocument,
        files: ticketDocument === undefined ? files.value : [],
        selection: selectionOf({ ...value, targetId: machine ?? "" }, repositories),
      },
      {
        onSuccess: (loopId) => {
          saveLastRepository(repositories[0]?.fullName ?? "");
          return opening.onSuccess(loopId);
        },
      },
    );
  };

  const selectTicket = (ticket: Ticket | undefined) => {
    if (!ticket) {
      change({ ticket: "" });
      return;
    }
    const { repo, additionalRepos } = ticket;
    if (additionalRepos.length > 0) setIsExtended(true);
    change({
      ticket: ticket.id,
      ...(repo && { repository: repo.fullName, branch: repo.branch ?? "" }),
      peers: additionalRepos.map(({ fullName, branch }) => newPeer(fullName, branch)),
    });
    void queryClient
      .query(documentQuery(scope, ticket.id))
      .then(({ content }) => change({ prompt: content }));
  };

  const repositories = checks.flatMap((each) => repoRefOf(each)?.fullName ?? []);
  const onlyMachine = online.length === 1 ? online[0] : undefined;
  const startPreview = check.preview?.start ?? undefined;
  return (
    <form ref={form} onSubmit={submit} noValidate className="mt-5 space-y-5">
      <TicketChoice value={value.ticket} onValue={selectTicket} />
      <div className="relative">
        <div className="absolute -top-1.5 right-0">
          <Templates text={value.prompt} onText={(prompt) => change({ prompt })} />
        </div>
        <RequestText
          value={value.prompt}
          onValue={(prompt) => change({ prompt })}
          error={isSubmitted ? promptProblem(value.prompt) : undefined}
          isSending={start.isPending}
          files={files.value}
          onFiles={ticketDocument === undefined ? (next) => files.change(() => next) : undefined}
          machine={machine}
          clone={
            check.preview?.availability === "found" ? (check.preview.path ?? undefined) : undefined
          }
          onSubmit={submit}
        />
      </div>
      <MachineChoice
        online={online}
        value={machine ?? ""}
        onValue={(id) => change({ targetId: id })}
      />
      <RepositoryFields
        labels={{ repository: "Repository", branch: "Base branch" }}
        machine={machine}
        repository={repository}
        branch={value.branch}
        check={check}
        isSubmitted={isSubmitted}
        onChange={change}
      />
      <GatewayNotice machine={machine} />
      <ModeChoice value={value.mode} onValue={(mode) => change({ mode })} />
      <details
        open={isExtended}
        onToggle={({ currentTarget }) => setIsExtended(currentTarget.open)}
        className="rounded-md border border-line px-4 py-2.5"
      >
        <summary className="cursor-pointer font-medium">Options</summary>
        <div className="mt-4 space-y-5 pb-2">
          <Peers
            peers={value.peers}
            checks={peerChecks}
            machine={machine}
            isSubmitted={isSubmitted}
            onChange={(peers) => change({ peers })}
          />
          <MoreOptions draft={value} onChange={change} defaultModel={startPreview?.model} />
        </div>
      </details>
      <DraftNotice draft={draft} />
      {start.error && <StartError error={start.error} orgSlug={orgSlug} />}
      <p className="flex gap-2 text-sm text-pretty text-ink-2">
        <ShieldCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3" />
        <span dir="auto" className="min-w-0 wrap-anywhere">
          {permissionSentence({
            mode: value.mode,
            repositories,
            machine: (target ?? onlyMachine)?.machineName,
            start: startPreview,
            holds: settings?.holdPullRequests ?? false,
            limitUsd: limitOf(value.limit),
          })}
        </span>
      </p>
      <div className="flex items-center gap-3">
        <Button type="submit" variant="primary" busy={start.isPending}>
          {value.mode === "plan" ? "Create plan" : "Implement"}
        </Button>
        <span className="text-sm text-ink-3 max-sm:hidden">Ctrl + Enter</span>
      </div>
    </form>
  );
}

/** Returns the repository to propose: the last one used, or the only one. */
function proposedRepository(
  choices: RepositoryChoice[] = [],
  last: string | null,
): string | undefined {
  const used = choices.find(({ fullName }) => fullName === last);
  return (used ?? (choices.length === 1 ? choices[0] : undefined))?.fullName;
}
