import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { changeAgent, listAgentVersions, type Agent, type AgentSettings, type AgentVersion } from "../../api/build.ts";
import { useRole } from "../../api/useRole.ts";
import { Loaded } from "../../parts/Notices.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { VersionChange, VersionFilter } from "../../parts/VersionChange.tsx";

const route = getRouteApi("/agents/$agentId");

/** The settings as lines, so that a change is a line: the instructions as they are, at the end. */
const linesOf = ({ instructions, ...settings }: AgentSettings): string =>
  [
    ...Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    "",
    "instructions:",
    instructions,
  ].join("\n");

/** Undoes what was saved since a version. */
function GoBack({ agent, to: { version, settings } }: { agent: Agent; to: AgentVersion }) {
  const navigate = useNavigate();
  const { isBuilder } = useRole();
  if (!isBuilder || version === agent.version) return null;
  const restore = {
    label: `Go back to version ${version}`,
    question: `Go back to version ${version}? Its settings become version ${agent.version + 1}; the others stay in this list.`,
    run: async () => {
      await changeAgent(agent.id, settings);
      await navigate({ to: ".", replace: true, search: { view: "versions" } });
    },
  };
  return <ThingActions actions={[restore]} kind="agent" />;
}

/** What each version changed. */
export function AgentVersions({ agent }: { agent: Agent }) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const versions = useQuery(listAgentVersions(agent.id));
  return (
    <Loaded query={versions} what="versions">
      {({ data }) => {
        const shown = data.find(({ version }) => version === search.version) ?? data[0]!;
        const before = data.find(({ version }) => version === shown.version - 1);
        return (
          <>
            <search className="filters">
              <VersionFilter
                versions={data}
                shown={shown}
                onPick={(version) => void navigate({ to: ".", replace: true, search: { ...search, version } })}
              />
            </search>
            <GoBack agent={agent} to={shown} />
            <VersionChange shown={shown} before={before} textOf={({ settings }) => linesOf(settings)} isProse />
          </>
        );
      }}
    </Loaded>
  );
}
