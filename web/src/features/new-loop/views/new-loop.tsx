/** Form for a new loop: description of the change, repository, branch and desktop. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import {
  type ComponentProps,
  type ReactNode,
  type SubmitEvent,
  useDeferredValue,
  useRef,
  useState,
} from "react";

import { ApiError, messageOf } from "@/api/errors";
import { computeTargetsQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import type { ComputeTarget } from "@/api/types";
import { isKeyCollision } from "@/api/use-keyed-mutation";
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { branchProblem, promptProblem, repositoryProblem } from "@/model/validation";
import { Button } from "@/ui/button";
import { WithCode } from "@/ui/code";
import { cx } from "@/ui/cx";
import { Field, INPUT_CLASS } from "@/ui/field";
import { OnlineDot } from "@/ui/online-dot";
import { usePageTitle } from "@/ui/page-title";
import { Notice } from "@/ui/panel";
import { isSubmitKey } from "@/ui/submit-key";
import { SuggestInput } from "@/ui/suggest-input";

import { gatewayAdvice } from "../model/gateway-advice";
import {
  branchesQuery,
  repositoriesQuery,
  type RepositoryChoice,
  usePlanRequest,
} from "../queries";

const route = getRouteApi("/$orgSlug/loops/new");

// Storage key of the last repository, which is the default of the next request.
const LAST_REPOSITORY_KEY = "loopgate.lastRepository";

/** `setUp`: what the machine lacks for loops, if anything. */
export function NewLoop({ setUp }: { setUp: ReactNode }) {
  usePageTitle("New loop");
  return (
    <div className="mx-auto grid max-w-5xl grid-cols-1 gap-x-14 gap-y-10 lg:grid-cols-[minmax(0,1fr)_15rem]">
      <div>
        <h1 className="text-xl font-semibold tracking-tight">New loop</h1>
        <div className="mt-5 empty:hidden">{setUp}</div>
        <RequestForm />
      </div>
      <NextSteps />
    </div>
  );
}

/** Unsent content of the form. */
interface RequestDraft {
  prompt: string;
  /** Undefined until the user enters one: the form proposes one. */
  repository?: string;
  /** As `repository`. */
  branch?: string | undefined;
  /** Id of the selected desktop; empty for any. */
  targetId: string;
  /** Idempotency key of the request. */
  key: string;
}

const emptyDraft = (): RequestDraft => ({ prompt: "", targetId: "", key: crypto.randomUUID() });

