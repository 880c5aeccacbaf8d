import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { whoAmI } from "../../api/queries.ts";
import { listAgents, listKeys, listMembers, listModels } from "../../api/requests.ts";
import { TURN_STATUSES } from "../../api/types.ts";
import { readChoice } from "../../app/search.ts";
import type { RequestSearch } from "./filter.ts";

interface Choice {
  value: string;
  label: string;
}

/** A filter whose value may be one that is not listed: a deleted agent, or an address that somebody sent. */
function Select(props: { label: string; value: string | undefined; choices: Choice[]; onPick(value?: string): void }) {
  const { label, value, choices, onPick } = props;
  const isListed = value === undefined || choices.some((choice) => choice.value === value);
  return (
    <label>
      {label}
      <select value={value ?? ""} onChange={({ target }) => onPick(target.value || undefined)}>
        <option value="">any</option>
        {!isListed && <option value={value}>{value}</option>}
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Everybody who may have asked. Only administrators may list keys. */
function Who({
  value,
  isAdmin,
  onPick,
}: {
  value: string | undefined;
  isAdmin: boolean;
  onPick(value?: string): void;
}) {
  const members = useQuery(listMembers);
  const keys = useQuery({ ...listKeys, enabled: isAdmin });
  const choices = [
    { value: "me", label: "me" },
    ...(members.data?.data ?? []).map(({ id, name, email }) => ({ value: `person:${id}`, label: name || email })),
    ...(keys.data?.data ?? []).map(({ id, name }) => ({ value: `key:${id}`, label: `key ${name}` })),
  ];
  return <Select label="Asked by" value={value} choices={choices} onPick={onPick} />;
}

interface FieldProps {
  search: RequestSearch;
  onChange(part: RequestSearch): void;
}

const Days = ({ search, onChange }: FieldProps) => (
  <>
    <label>
      From
      <input
        type="date"
        value={search.from ?? ""}
        onChange={({ target }) => onChange({ from: target.value || undefined })}
      />
    </label>
    <label>
      To
      <input
        type="date"
        value={search.to ?? ""}
        onChange={({ target }) => onChange({ to: target.value || undefined })}
      />
    </label>
  </>
);

const idAndName = ({ id, name }: { id: string; name: string }): Choice => ({ value: id, label: name });

/** The filters of the list; they are part of the address. */
export function Filters({ search }: { search: RequestSearch }) {
  const navigate = useNavigate();
  const session = useQuery(whoAmI);
  const agents = useQuery(listAgents);
  const models = useQuery(listModels);
  const role = session.data?.user.role ?? "viewer";
  const change = (part: RequestSearch) =>
    void navigate({ to: "/requests", replace: true, search: { ...search, after: undefined, ...part } });
  return (
    <search className="filters request-filters">
      <label>
        Status
        <select
          data-filter
          value={search.status ?? ""}
          onChange={({ target }) => change({ status: readChoice(target.value, TURN_STATUSES) })}
        >
          <option value="">any</option>
          {TURN_STATUSES.map((status) => (
            <option key={status}>{status}</option>
          ))}
        </select>
      </label>
      {["owner", "admin", "builder"].includes(role) && (
        <Who value={search.who} isAdmin={role !== "builder"} onPick={(who) => change({ who })} />
      )}
      <Select
        label="Model"
        value={search.model}
        choices={(models.data?.data ?? []).map(({ id }) => ({ value: id, label: id }))}
        onPick={(model) => change({ model })}
      />
      <Select
        label="Agent"
        value={search.agent}
        choices={(agents.data?.data ?? []).map(idAndName)}
        onPick={(agent) => change({ agent })}
      />
      <label>
        Text of the error
        <input
          type="search"
          value={search.q ?? ""}
          onChange={({ target }) => change({ q: target.value || undefined })}
        />
      </label>
      <Days search={search} onChange={change} />
    </search>
  );
}
