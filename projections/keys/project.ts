import type { KeyEvent } from "#events/key.ts";
import { defineProjection, encode, type Row } from "../projection.ts";

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

export const keys = defineProjection<KeyEvent>({
  name: "keys",
  version: 2,
  durable: true,
  tables: new URL("table.sql", import.meta.url),
  on: {
    KeyCreated: ({ organization_id, data, personal, recorded_at }) =>
      personal
        ? [
            {
              table: "keys",
              kind: "put",
              key: { id: data.key_id },
              row: {
                organization_id,
                key_hash: data.key_hash,
                key_hint: data.key_hint,
                project_id: data.project_id,
                client_tools: false,
                ...settings(data, personal.name),
                created_at: recorded_at,
                updated_at: recorded_at,
              },
            },
          ]
        : [],
    KeyChanged: ({ data, personal, recorded_at }) => [
      {
        table: "keys",
        kind: "patch",
        key: { id: data.key_id },
        row: { ...settings(data, personal?.name), updated_at: recorded_at },
      },
    ],
    KeyRotated: ({ data: { key_id, ...secret }, recorded_at }) => [
      { table: "keys", kind: "patch", key: { id: key_id }, row: { ...secret, updated_at: recorded_at } },
    ],
    KeyDeleted: ({ data }) => [{ table: "keys", kind: "remove", key: { id: data.key_id } }],
  },
});
