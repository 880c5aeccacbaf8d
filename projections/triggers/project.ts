import type { ScheduleEvent } from "#events/schedule.ts";
import type { TriggerEvent } from "#events/trigger.ts";
import { defineProjection, encode } from "../projection.ts";

/** Of the events of a schedule, those that change what the row of its trigger holds. */
type NamedSchedule = Extract<ScheduleEvent, { type: "ScheduleCreated" | "ScheduleChanged" }>;

export const triggers = defineProjection<TriggerEvent | NamedSchedule>({
  name: "triggers",
  version: 3,
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
                // already JSON, which contains no NUL character
                default_args: personal.default_args,
                created_at: recorded_at,
                rotated_at: null,
                verify: personal.verify ? encode(personal.verify) : null,
                sealed_secret: null,
                headers: encode(personal.headers ?? []),
              },
            },
          ]
        : [],
    ScheduleCreated: ({ organization_id, data, personal, recorded_at }) =>
      personal
        ? [
            {
              table: "triggers",
              kind: "put",
              key: { id: data.trigger_id },
              row: {
                organization_id,
                workflow_id: data.workflow_id,
                hook_token: null,
                secret_hash: null,
                secret_hint: null,
                run_as: encode(data.run_as),
                enabled: true,
                name: encode(personal.name),
                default_args: personal.args,
                created_at: recorded_at,
                rotated_at: null,
                verify: null,
                sealed_secret: null,
                headers: encode([]),
              },
            },
          ]
        : [],
    ScheduleChanged: ({ data, personal }) => {
      const { name, args } = personal ?? {};
      const row = {
        ...(name !== undefined && { name: encode(name) }),
        ...(args !== undefined && { default_args: args }),
      };
      return Object.keys(row).length > 0
        ? [{ table: "triggers", kind: "patch", key: { id: data.trigger_id }, row }]
        : [];
    },
    SigningSecretSet: ({ data: { trigger_id }, personal }) => [
      {
        table: "triggers",
        kind: "patch",
        key: { id: trigger_id },
        row: { sealed_secret: personal?.sealed_secret ?? null },
      },
    ],
    TriggerRotated: ({ data: { trigger_id, ...secret }, recorded_at }) => [
      { table: "triggers", kind: "patch", key: { id: trigger_id }, row: { ...secret, rotated_at: recorded_at } },
    ],
    TriggerDisabled: ({ data }) => [
      { table: "triggers", kind: "patch", key: { id: data.trigger_id }, row: { enabled: false, sealed_secret: null } },
    ],
    TriggerDeleted: ({ data }) => [{ table: "triggers", kind: "remove", key: { id: data.trigger_id } }],
  },
});
