/** A repository and its base branch, with what the machine finds for them. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useState } from "react";

import { messageOf } from "@/api/errors";
import { useScope } from "@/api/scope";
import { branchProblem } from "@/model/validation";
import { Code, WithCode } from "@/ui/code";
import { cx } from "@/ui/cx";
import { Field } from "@/ui/field";
import { SuggestInput } from "@/ui/suggest-input";

import {
  branchCheckProblem,
  type RepositoryCheck,
  repositoryCheckProblem,
} from "../model/use-repository-checks";
import { branchesQuery, repositoriesQuery } from "../queries";

interface RepositoryFieldsProps {
  /** Labels of the fields, which distinguish several repositories. */
  labels: { repository: string; branch: string };
  machine: string | undefined;
  repository: string;
  branch: string;
  check: RepositoryCheck;
  /** Whether problems are shown that the person may still be about to solve. */
  isSubmitted: boolean;
  onChange: (changes: { repository?: string; branch?: string }) => void;
}

export function RepositoryFields({
  labels,
  machine,
  repository,
  branch,
  check,
  isSubmitted,
  onChange,
}: RepositoryFieldsProps) {
  const { data: choices = [] } = useQuery(repositoriesQuery(useScope(), machine));
  const problem = isSubmitted ? repositoryCheckProblem(check) : undefined;
  return (
    <div className="grid grid-cols-1 gap-5 sm:grid-cols-[minmax(0,1fr)_13rem]">
      <Field label={labels.repository} error={problem} hint={<RepositoryState check={check} />}>
        {(control) => (
          <SuggestInput
            {...control}
            value={repository}
            placeholder="owner/repository, URL or path"
            suggestions={choices.map(({ fullName, path }) => ({ value: fullName, detail: path }))}
            onValue={(value, selected) =>
              onChange({ repository: value, ...(selected && { branch: "" }) })
            }
          />
        )}
      </Field>
      <BranchField
        label={labels.branch}
        machine={machine}
        value={branch}
        check={check}
        onValue={(value) => onChange({ branch: value })}
      />
    </div>
  );
}

function RepositoryState({
  check: { input, isChecking, preview, relayedBy, error },
}: {
  check: RepositoryCheck;
}) {
  if (input.kind === "problem")
    return <State>owner/repository, an address, or the path of a clone</State>;
  if (isChecking) return <State>Checking…</State>;
  const on = relayedBy === undefined ? "" : ` on ${relayedBy}`;
  if (error) return <State isProblem>Not checked: {messageOf(error)}</State>;
  switch (preview?.availability) {
    case "found":
      return (
        <State>
          Found at <Code>{preview.path}</Code>
          {on}
        </State>
      );
    case "cloneable":
      return (
        <State>
          Will be cloned to <Code>{preview.path}</Code>
          {on}
        </State>
      );
    default:
      return (
        <State isProblem>
          <WithCode text={preview?.reason ?? "No loop can use this repository."} />
        </State>
      );
  }
}

/** A line that is announced when it changes. */
function State({ isProblem, children }: { isProblem?: boolean; children: ReactNode }) {
  return (
    <span role="status" dir="auto" className={cx("block wrap-anywhere", isProblem && "text-warn")}>
      {children}
    </span>
  );
}

/** Offers the branches of the clone, and accepts any other name. */
function BranchField({
  label,
  machine,
  value,
  check,
  onValue,
}: {
  label: string;
  machine: string | undefined;
  value: string;
  check: RepositoryCheck;
  onValue: (value: string) => void;
}) {
  const scope = useScope();
  const { input, preview } = check;
  const [focused, setFocused] = useState(false);
  const path =
    focused && preview?.availability === "found" ? (preview.path ?? undefined) : undefined;
  const newest = useQuery(branchesQuery(scope, machine, path, ""));
  // The gateway filters only when the first page does not contain all branches.
  const filter = useDeferredValue(value.trim());
  const isPaged = newest.data?.nextOffset !== undefined;
  const matching = useQuery(
    branchesQuery(scope, machine, isPaged && filter !== "" ? path : undefined, filter),
  );
  const branches = matching.data?.branches ?? newest.data?.branches ?? [];
  const named = input.kind === "name" ? input.branch : undefined;
  const defaultBranch = preview?.defaultBranch ?? undefined;
  return (
    <Field
      label={label}
      error={branchProblem(value.trim()) ?? branchCheckProblem(check)}
      hint={
        <State>
          {preview?.branchExists
            ? "The branch exists"
            : defaultBranch
              ? `Default branch: ${defaultBranch}`
              : "Leave blank for the default branch"}
        </State>
      }
    >
      {(control) => (
        <SuggestInput
          {...control}
          value={value}
          placeholder={named ?? defaultBranch ?? "default branch"}
          className="font-mono text-sm"
          onFocusCapture={() => setFocused(true)}
          onValue={onValue}
          suggestions={branches.map(({ name, isRemote }) => ({
            value: name,
            detail: isRemote ? "origin" : "",
          }))}
        />
      )}
    </Field>
  );
}
