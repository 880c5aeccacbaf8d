import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { getUsedLabels, type UsedLabel } from "../../api/usage.ts";
import type { Page } from "../../api/types.ts";
import { formatCount } from "../../format/index.ts";
import { SelectFilter } from "../../parts/Filter.tsx";
import { EmptyState } from "../../parts/Notices.tsx";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import type { UsageSearch } from "./rows.ts";

type Names = UseQueryResult<Page<UsedLabel>>;

/** The labels of the period, and the selected one: that of the address, else the most used one. */
export function useLabel({ by, label, from, to }: UsageSearch): { names: Names; label: string | undefined } {
  const names = useQuery({ ...getUsedLabels({ from, to }), enabled: by === "label" });
  return { names, label: by === "label" ? (label ?? names.data?.data[0]?.label) : undefined };
}

interface FilterProps {
  names: Names;
  label: string | undefined;
  search: UsageSearch;
}

/** Selects the label. Empty if there is none. */
export function LabelFilter({ names, label, search }: FilterProps) {
  const navigate = useFilterNavigate();
  if (label === undefined) return null;
  const choices = names.data?.data.map((one) => ({
    value: one.label,
    label: `${one.label} (${formatCount(one.turns, "request")})`,
  }));
  return (
    <search className="filters">
      <SelectFilter
        label="Label"
        isRequired
        value={label}
        choices={choices ?? []}
        onPick={(picked) =>
          void navigate({ to: "/usage", replace: true, search: { ...search, page: undefined, label: picked } })
        }
      />
    </search>
  );
}

/** Explains how to set a label, if no request of the period has one. */
export const NoLabels = () => (
  <EmptyState title="No request in this time has a label">
    <p>A label says what a request is for. Programs send labels in a header, with all requests or with each one:</p>
    <pre>x-labels: team=search, feature=summary</pre>
    <p>
      <a href="../docs/spending#reports">The documentation</a> says what names and values may be.
    </p>
  </EmptyState>
);