function RequestForm() {
  const scope = useScope();
  const { orgSlug } = route.useParams();
  const navigate = route.useNavigate();
  const repositories = useQuery(repositoriesQuery(scope));
  const [initial] = useState(emptyDraft);
  const draft = useDraft("loops/new", "request", initial);
  const { prompt } = draft.value;
  const { data: targets = [] } = useQuery(computeTargetsQuery(scope));
  const online = targets.filter((target) => target.isOnline);
  // The selected desktop may be offline by now.
  const targetId = online.find(({ id }) => id === draft.value.targetId)?.id ?? "";
  const change = (changes: Partial<RequestDraft>) =>
    draft.change((value) => ({ ...value, ...changes }));
  const [lastRepository] = useState(loadLastRepository);
  const repository =
    draft.value.repository ?? proposedRepository(repositories.data, lastRepository) ?? "";
  const known = repositories.data?.find(({ fullName }) => fullName === repository);
  const branch = draft.value.branch ?? known?.defaultBranch ?? "";
  const [checked, setChecked] = useState(false);
  const plan = usePlanRequest([draft.value.key, (key) => change({ key })], draft.remove);
  const form = useRef<HTMLFormElement>(null);

  const problems = {
    prompt: promptProblem(prompt),
    repository: repositoryProblem(repository.trim()),
    branch: branchProblem(branch.trim()),
  };
  const shownProblem = (name: keyof typeof problems) => (checked ? problems[name] : undefined);

  const submit = (event?: SubmitEvent) => {
    event?.preventDefault();
    setChecked(true);
    if (Object.values(problems).some(Boolean)) {
      // After the render that marks the invalid fields.
      requestAnimationFrame(() =>
        form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus(),
      );
      return;
    }
    // A repetition must be the same request, whatever the form would propose then.
    change({ repository, branch });
    const baseBranch = branch.trim();
    const repo = { fullName: repository.trim(), ...(baseBranch !== "" && { branch: baseBranch }) };
    plan.mutate(
      { prompt: prompt.trim(), repo, ...(targetId !== "" && { computeTargetId: targetId }) },
      {
        onSuccess: (loopId) => {
          saveLastRepository(repo.fullName);
          return navigate({ to: "/$orgSlug/loops/$loopId", params: { orgSlug, loopId } });
        },
      },
    );
  };

  return (
    <form ref={form} onSubmit={submit} noValidate className="mt-5 space-y-5">
      <Field label="Describe the change" error={shownProblem("prompt")}>
        {(control) => (
          <textarea
            {...control}
            // The description is the purpose of the page, and no content precedes it.
            // eslint-disable-next-line jsx-a11y/no-autofocus
            autoFocus
            rows={8}
            value={prompt}
            onChange={(event) => change({ prompt: event.target.value })}
            onKeyDown={(event) => {
              if (isSubmitKey(event)) submit();
            }}
            placeholder="Add a --version flag that prints the version from package.json. Cover it with a test."
            className={cx(INPUT_CLASS, "h-auto resize-y py-2.5 leading-relaxed")}
          />
        )}
      </Field>
      <div className="grid grid-cols-1 gap-5 sm:grid-cols-[minmax(0,1fr)_12rem]">
        <Field
          label="Repository"
          error={shownProblem("repository")}
          hint={repositories.isPending ? "Loading repositories…" : undefined}
        >
          {(control) => (
            <SuggestInput
              {...control}
              value={repository}
              placeholder="owner/repository"
              suggestions={(repositories.data ?? []).map(({ fullName, path }) => ({
                value: fullName,
                detail: path,
              }))}
              onValue={(value, selected) =>
                change({ repository: value, ...(selected && { branch: undefined }) })
              }
            />
          )}
        </Field>
        <Field
          label="Base branch"
          error={shownProblem("branch")}
          hint="Leave blank for the repository's default branch"
        >
          {(control) => (
            <BranchInput
              {...control}
              repository={known}
              value={branch}
              onValue={(value) => change({ branch: value })}
            />
          )}
        </Field>
      </div>
      <GatewayNotice />
      <TargetChoice online={online} value={targetId} onValue={(id) => change({ targetId: id })} />
      <DraftNotice draft={draft} />
      {plan.error && <PlanError error={plan.error} orgSlug={orgSlug} />}
      <div className="flex items-center gap-3">
        <Button type="submit" variant="primary" busy={plan.isPending}>
          Create plan
        </Button>
        <span className="text-sm text-ink-3 max-sm:hidden">Ctrl + Enter</span>
      </div>
    </form>
  );
}

