/** Repositories that loops may access. */
import { useSuspenseQuery } from "@tanstack/react-query";
import { Suspense, useState } from "react";

import { messageOf } from "@/api/errors";
import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { repositoryProblem } from "@/model/validation";
import { DraftNotice } from "@/drafts/draft-notice";
import { useDraft } from "@/drafts/use-draft";
import { Button } from "@/ui/button";
import { Field, INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";
import { RequestError, Row, Rows, Section } from "@/ui/section";

import { repositoriesQuery, useAllowRepository, useForbidRepository } from "../queries";

const SOURCES = {
  installation: "From the app installation at the code host",
  list: "Allowed by an administrator",
  machine: "On the control plane's machine",
};

export function RepositoriesPage() {
  const scope = useScope();
  usePageTitle("Repositories");
  const { data: me } = useSuspenseQuery(meQuery(scope));
  const {
    data: { repositories },
  } = useSuspenseQuery(repositoriesQuery(scope));
  const forbid = useForbidRepository();
  const isAdmin = me.role === "org:admin";
  return (
    <Section
      title="Repositories"
      about="Loops can access only these repositories. An installation of the code host's app has precedence over the list."
    >
      {isAdmin && (
        <Suspense>
          <AllowForm />
        </Suspense>
      )}
      {forbid.error && <RequestError error={forbid.error} />}
      <Rows items={repositories} empty="No repositories allowed.">
        {({ fullName, branches, source }) => (
          <Row
            key={fullName}
            actions={
              isAdmin &&
              source === "list" && (
                <Button
                  size="sm"
                  variant="danger"
                  aria-label={`Remove ${fullName}`}
                  busy={forbid.isPending && forbid.variables === fullName}
                  onClick={() => forbid.mutate(fullName)}
                >
                  Remove
                </Button>
              )
            }
          >
            <p dir="auto" className="truncate font-mono text-sm">
              {fullName}
            </p>
            <p className="text-sm text-ink-3">
              {SOURCES[source]}
              {branches && `, branches ${branches.join(", ")}`}
            </p>
          </Row>
        )}
      </Rows>
    </Section>
  );
}

const NO_REPOSITORY = { fullName: "", branches: "" };

function AllowForm() {
  const draft = useDraft("settings/repositories", "repository", NO_REPOSITORY);
  const { fullName, branches } = draft.value;
  const [checked, setChecked] = useState(false);
  const allow = useAllowRepository();
  const problem = repositoryProblem(fullName.trim());
  const shownProblem = checked ? problem : undefined;
  const branchList = branches
    .split(",")
    .map((branch) => branch.trim())
    .filter(Boolean);
  return (
    <form
      noValidate
      className="flex flex-wrap items-start gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (problem) return;
        allow.mutate(
          { fullName: fullName.trim(), ...(branchList.length > 0 && { branches: branchList }) },
          {
            onSuccess: () => {
              draft.discard();
              setChecked(false);
            },
          },
        );
      }}
    >
      <div className="min-w-56 flex-1">
        <Field
          label="Repository"
          error={shownProblem ?? (allow.error ? messageOf(allow.error) : undefined)}
        >
          {(control) => (
            <input
              {...control}
              placeholder="owner/repository"
              autoComplete="off"
              value={fullName}
              onChange={(event) =>
                draft.change((value) => ({ ...value, fullName: event.target.value }))
              }
              className={INPUT_CLASS}
            />
          )}
        </Field>
      </div>
      <div className="min-w-56 flex-1">
        <Field label="Branches" hint="Separated by commas; blank: all branches">
          {(control) => (
            <input
              {...control}
              autoComplete="off"
              value={branches}
              onChange={(event) =>
                draft.change((value) => ({ ...value, branches: event.target.value }))
              }
              className={INPUT_CLASS}
            />
          )}
        </Field>
      </div>
      <Button type="submit" variant="primary" busy={allow.isPending} className="mt-7.5">
        Allow
      </Button>
      <DraftNotice draft={draft} />
    </form>
  );
}
