import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { listAllAgents, type Agent } from "../../api/build.ts";
import { useRole } from "../../api/useRole.ts";
import { InputFilter } from "../../parts/Filter.tsx";
import { ModelName } from "../../parts/ModelName.tsx";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";

const route = getRouteApi("/agents");

const COLUMNS: Columns<Agent> = [
  {
    title: "Agent",
    cell: ({ id, name, instructions }) => (
      <>
        <Link to="/agents/$agentId" params={{ agentId: id }} data-row>
          {name}
        </Link>
        <span className="quiet clipped">{instructions}</span>
      </>
    ),
  },
  {
    title: "Model",
    cell: ({ model }) => (model === null ? <span className="quiet">none yet</span> : <ModelName name={model} />),
  },
  { title: "Tools", cell: ({ tools }) => tools.join(", ") },
  { title: "Version", number: true, cell: ({ version }) => version },
  { title: "Changed", cell: ({ updated_at }) => <Time at={updated_at} /> },
];

const matches = ({ name, model, instructions }: Agent, q: string): boolean =>
  [name, model ?? "", instructions].some((text) => text.toLowerCase().includes(q.toLowerCase()));

/** All agents, or those with a text in their name, model or instructions. */
function Listed({ agents }: { agents: Agent[] }) {
  const { q } = route.useSearch();
  const navigate = useFilterNavigate();
  const found = q === undefined ? agents : agents.filter((agent) => matches(agent, q));
  return (
    <>
      <search className="filters">
        <InputFilter
          label="Text to find"
          type="search"
          value={q}
          isFirst
          onChange={(text) => void navigate({ to: "/agents", replace: true, search: { q: text } })}
        />
      </search>
      {found.length > 0 ? (
        <Table caption="Agents" columns={COLUMNS} rows={found} rowKey={({ id }) => id} />
      ) : (
        <EmptyState title="No agent matches">
          <p>
            See <Link to="/agents">all agents</Link>.
          </p>
        </EmptyState>
      )}
    </>
  );
}

/** The organization's agents: models with instructions and tools. */
export function Agents() {
  const { isBuilder } = useRole();
  const agents = useQuery(listAllAgents);
  return (
    <section className="screen" aria-labelledby="title">
      <header className="title-line">
        <h1 id="title">Agents</h1>
        {isBuilder && (
          <Link className="button primary" to="/agents/new">
            New agent
          </Link>
        )}
      </header>
      <QueryResult query={agents} what="agents">
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="There are no agents">
              {isBuilder && (
                <ol>
                  <li>
                    <Link to="/agents/new">Make one</Link>: a name, a model, and what it should do.
                  </li>
                  <li>
                    Give it tools: the built-in ones, or <Link to="/tools">your own</Link>.
                  </li>
                  <li>Try it beside its settings, and ask it under Chat.</li>
                </ol>
              )}
            </EmptyState>
          ) : (
            <Listed agents={data} />
          )
        }
      </QueryResult>
    </section>
  );
}
