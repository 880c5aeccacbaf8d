import type { UserEvent } from "#events/user.ts";
import { defineProjection, encode } from "../projection.ts";

const at = ({ user_id }: { user_id: string }) => ({ table: "users", key: { id: user_id } });

export const users = defineProjection<UserEvent>({
  name: "users",
  version: 2,
  durable: true,
  tables: new URL("table.sql", import.meta.url),
  on: {
    UserRegistered: ({ organization_id, data, personal, recorded_at }) =>
      personal
        ? [
            {
              ...at(data),
              kind: "put",
              row: {
                organization_id,
                role: data.role,
                active: true,
                epoch: 1,
                email: encode(personal.email),
                name: encode(personal.name),
                password_hash: personal.password_hash,
                created_at: recorded_at,
                updated_at: recorded_at,
              },
            },
          ]
        : [],
    UserChanged: ({ data, personal, recorded_at }) => {
      const { role, active, epoch } = data;
      const name = personal?.name;
      const changed = {
        ...(role !== undefined && { role }),
        ...(active !== undefined && { active }),
        ...(name !== undefined && { name: encode(name) }),
      };
      return [{ ...at(data), kind: "patch", row: { ...changed, epoch, updated_at: recorded_at } }];
    },
    PasswordSet: ({ data, personal, recorded_at }) =>
      personal
        ? [
            {
              ...at(data),
              kind: "patch",
              row: { password_hash: personal.password_hash, epoch: data.epoch, updated_at: recorded_at },
            },
          ]
        : [],
    UserRemoved: ({ data }) => [{ ...at(data), kind: "remove" }],
  },
});
