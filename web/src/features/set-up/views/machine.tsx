/** All checks of this machine with their diagnostics. */
import { useQuery } from "@tanstack/react-query";

import { useScope } from "@/api/scope";
import { usePageTitle } from "@/ui/page-title";
import { Panel } from "@/ui/panel";
import { Section } from "@/ui/section";

import { machineCheckQuery } from "../queries";
import { CheckList } from "./check-list";
import { CheckAgain, CheckFailed, Checking, CheckSummary } from "./set-up";

export function MachinePage() {
  usePageTitle("This machine");
  const query = useQuery(machineCheckQuery(useScope()));
  const { data, error } = query;
  return (
    <Section
      title={data?.desktop ?? "This machine"}
      about="What loops need on the machine that runs them."
      action={data && !error && <CheckAgain query={query} />}
    >
      {error ? (
        <CheckFailed error={error} query={query} />
      ) : data ? (
        <>
          <CheckSummary check={data} checking={query.isFetching} />
          <Panel>
            <CheckList rows={data.rows} checking={query.isFetching} />
          </Panel>
        </>
      ) : (
        <Checking />
      )}
    </Section>
  );
}
