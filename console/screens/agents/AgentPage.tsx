import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { changeAgent, deleteAgent, getAgent, type Agent, type AgentSettings } from "../../api/build.ts";
import { useRole } from "../../api/useRole.ts";
import { formatCount } from "../../format/index.ts";
import { Form } from "../../parts/Form.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { Time } from "../../parts/Time.tsx";
import { useChangeForm } from "../../parts/useChangeForm.ts";
import { useLeaveAfter } from "../../parts/useLocationKey.ts";
import { AgentFields, readAgent } from "./AgentFields.tsx";
import { AgentVersions } from "./AgentVersions.tsx";
import { TryAgent } from "./TryAgent.tsx";

const route = getRouteApi("/agents/$agentId");

function Actions({ agent: { id, name } }: { agent: Agent }) {
  const leaveAfter = useLeaveAfter();
  const actions = [
    {
      label: "Delete",
      question: `Delete the agent “${name}”? It answers nobody any more. Its conversations stay.`,
      isDangerous: true,
      run: () => leaveAfter(() => deleteAgent(id), { to: "/agents", ignoreBlocker: true }),
    },
  ];
  return <ThingActions actions={actions} kind="agent" />;
}

function Settings({ agent }: { agent: Agent }) {
  const { before, save } = useChangeForm<AgentSettings, Agent>(agent, {
    read: readAgent,
    change: (changes) => changeAgent(agent.id, changes),
    queryKeys: [["agent"]],
  });
  return (
    <Form submit="Save" done={`Saved as version ${before.version}.`} send={save}>
      <AgentFields settings={before} />
    </Form>
  );
}

/** The read-only view for people who may not change the agent. */
const Facts = ({ agent }: { agent: Agent }) => (
  <dl className="facts">
    <dt>Model</dt>
    <dd>{agent.model ?? "none yet"}</dd>
    <dt>Instructions</dt>
    <dd className="body-text">{agent.instructions}</dd>
    <dt>Tools</dt>
    <dd>{agent.tools.join(", ") || "none"}</dd>
  </dl>
);

function Details({ agent }: { agent: Agent }) {
  const { view = "settings" } = route.useSearch();
  const { isBuilder, isAdmin, mayWrite } = useRole();
  return (
    <>
      <header className="title-line">
        <h1>{agent.name}</h1>
        <span className="quiet">
          version {agent.version}, <Time at={agent.updated_at} />
        </span>
      </header>
      <p className="quiet">
        <span className="mono">{agent.id}</span> ·{" "}
        <Link to="/requests" search={{ agent: agent.id }}>
          its requests
        </Link>
        {isAdmin && (
          <>
            {" · "}
            <Link to="/spending" search={{ edit: `agent:${agent.id}` }}>
              its budget
            </Link>
          </>
        )}
      </p>
      <Tabs
        label="View"
        names={["settings", "versions"] as const}
        current={view}
        title={(name) => (name === "settings" ? "Settings" : formatCount(agent.version, "version"))}
        tab={(name, rest) => (
          <Tab
            {...rest}
            to="/agents/$agentId"
            params={{ agentId: agent.id }}
            search={name === "settings" ? {} : { view: name }}
          />
        )}
      />
      {view === "versions" ? (
        <AgentVersions agent={agent} />
      ) : (
        <div className="beside">
          <div>{isBuilder ? <Settings agent={agent} /> : <Facts agent={agent} />}</div>
          <div>
            {mayWrite && <TryAgent agent={agent} />}
            {isBuilder && <Actions agent={agent} />}
          </div>
        </div>
      )}
    </>
  );
}

/** One agent: its settings, its versions, and a form to try it. */
export function AgentPage() {
  const { agentId } = route.useParams();
  const agent = useQuery(getAgent(agentId));
  return (
    <ThingScreen back={<Link to="/agents">← Agents</Link>} query={agent} kind="Agent">
      {(data) => <Details key={data.id} agent={data} />}
    </ThingScreen>
  );
}
