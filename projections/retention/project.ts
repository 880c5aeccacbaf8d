import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import type { RetentionEvent } from "#events/retention.ts";
import { defineProjection, encode, patchRow, putRow, type Change, type Row } from "../projection.ts";

const NONE = { threads: 0, files: 0, documents: 0, runs: 0, turns: 0 };
const patch = ({ stream }: RecordedEvent, row: Row): Change[] => [
  patchRow("retention", parseStreamName(stream).id, row),
];

export const retention = defineProjection<RetentionEvent>({
  name: "retention",
  version: 3,
  tables: new URL("table.sql", import.meta.url),
  on: {
    RetentionSet: (event) => {
      const { stream, version, organization_id, recorded_at, data } = event;
      const row = { rules: encode(data.rules), next_round_at: new Date(data.due_at), updated_at: recorded_at };
      if (version > 1) return patch(event, row);
      const first = { organization_id, subject: data.subject, ...NONE, created_at: recorded_at };
      return [putRow("retention", parseStreamName(stream).id, { ...first, ...row })];
    },
    RetentionRemoved: (event) => patch(event, { rules: null, next_round_at: null, updated_at: event.recorded_at }),
    RetentionAdvanced: (event) => patch(event, event.data.deleted),
    RetentionRoundEnded: (event) =>
      patch(event, { last_round_at: event.recorded_at, next_round_at: new Date(event.data.due_at) }),
  },
});
