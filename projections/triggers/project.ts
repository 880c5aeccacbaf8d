import type { TriggerEvent } from "#events/trigger.ts";
import { defineProjection, encode } from "../projection.ts";

export const triggers = defineProjection<TriggerEvent>({
  name: "triggers",
  version: 1,
  durable: true,
  tables: new URL("table.sql", import.meta.url),
  on: {
    TriggerCreated: ({ organization_id, data, personal, recorded_at }) =>
      personal
        ? [
            {
              table: "triggers",
              kind: "put",
              key: { id: data.trigger_id },
              row: {
                organization_id,
                workflow_id: data.workflow_id,
                hook_token: data.hook_token,
                secret_hash: data.secret_hash,
                secret_hint: data.secret_hint,
                run_as: encode(data.run_as),
                enabled: true,
                name: encode(personal.name),
                // JSON already, which is free of what PostgreSQL refuses
                default_args: personal.default_args,
                created_at: recorded_at,
                rotated_at: null,
              },
            },
          ]
        : [],
    TriggerRotated: ({ data: { trigger_id, ...secret }, recorded_at }) => [
      { table: "triggers", kind: "patch", key: { id: trigger_id }, row: { ...secret, rotated_at: recorded_at } },
    ],
    TriggerDisabled: ({ data }) => [
      { table: "triggers", kind: "patch", key: { id: data.trigger_id }, row: { enabled: false } },
    ],
    TriggerDeleted: ({ data }) => [{ table: "triggers", kind: "remove", key: { id: data.trigger_id } }],
  },
});
