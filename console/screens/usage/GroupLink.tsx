import { Link, useSearch } from "@tanstack/react-router";
import type { Grouping, UsageRow } from "../../api/usage.ts";
import { coverUtcDays } from "../../format/days.ts";
import { useFormerNames } from "../../parts/useFormerNames.ts";
import { labelOf } from "./rows.ts";

/** The owner of the sums, with a link to it or to its requests. */
export function GroupLink({ row, by }: { row: UsageRow; by: Grouping }) {
  const period = useSearch({ from: "/usage" });
  const member = by === "person" ? row.person : by === "user" ? row.member : null;
  const former = useFormerNames(Boolean(member) && row.name === null);
  const label = labelOf(row, by, former);
  if (by === "key" && row.key)
    return (
      <Link to="/keys/$keyId" params={{ keyId: row.key }} data-row>
        {label}
      </Link>
    );
  if (member)
    return (
      <Link to="/members/$memberId" params={{ memberId: member }} data-row>
        {label}
      </Link>
    );
  if (by === "model" && row.model)
    return (
      <Link to="/requests" search={{ model: row.model }} data-row>
        {label}
      </Link>
    );
  if (by === "agent" && row.agent)
    return (
      <Link to="/requests" search={{ agent: row.agent }} data-row>
        {label}
      </Link>
    );
  if (by === "user" && row.user)
    return (
      <Link to="/requests" search={{ user: row.user, ...coverUtcDays(period) }} data-row>
        {label}
      </Link>
    );
  if (by === "workflow" && row.workflow)
    return (
      <Link to="/runs" search={{ workflow: row.workflow }} data-row>
        {label}
      </Link>
    );
  return <span>{label}</span>;
}
