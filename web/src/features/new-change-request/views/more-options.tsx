/** Options that few requests need: peers, agents, model, spending limit and learnings. */
import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useId } from "react";

import { useScope } from "@/api/scope";
import { Button } from "@/ui/button";
import { Field, INPUT_CLASS } from "@/ui/field";
import { SuggestInput } from "@/ui/suggest-input";

import {
  limitProblem,
  MAX_PEERS,
  modelProblem,
  newPeer,
  type RepositoryDraft,
  type RequestDraft,
} from "../model/request-draft";
import type { RepositoryCheck } from "../model/use-repository-checks";
import { enabledAgentsQuery } from "../queries";
import { RepositoryFields } from "./repository-fields";

// Aliases that the assistant resolves to its newest models.
const MODELS = ["opus", "sonnet", "haiku"];

interface MoreOptionsProps {
  draft: RequestDraft;
  onChange: (changes: Partial<RequestDraft>) => void;
  /** Model that applies without a selection, if it is known. */
  defaultModel: string | undefined;
}

export function MoreOptions({ draft, onChange, defaultModel }: MoreOptionsProps) {
  const learningsHint = useId();
  return (
    <div className="grid grid-cols-1 gap-5 sm:grid-cols-[minmax(0,1fr)_13rem]">
      <Field
        label="Model"
        error={modelProblem(draft.model)}
        hint={`Leave blank for the setting of the machine${defaultModel ? `: ${defaultModel}` : ""}`}
      >
        {(control) => (
          <SuggestInput
            {...control}
            value={draft.model}
            placeholder={defaultModel ?? "setting of the machine"}
            suggestions={MODELS.map((value) => ({ value, detail: "" }))}
            onValue={(model) => onChange({ model })}
          />
        )}
      </Field>
      <Field
        label="Spending limit in US dollars"
        error={limitProblem(draft.limit)}
        hint="For each loop of the request"
      >
        {(control) => (
          <input
            {...control}
            type="text"
            inputMode="decimal"
            value={draft.limit}
            placeholder="none"
            className={INPUT_CLASS}
            onChange={(event) => onChange({ limit: event.target.value })}
          />
        )}
      </Field>
      <div className="sm:col-span-2">
        <label className="flex min-h-7 items-center gap-2">
          <input
            type="checkbox"
            checked={draft.selfLearning ?? false}
            aria-describedby={learningsHint}
            onChange={({ target }) => onChange({ selfLearning: target.checked })}
          />
          Use learnings
        </label>
        <p id={learningsHint} className="text-sm text-ink-3">
          The loops get notes that earlier loops and chats have left about this repository
        </p>
      </div>
      <Agents draft={draft} onChange={onChange} />
    </div>
  );
}

function Agents({ draft, onChange }: Pick<MoreOptionsProps, "draft" | "onChange">) {
  const { data: agents = [] } = useQuery(enabledAgentsQuery(useScope()));
  if (agents.length === 0) return null;
  const all = agents.map(({ slug }) => slug);
  const selected = draft.agents ?? all;
  return (
    <fieldset className="sm:col-span-2">
      <legend className="mb-1.5 font-medium">Agents</legend>
      <div className="flex flex-wrap gap-x-5 gap-y-2">
        {agents.map(({ slug, name, sourceRepo }) => (
          <label key={slug} className="flex min-h-7 items-center gap-2">
            <input
              type="checkbox"
              checked={selected.includes(slug)}
              onChange={({ target }) => {
                const next = all.filter((other) =>
                  other === slug ? target.checked : selected.includes(other),
                );
                // All of them is the default, which also includes later ones.
                onChange({ agents: next.length === all.length ? undefined : next });
              }}
            />
            <span>
              <bdi>{name}</bdi>{" "}
              <span className="text-sm text-ink-3">{sourceRepo || "all repositories"}</span>
            </span>
          </label>
        ))}
      </div>
      <p className="mt-1.5 text-sm text-ink-3">
        A loop gets those of its repositories and those of all repositories.
      </p>
    </fieldset>
  );
}

/** Further repositories, with what is known about each of them. */
export function Peers({
  peers,
  checks,
  machine,
  isSubmitted,
  onChange,
}: {
  peers: RepositoryDraft[];
  checks: RepositoryCheck[];
  machine: string | undefined;
  isSubmitted: boolean;
  onChange: (peers: RepositoryDraft[]) => void;
}) {
  return (
    <fieldset className="space-y-4">
      <legend className="mb-1.5 font-medium">Further repositories</legend>
      {peers.map((peer, at) => {
        const check = checks[at];
        const number = at + 1;
        return (
          check && (
            <div key={peer.id} className="flex items-start gap-2">
              <div className="min-w-0 flex-1">
                <RepositoryFields
                  labels={{
                    repository: `Further repository ${number}`,
                    branch: `Branch ${number}`,
                  }}
                  machine={machine}
                  repository={peer.repository}
                  branch={peer.branch}
                  check={check}
                  isSubmitted={isSubmitted}
                  onChange={(changes) =>
                    onChange(
                      peers.map((other) =>
                        other.id === peer.id ? { ...other, ...changes } : other,
                      ),
                    )
                  }
                />
              </div>
              <Button
                variant="quiet"
                size="icon"
                className="mt-7"
                aria-label={`Remove further repository ${number}`}
                onClick={() => onChange(peers.filter(({ id }) => id !== peer.id))}
              >
                <X aria-hidden />
              </Button>
            </div>
          )
        );
      })}
      {peers.length < MAX_PEERS ? (
        <Button size="sm" onClick={() => onChange([...peers, newPeer()])}>
          <Plus aria-hidden />
          Add a repository
        </Button>
      ) : (
        <p className="text-sm text-ink-3">
          A request has at most {MAX_PEERS} further repositories.
        </p>
      )}
    </fieldset>
  );
}
