/** The roster of agents that loops are given. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";

import { INPUT_CLASS } from "@/ui/field";
import { usePageTitle } from "@/ui/page-title";

import { agentsQuery } from "./agent-queries";
import { Row, Rows, Section } from "./section";

const route = getRouteApi("/$orgSlug/settings");

export function AgentsPage() {
  usePageTitle("Agents");
  const { orgSlug } = route.useParams();
  const [search, setSearch] = useState("");
  const wanted = useDeferredValue(search.trim());
  const agents = useQuery({ ...agentsQuery(wanted), select: ({ agents }) => agents });
  return (
    <Section
      title="Agents"
      about="Experts that loops ask. A loop gets those that are enabled, for its repositories and for all."
      action={
        <input
          type="search"
          aria-label="Search agents"
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          className={`${INPUT_CLASS} !w-56`}
        />
      }
    >
      <Rows
        query={agents}
        empty={
          wanted ? "No agent fits." : "There is no agent. A bootstrap loop makes the first ones."
        }
      >
        {(agent) => (
          <Row
            key={agent.id}
            actions={
              <span className="text-sm text-ink-3">
                Version {agent.currentVersion}
                {!agent.enabled && ", off"}
              </span>
            }
          >
            <Link
              to="/$orgSlug/settings/agents/$slug"
              params={{ orgSlug, slug: agent.slug }}
              className="font-medium text-accent hover:underline"
            >
              {agent.name}
            </Link>
            <p className="truncate text-sm text-ink-3">
              {[agent.role, agent.sourceRepo, agent.description].filter(Boolean).join(" · ")}
            </p>
          </Row>
        )}
      </Rows>
    </Section>
  );
}
