/** List of the agents that loops can use. */
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
  // Deferred, so that typing stays responsive while the list renders.
  const searchText = useDeferredValue(search.trim());
  const agents = useQuery({ ...agentsQuery(searchText), select: ({ agents }) => agents });
  return (
    <Section
      title="Agents"
      about="Experts that loops can consult. A loop receives the enabled agents of its repositories and those for all repositories."
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
