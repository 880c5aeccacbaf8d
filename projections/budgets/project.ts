import type { BudgetEvent } from "#events/budget.ts";
import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import { defineProjection, encode, type Change, type Row } from "../projection.ts";

/** The first event of the stream creates the row, later ones change it. */
function change(
  { stream, version, organization_id, recorded_at }: RecordedEvent,
  subject: string,
  more: Row,
): Change[] {
  const key = { id: parseStreamName(stream).id };
  const row = { organization_id, subject, ...more, updated_at: recorded_at };
  return version === 1
    ? [{ table: "budgets", kind: "put", key, row: { ...row, created_at: recorded_at } }]
    : [{ table: "budgets", kind: "patch", key, row }];
}

export const budgets = defineProjection<BudgetEvent>({
  name: "budgets",
  version: 2,
  tables: new URL("table.sql", import.meta.url),
  on: {
    BudgetSet: (event) => {
      const { subject, limits, hard, alert } = event.data;
      return change(event, subject, { limits: encode(limits), hard, alert: encode(alert) });
    },
    BudgetRemoved: (event) => change(event, event.data.subject, { limits: null, hard: null, alert: null }),
    BudgetReached: () => [],
  },
});
