import type { UserEvent } from "#events/user.ts";
import { defineProjection, encode, putRow, removeRow, thingRows, type Change } from "../projection.ts";

const rows = thingRows("users");

const removeSubstitute = ({ user_id }: { user_id: string }): Change => removeRow("substitutes", { user_id });

export const users = defineProjection<UserEvent>({
  name: "users",
  version: 3,
  durable: true,
  tables: new URL("table.sql", import.meta.url),
  on: {
    UserRegistered: (event) => {
      const { data, personal } = event;
      if (!personal) return [];
      const { role, user_id } = data;
      const { password_hash } = personal;
      const [email, name] = [encode(personal.email), encode(personal.name)];
      return [rows.create(event, user_id, { role, active: true, epoch: 1, email, name, password_hash })];
    },
    UserChanged: (event) => {
      const { role, active, epoch, user_id } = event.data;
      const name = event.personal?.name;
      const changed = {
        ...(role !== undefined && { role }),
        ...(active !== undefined && { active }),
        ...(name !== undefined && { name: encode(name) }),
      };
      return [rows.change(event, user_id, { ...changed, epoch })];
    },
    PasswordSet: (event) => {
      const { data, personal } = event;
      return personal
        ? [rows.change(event, data.user_id, { password_hash: personal.password_hash, epoch: data.epoch })]
        : [];
    },
    SubstituteNamed: ({ organization_id, data: { user_id, substitute_id, from, until } }) => [
      putRow(
        "substitutes",
        { user_id },
        { organization_id, substitute_id, from_time: new Date(from), until_time: new Date(until) },
      ),
    ],
    SubstituteWithdrawn: ({ data }) => [removeSubstitute(data)],
    UserRemoved: ({ data }) => [rows.remove(data.user_id), removeSubstitute(data)],
  },
});
