/** List of the agents that loops can use. */
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";

import { meQuery } from "@/api/queries";
import { useScope } from "@/api/scope";
import { Button } from "@/ui/button";
import { INPUT_CLASS } from "@/ui/field";
import { useListShortcuts } from "@/ui/list-shortcuts";
import { usePageTitle } from "@/ui/page-title";
import { RequestError, Row, Rows, Section } from "@/ui/section";

import { agentProposalsQuery, agentsQuery, useDecideProposal } from "../queries";

const route = getRouteApi("/$orgSlug/settings/agents");

/** Agents of members' loops, which an administrator reads and accepts or rejects. */
function Proposals() {
  const scope = useScope();
  const { data: me } = useSuspenseQuery(meQuery(scope));
  // Not awaited: the list of agents is usable without the proposals.
  const proposals = useQuery(agentProposalsQuery(scope)).data?.proposals ?? [];
  const decide = useDecideProposal();
  if (proposals.length === 0) return null;
  return (
    <Section
      title="Proposed agents"
      about="Loops of members created these agents. They take effect when an administrator accepts them; an agent replaces the one with the same role."
    >
      {decide.error && <RequestError error={decide.error} />}
      <Rows items={proposals} empty="No proposed agents.">
        {({ id, sourceRepo, proposedBy, agents, criticGates }) => (
          <Row
            key={id}
            actions={
              me.role === "org:admin" && (
                <>
                  <Button
                    size="sm"
                    aria-label={`Accept the agents for ${sourceRepo}`}
                    busy={decide.isPending && decide.variables.id === id}
                    onClick={() => decide.mutate({ id, accept: true })}
                  >
                    Accept
                  </Button>
                  <Button
                    size="sm"
                    variant="danger"
                    aria-label={`Reject the agents for ${sourceRepo}`}
                    busy={decide.isPending && decide.variables.id === id}
                    onClick={() => decide.mutate({ id, accept: false })}
                  >
                    Reject
                  </Button>
                </>
              )
            }
          >
            <p className="font-medium">
              {sourceRepo}, proposed by {proposedBy}
            </p>
            {agents.map((agent) => (
              <details key={agent.role}>
                <summary className="text-sm">
                  {agent.name} ({agent.role})
                </summary>
                <pre className="font-mono text-sm whitespace-pre-wrap">{agent.prompt}</pre>
              </details>
            ))}
            {criticGates && (
              <pre className="font-mono text-sm whitespace-pre-wrap">
                {JSON.stringify(criticGates, null, 2)}
              </pre>
            )}
          </Row>
        )}
      </Rows>
    </Section>
  );
}

export function AgentsPage() {
  return (
    <div className="space-y-8">
      <Proposals />
      <AgentList />
    </div>
  );
}

function AgentList() {
  const scope = useScope();
  usePageTitle("Agents");
  useListShortcuts("agents");
  const { orgSlug } = route.useParams();
  const navigate = route.useNavigate();
  const [search, setSearch] = useState(route.useSearch().search ?? "");
  // Deferred, so that the list stays on the page until the next one is loaded.
  const searchText = useDeferredValue(search.trim());
  const changeSearch = (text: string) => {
    setSearch(text);
    const trimmed = text.trim();
    void navigate({ search: trimmed ? { search: trimmed } : {}, replace: true });
  };
  const {
    data: { agents },
  } = useSuspenseQuery(agentsQuery(scope, searchText));
  return (
    <Section
      title="Agents"
      about="Experts that loops can consult. A loop receives the enabled agents of its repositories and those for all repositories."
      action={
        <input
          type="search"
          dir="auto"
          aria-label="Search agents"
          placeholder="Search"
          value={search}
          onChange={(event) => changeSearch(event.target.value)}
          className={`${INPUT_CLASS} !w-56`}
        />
      }
    >
      <Rows
        items={agents}
        empty={
          searchText ? "No matching agents." : "No agents. A bootstrap loop creates the first ones."
        }
      >
        {(agent) => (
          <Row
            key={agent.id}
            actions={
              <span className="text-sm text-ink-3">
                Version {agent.currentVersion}
                {!agent.enabled && ", disabled"}
              </span>
            }
          >
            <Link
              to="/$orgSlug/settings/agents/$slug"
              params={{ orgSlug, slug: agent.slug }}
              data-list-item
              className="font-medium text-accent hover:underline"
            >
              <bdi>{agent.name}</bdi>
            </Link>
            <p dir="auto" className="truncate text-sm text-ink-3">
              {[agent.role, agent.sourceRepo, agent.description].filter(Boolean).join(" · ")}
            </p>
          </Row>
        )}
      </Rows>
    </Section>
  );
}
