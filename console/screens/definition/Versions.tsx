import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { saveDefinition, type Definition, type DefinitionWithSource } from "../../api/build.ts";
import { versionsOfDefinition, type DefinitionVersion } from "../../api/versions.ts";
import { SelectFilter } from "../../parts/Filter.tsx";
import { QueryResult } from "../../parts/Notices.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { useLeaveAfter } from "../../parts/useLocationKey.ts";
import { VersionChange, VersionFilter } from "../../parts/VersionChange.tsx";
import { versionChoices } from "../../parts/versionWords.ts";
import { OutdatedWorkflows } from "./DefinitionWorkflows.tsx";

const route = getRouteApi("/definitions/$definitionId");

interface Props {
  definition: Definition;
  onSaved(now: DefinitionWithSource): void;
}

/** Restores a version. Workflows keep the version that they use. */
function GoBack({ definition, to: { version, source }, onSaved }: Props & { to: DefinitionVersion }) {
  const leaveAfter = useLeaveAfter();
  if (version === definition.version) return null;
  const restore = {
    label: `Go back to version ${version}`,
    question: `Go back to version ${version}? Its source becomes version ${definition.version + 1}; the others stay in this list.${definition.type === "workflow" ? " Workflows keep their version until you move them." : ""}`,
    run: () =>
      leaveAfter(async () => onSaved(await saveDefinition(definition.id, { source })), {
        to: ".",
        replace: true,
        search: { view: "versions" },
      }),
  };
  return <ThingActions actions={[restore]} kind="definition" />;
}

/** The changes of a version, compared with the previous or another one. */
export function Versions({ definition, onSaved }: Props) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const versions = versionsOfDefinition(definition.id);
  const newest = useQuery(versions.newest);
  const change = (part: { version?: number | undefined; against?: number | undefined }) =>
    void navigate({ to: ".", replace: true, search: { ...search, ...part } });
  return (
    <QueryResult query={newest} what="versions">
      {(all) => {
        const version = search.version ?? all.total;
        const against = search.against ?? version - 1;
        return (
          <>
            <search className="filters">
              <VersionFilter
                versions={all}
                shown={version}
                onPick={(picked) => change({ version: picked, against: undefined })}
              />
              <SelectFilter
                label="Beside version"
                value={against > 0 ? String(against) : undefined}
                choices={versionChoices(all)}
                onPick={(value) => change({ against: value === undefined ? undefined : Number(value) })}
              />
            </search>
            {definition.type === "workflow" && <OutdatedWorkflows definition={definition} />}
            <VersionChange versions={versions} version={version} against={against} textOf={({ source }) => source}>
              {(shown) => <GoBack definition={definition} to={shown} onSaved={onSaved} />}
            </VersionChange>
          </>
        );
      }}
    </QueryResult>
  );
}
