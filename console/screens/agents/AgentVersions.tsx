import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { changeAgent, type Agent, type AgentSettings } from "../../api/build.ts";
import { useRole } from "../../api/useRole.ts";
import { versionsOfAgent, type AgentVersion } from "../../api/versions.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { useLeaveAfter } from "../../parts/useLocationKey.ts";
import { VersionChange, VersionFilter } from "../../parts/VersionChange.tsx";

const route = getRouteApi("/agents/$agentId");

/** The settings as lines, so that each change is a line. The instructions are at the end. */
const linesOf = ({ instructions, ...settings }: AgentSettings): string =>
  [
    ...Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    "",
    "instructions:",
    instructions,
  ].join("\n");

/** Restores a version. */
function GoBack({ agent, to: { version, settings } }: { agent: Agent; to: AgentVersion }) {
  const leaveAfter = useLeaveAfter();
  const { isBuilder } = useRole();
  if (!isBuilder || version === agent.version) return null;
  const restore = {
    label: `Go back to version ${version}`,
    question: `Go back to version ${version}? Its settings become version ${agent.version + 1}; the others stay in this list.`,
    run: () =>
      leaveAfter(() => changeAgent(agent.id, settings), { to: ".", replace: true, search: { view: "versions" } }),
  };
  return <ThingActions actions={[restore]} kind="agent" />;
}

/** The changes of each version. */
export function AgentVersions({ agent }: { agent: Agent }) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const versions = versionsOfAgent(agent.id);
  const newest = useQuery(versions.newest);
  return (
    <QueryResult query={newest} what="versions">
      {(all) => {
        const version = search.version ?? all.total;
        return (
          <>
            <search className="filters">
              <VersionFilter
                versions={all}
                shown={version}
                onPick={(picked) => void navigate({ to: ".", replace: true, search: { ...search, version: picked } })}
              />
            </search>
            <VersionChange versions={versions} version={version} textOf={({ settings }) => linesOf(settings)} isProse>
              {(shown) => <GoBack agent={agent} to={shown} />}
            </VersionChange>
          </>
        );
      }}
    </QueryResult>
  );
}
