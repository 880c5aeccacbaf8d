import type { HoldEvent } from "#events/hold.ts";
import { defineProjection, encode, patchRow, putRow } from "../projection.ts";

export const holds = defineProjection<HoldEvent>({
  name: "holds",
  version: 1,
  tables: new URL("table.sql", import.meta.url),
  on: {
    HoldPlaced: ({ organization_id, meta: { principal }, recorded_at, data: { hold_id, subject, name }, personal }) => {
      const row = { organization_id, placed_by: principal, created_at: recorded_at, subject };
      const reason = encode(personal?.reason ?? "");
      return [putRow("holds", hold_id, { ...row, name: encode(name), reason })];
    },
    HoldReleased: ({ meta: { principal }, recorded_at, data: { hold_id } }) => [
      patchRow("holds", hold_id, { released_by: principal, released_at: recorded_at }),
    ],
  },
});
