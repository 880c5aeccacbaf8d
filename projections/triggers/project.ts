import type { RecordedEvent } from "#events/envelope.ts";
import type { ScheduleEvent } from "#events/schedule.ts";
import type { TriggerEvent } from "#events/trigger.ts";
import { defineProjection, encode, type Change, type Row } from "../projection.ts";

/** Of the events of a schedule, those that change what the row of its trigger holds. */
type NamedSchedule = Extract<ScheduleEvent, { type: "ScheduleCreated" | "ScheduleChanged" }>;

type Created = RecordedEvent<Extract<TriggerEvent | ScheduleEvent, { type: "TriggerCreated" | "ScheduleCreated" }>>;

/** A new row; the columns that a kind of trigger does not have are null. */
const create = ({ organization_id, data, recorded_at }: Created, name: string, columns: Row): Change => ({
  table: "triggers",
  kind: "put",
  key: { id: data.trigger_id },
  row: {
    organization_id,
    workflow_id: data.workflow_id,
    run_as: encode(data.run_as),
    enabled: true,
    name: encode(name),
    created_at: recorded_at,
    ...columns,
  },
});

export const triggers = defineProjection<TriggerEvent | NamedSchedule>({
  name: "triggers",
  version: 3,
  durable: true,
  tables: new URL("table.sql", import.meta.url),
  on: {
    TriggerCreated: (event) =>
      event.personal
        ? [
            create(event, event.personal.name, {
              hook_token: event.data.hook_token,
              secret_hash: event.data.secret_hash,
              secret_hint: event.data.secret_hint,
              // already JSON, which contains no NUL character
              default_args: event.personal.default_args,
              verify: event.personal.verify ? encode(event.personal.verify) : null,
              headers: encode(event.personal.headers ?? []),
            }),
          ]
        : [],
    ScheduleCreated: (event) =>
      event.personal
        ? [create(event, event.personal.name, { default_args: event.personal.args, headers: encode([]) })]
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
