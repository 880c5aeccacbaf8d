import type { SessionEvent } from "#events/session.ts";
import type { UserEvent } from "#events/user.ts";
import { defineProjection, putRow, removeRow, removeRows, type Change } from "../projection.ts";

/** A session that starts concurrently belongs to an earlier epoch, so it is invalid as well. */
const endAll = (user_id: string): Change[] => [removeRows("sessions", { user_id })];

const nothing = (): Change[] => [];

export const sessions = defineProjection<SessionEvent | Exclude<UserEvent, { type: "UserRegistered" }>>({
  name: "sessions",
  version: 2,
  durable: true,
  tables: new URL("table.sql", import.meta.url),
  on: {
    SessionStarted: ({ organization_id, data, recorded_at }) => [
      putRow("sessions", data.session_id, {
        organization_id,
        user_id: data.user_id,
        token_hash: data.token_hash,
        epoch: data.epoch,
        expires_at: new Date(data.expires_at),
        started_at: recorded_at,
      }),
    ],
    SessionEnded: ({ data }) => [removeRow("sessions", data.session_id)],
    UserChanged: ({ data }) => (data.active === false ? endAll(data.user_id) : []),
    PasswordSet: ({ data }) => endAll(data.user_id),
    SubstituteNamed: nothing,
    SubstituteWithdrawn: nothing,
    UserRemoved: ({ data }) => endAll(data.user_id),
  },
});
