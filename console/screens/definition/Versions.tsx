import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { listDefinitionVersions, type Definition } from "../../api/build.ts";
import { SelectFilter } from "../../parts/Filter.tsx";
import { Loaded } from "../../parts/Notices.tsx";
import { VersionChange, versionChoices } from "../../parts/VersionChange.tsx";

const route = getRouteApi("/definitions/$definitionId");

/** What a version changed: beside the one before it, or another one. */
export function Versions({ definition }: { definition: Definition }) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const versions = useQuery(listDefinitionVersions(definition.id));
  const change = (part: { version?: number | undefined; against?: number | undefined }) =>
    void navigate({ to: ".", replace: true, search: { ...search, ...part } });
  return (
    <Loaded query={versions} what="versions">
      {(all) => {
        const shown = all.find(({ version }) => version === search.version) ?? all[0]!;
        const before = all.find(({ version }) => version === (search.against ?? shown.version - 1));
        const choices = versionChoices(all);
        return (
          <>
            <search className="filters">
              <SelectFilter
                label="Version"
                isRequired
                isFirst
                value={String(shown.version)}
                choices={choices}
                onPick={(value) => change({ version: Number(value), against: undefined })}
              />
              <SelectFilter
                label="Beside version"
                value={before && String(before.version)}
                choices={choices}
                onPick={(value) => change({ against: value === undefined ? undefined : Number(value) })}
              />
            </search>
            <VersionChange shown={shown} before={before} textOf={({ source }) => source} />
          </>
        );
      }}
    </Loaded>
  );
}
