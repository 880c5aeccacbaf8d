import type { KeyEvent } from "#events/key.ts";
import { defineProjection, encode, thingRows, type Row } from "../projection.ts";

type KeyChange = Extract<KeyEvent, { type: "KeyChanged" }>;

/** The columns that an event sets. */
function settings(data: KeyChange["data"], name: string | undefined): Row {
  const row: Row = {};
  if (data.products !== undefined) row.products = encode(data.products);
  if (data.enabled !== undefined) row.enabled = data.enabled;
  if (data.expires_at !== undefined) row.expires_at = data.expires_at === null ? null : new Date(data.expires_at);
  if (data.allowed_models !== undefined) row.allowed_models = encode(data.allowed_models);
  if (data.client_tools !== undefined) row.client_tools = data.client_tools;
  if (name !== undefined) row.name = encode(name);
  return row;
}

const rows = thingRows("keys");

export const keys = defineProjection<KeyEvent>({
  name: "keys",
  version: 2,
  durable: true,
  tables: new URL("table.sql", import.meta.url),
  on: {
    KeyCreated: (event) => {
      const { data, personal } = event;
      if (!personal) return [];
      const { key_hash, key_hint, project_id } = data;
      const fixed = { key_hash, key_hint, project_id, client_tools: false };
      return [rows.create(event, data.key_id, { ...fixed, ...settings(data, personal.name) })];
    },
    KeyChanged: (event) => [rows.change(event, event.data.key_id, settings(event.data, event.personal?.name))],
    KeyRotated: (event) => {
      const { key_id, ...secret } = event.data;
      return [rows.change(event, key_id, secret)];
    },
    KeyDeleted: ({ data }) => [rows.remove(data.key_id)],
  },
});