/** Offers the branches of a repository on this machine, and accepts any other name. */
function BranchInput({
  repository,
  value,
  ...rest
}: Omit<ComponentProps<typeof SuggestInput>, "suggestions"> & {
  repository: RepositoryChoice | undefined;
}) {
  const scope = useScope();
  const [focused, setFocused] = useState(false);
  const wanted = focused ? repository : undefined;
  const newest = useQuery(branchesQuery(scope, wanted, ""));
  // The gateway filters only when the first page does not contain all branches.
  const filter = useDeferredValue(value.trim());
  const isPaged = newest.data?.nextOffset !== undefined;
  const matching = useQuery(
    branchesQuery(scope, isPaged && filter !== "" ? wanted : undefined, filter),
  );
  const branches = matching.data?.branches ?? newest.data?.branches ?? [];
  return (
    <SuggestInput
      {...rest}
      value={value}
      placeholder="default branch"
      className="font-mono text-sm"
      onFocusCapture={() => setFocused(true)}
      suggestions={branches.map(({ name, isRemote }) => ({
        value: name,
        detail: isRemote ? "origin" : "",
      }))}
    />
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

function GatewayNotice() {
  const scope = useScope();
  const { data, error, isFetching, refetch } = useQuery(repositoriesQuery(scope));
  const retry = (
    <Button variant="quiet" size="sm" busy={isFetching} onClick={() => void refetch()}>
      {!isFetching && <RotateCw aria-hidden />}
      Refresh
    </Button>
  );
  if (error) {
    const { title, text } = gatewayAdvice(error);
    return (
      <Notice title={title} action={retry}>
        <WithCode text={text} />
      </Notice>
    );
  }
  if (data?.length === 0) {
    return (
      <Notice title="No repositories found" action={retry}>
        Enter owner/repository. Loopgate clones it when the loop starts.
      </Notice>
    );
  }
  return null;
}

/** Selects the desktop. Shown when at least two desktops are online. */
function TargetChoice({
  online,
  value,
  onValue,
}: {
  online: ComputeTarget[];
  value: string;
  onValue: (id: string) => void;
}) {
  if (online.length < 2) return null;
  const options = [{ id: "", machineName: "Any available" }, ...online];
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium">Machine</legend>
      <div className="flex flex-wrap gap-2">
        {options.map((option) => (
          <label
            key={option.id}
            className="flex h-9 cursor-pointer items-center gap-2 rounded-md border border-line-strong/70 px-3 has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-focus"
          >
            <input
              type="radio"
              name="target"
              className="sr-only"
              checked={value === option.id}
              onChange={() => onValue(option.id)}
            />
            {option.id !== "" && <OnlineDot online />}
            <bdi>{option.machineName}</bdi>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function PlanError({ error, orgSlug }: { error: unknown; orgSlug: string }) {
  const existing = error instanceof ApiError ? error.data.loopId : undefined;
  if (typeof existing === "string") {
    return (
      <Notice tone="bad" title="A loop for this request is already running">
        <Link
          to="/$orgSlug/loops/$loopId"
          params={{ orgSlug, loopId: existing }}
          className="font-medium text-accent underline"
        >
          View running loop
        </Link>
      </Notice>
    );
  }
  if (isKeyCollision(error)) {
    return (
      <Notice tone="bad" title="An earlier version of this request has already started a loop">
        <Link to="/$orgSlug/loops" params={{ orgSlug }} className="text-accent underline">
          View loops
        </Link>{" "}
        or select Create plan again to start another loop.
      </Notice>
    );
  }
  return (
    <Notice tone="bad" title="The loop could not be started">
      {messageOf(error)}
    </Notice>
  );
}

function NextSteps() {
  const steps = [
    ["Plan", "The assistant reads the repository in a separate worktree and writes a plan."],
    ["Review", "Read the plan. No code has been changed yet."],
    [
      "Execute",
      "The assistant implements the plan. Loopgate pushes a branch and opens a pull request.",
    ],
  ] as const;
  return (
    <aside aria-label="What happens next" className="lg:pt-12">
      <ol className="space-y-5">
        {steps.map(([title, text], index) => (
          <li key={title} className="relative flex gap-3.5">
            {index < steps.length - 1 && (
              <span aria-hidden className="absolute top-6 -bottom-5 left-[0.59rem] w-px bg-line" />
            )}
            <span
              aria-hidden
              className="z-1 grid size-5 shrink-0 place-items-center rounded-full border border-line-strong/60 bg-canvas text-2xs font-semibold text-ink-2"
            >
              {index + 1}
            </span>
            <div>
              <h2 className="leading-5 font-medium">{title}</h2>
              <p className="mt-0.5 text-sm text-ink-3">{text}</p>
            </div>
          </li>
        ))}
      </ol>
    </aside>
  );
}

function loadLastRepository(): string | null {
  try {
    return window.localStorage.getItem(LAST_REPOSITORY_KEY);
  } catch {
    return null;
  }
}

function saveLastRepository(fullName: string): void {
  try {
    window.localStorage.setItem(LAST_REPOSITORY_KEY, fullName);
  } catch {
    // Storage is denied: the field is empty next time.
  }
}
