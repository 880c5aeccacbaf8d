import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { listWorkflows, type RunFilter } from "../../api/queries.ts";
import { RUN_STATUSES } from "../../api/types.ts";
import { readChoice } from "../../app/search.ts";

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
      <label>
        Status
        <select
          data-filter
          value={filter.status ?? ""}
          onChange={({ target }) => change({ status: readChoice(target.value, RUN_STATUSES) })}
        >
          <option value="">any</option>
          {RUN_STATUSES.map((status) => (
            <option key={status}>{status}</option>
          ))}
        </select>
      </label>
      <label>
        Workflow
        <select
          value={filter.workflow ?? ""}
          onChange={({ target }) => change({ workflow: target.value || undefined })}
        >
          <option value="">any</option>
          {workflows.data?.data.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Text of the error
        <input
          type="search"
          value={filter.q ?? ""}
          onChange={({ target }) => change({ q: target.value || undefined })}
        />
      </label>
    </search>
  );
}
