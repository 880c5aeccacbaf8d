import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { listWorkflows, type RunFilter } from "../../api/queries.ts";
import { RUN_STATUSES } from "../../api/types.ts";
import { readChoice } from "../../app/search.ts";
import { namedChoices, wordChoices } from "../../parts/Choices.tsx";
import { InputFilter, SelectFilter } from "../../parts/Filter.tsx";

/** The filters of the list; they are part of the address. */
export function Filters({ filter }: { filter: RunFilter }) {
  const navigate = useNavigate();
  const workflows = useQuery(listWorkflows);
  const change = (part: RunFilter) =>
    void navigate({
      to: "/runs",
      replace: true,
      search: { status: filter.status, workflow: filter.workflow, q: filter.q, ...part },
    });
  return (
    <search className="filters">
      <SelectFilter
        label="Status"
        isFirst
        value={filter.status}
        choices={wordChoices(RUN_STATUSES)}
        onPick={(status) => change({ status: readChoice(status, RUN_STATUSES) })}
      />
      <SelectFilter
        label="Workflow"
        value={filter.workflow}
        choices={namedChoices(workflows.data?.data)}
        onPick={(workflow) => change({ workflow })}
      />
      <InputFilter label="Text of the error" type="search" value={filter.q} onChange={(q) => change({ q })} />
    </search>
  );
}
