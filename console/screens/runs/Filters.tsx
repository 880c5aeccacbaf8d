import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listWorkflows } from "../../api/nameLists.ts";
import { RUN_STATUSES } from "../../api/types.ts";
import { readChoice } from "../../app/search.ts";
import { shortId } from "../../format/index.ts";
import { namedChoices, statusChoices } from "../../parts/Choices.tsx";
import { InputFilter, SelectFilter } from "../../parts/Filter.tsx";
import { FilterChip } from "../../parts/FilterChip.tsx";
import { Filters as Fold } from "../../parts/Filters.tsx";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import { PrincipalFilter } from "../../parts/PrincipalFilter.tsx";
import type { RunSearch } from "./filter.ts";

const RelatedRun = ({ label, id, onRemove }: { label: string; id: string; onRemove(): void }) => (
  <FilterChip filter={`“${label}”`} onRemove={onRemove}>
    {label}{" "}
    <Link to="/runs/$runId" params={{ runId: id }} className="mono">
      {shortId(id)}
    </Link>
  </FilterChip>
);

/** The filters of the list, which are part of the address. */
export function Filters({ search }: { search: RunSearch }) {
  const navigate = useFilterNavigate();
  const workflows = useQuery(listWorkflows);
  const change = (part: RunSearch) =>
    void navigate({
      to: "/runs",
      replace: true,
      search: { ...search, ...part },
    });
  return (
    <Fold values={Object.values(search)}>
      <SelectFilter
        label="Status"
        isFirst
        value={search.status}
        choices={statusChoices(RUN_STATUSES)}
        onPick={(status) => change({ status: readChoice(status, RUN_STATUSES) })}
      />
      <SelectFilter
        label="Workflow"
        value={search.workflow}
        choices={namedChoices(workflows.data, "workflows")}
        onPick={(workflow) => change({ workflow })}
      />
      <PrincipalFilter label="Started by" value={search.who} onPick={(who) => change({ who })} />
      <InputFilter label="Error or step" type="search" value={search.q} onChange={(q) => change({ q })} />
      <InputFilter label="From" type="date" value={search.from} onChange={(from) => change({ from })} />
      <InputFilter label="To" type="date" value={search.to} onChange={(to) => change({ to })} />
      {search.starter && (
        <RelatedRun label="Started by run" id={search.starter} onRemove={() => change({ starter: undefined })} />
      )}
      {search.parent && (
        <RelatedRun label="Continues run" id={search.parent} onRemove={() => change({ parent: undefined })} />
      )}
    </Fold>
  );
}
