import { NOTHING_ERASED, type ErasureEvent } from "#events/erasure.ts";
import { defineProjection, patchRow, putRow, type Change, type Row } from "../projection.ts";

const patch = (id: string, row: Row): Change[] => [patchRow("erasures", id, row)];

export const erasures = defineProjection<ErasureEvent>({
  name: "erasures",
  version: 2,
  tables: new URL("table.sql", import.meta.url),
  on: {
    ErasureStarted: ({ organization_id, position, data, meta, recorded_at }) => [
      putRow("erasures", data.erasure_id, {
        organization_id,
        position,
        owner: data.owner,
        status: "running",
        ...NOTHING_ERASED,
        started_by: meta.principal,
        created_at: recorded_at,
      }),
    ],
    ErasureAdvanced: ({ data: { erasure_id, ...deleted } }) => patch(erasure_id, { ...NOTHING_ERASED, ...deleted }),
    ErasureCompleted: ({ data, recorded_at }) =>
      patch(data.erasure_id, { status: "completed", completed_at: recorded_at }),
  },
});
