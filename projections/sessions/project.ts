import type { SessionEvent } from "#events/session.ts";
import { defineProjection } from "../projection.ts";

export const sessions = defineProjection<SessionEvent>({
  name: "sessions",
  version: 1,
  durable: true,
  tables: new URL("table.sql", import.meta.url),
  on: {
    SessionStarted: ({ organization_id, data, recorded_at }) => [
      {
        table: "sessions",
        kind: "put",
        key: { id: data.session_id },
        row: {
          organization_id,
          user_id: data.user_id,
          token_hash: data.token_hash,
          expires_at: new Date(data.expires_at),
          started_at: recorded_at,
        },
      },
    ],
    SessionEnded: ({ data }) => [{ table: "sessions", kind: "remove", key: { id: data.session_id } }],
  },
});
