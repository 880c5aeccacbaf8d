import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listAliases, removeAlias, type Alias } from "../../api/spending.ts";
import type { Action } from "../../parts/action.ts";
import { formatCount } from "../../format/index.ts";
import { formatSpan } from "../../format/spans.ts";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { removalColumn } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { useChange } from "../../parts/useChange.ts";
import { AliasForm } from "./AliasForm.tsx";

const columns = (removal: Action<string>): Columns<Alias> => [
  {
    title: "Alias",
    cell: ({ alias }) => (
      <Link className="mono" to="/spending" search={{ section: "aliases", edit: alias }} data-row>
        {alias}
      </Link>
    ),
  },
  {
    title: "Models, in order",
    cell: ({ targets }) => (
      <ol className="plain">
        {targets.map(({ model, weight, region }) => (
          <li key={model}>
            <Link to="/requests" search={{ model }}>
              {model}
            </Link>{" "}
            {weight !== undefined && <span className="quiet">weight {weight}</span>}{" "}
            {region && <span className="quiet">{region}</span>}
          </li>
        ))}
      </ol>
    ),
  },
  { title: "The next one after", cell: ({ on }) => on.join(", ") },
  {
    title: "Waits",
    number: true,
    cell: ({ timeout_seconds, max_attempts, max_seconds }) => (
      <>
        {formatSpan(timeout_seconds)}
        <span className="quiet block">
          {" "}
          {formatCount(max_attempts, "failure")}, {formatSpan(max_seconds)} in all
        </span>
      </>
    ),
  },
  { title: "Changed", cell: ({ updated_at }) => <Time at={updated_at} /> },
  removalColumn<Alias>(removal, ({ alias }) => ({
    id: alias,
    question: `Remove the alias “${alias}”? Agents, keys and workflows that name it fail.`,
  })),
];

/** Names that stand for several models: if one does not answer, the next one is tried. */
export function Aliases({ edit }: { edit: string | undefined }) {
  const aliases = useQuery(listAliases);
  const removal = useChange("alias", removeAlias);
  return (
    <QueryResult query={aliases} what="aliases">
      {({ data }) => (
        <>
          {removal.isError && <ErrorNotice error={removal.error} />}
          {data.length === 0 ? (
            <EmptyState title="There are no aliases">
              <ol>
                <li>Name one below, such as “fast”, with two models or more.</li>
                <li>Use the name wherever a model is named: by a request, an agent or a workflow.</li>
                <li>When the first model is busy or broken, the next one answers.</li>
              </ol>
            </EmptyState>
          ) : (
            <Table caption="Aliases" columns={columns(removal)} rows={data} rowKey={({ alias }) => alias} />
          )}
          <AliasForm alias={data.find(({ alias }) => alias === edit)} />
        </>
      )}
    </QueryResult>
  );
}
