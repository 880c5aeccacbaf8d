import type { UserEvent } from "#events/user.ts";
import { defineProjection, encode } from "../projection.ts";

export const users = defineProjection<UserEvent>({
  name: "users",
  version: 1,
  durable: true,
  tables: new URL("table.sql", import.meta.url),
  on: {
    UserRegistered: ({ organization_id, data, personal, recorded_at }) =>
      personal
        ? [
            {
              table: "users",
              kind: "put",
              key: { id: data.user_id },
              row: {
                organization_id,
                role: data.role,
                email: encode(personal.email),
                name: encode(personal.name),
                password_hash: personal.password_hash,
                created_at: recorded_at,
              },
            },
          ]
        : [],
  },
});
