import type { RecordedEvent } from "#events/envelope.ts";
import type { SCHEDULE_SET_BY, ScheduleEvent } from "#events/schedule.ts";
import type { TriggerEvent } from "#events/trigger.ts";
import { defineProjection, encode, patchRow, putRow, removeRow, type Change, type Row } from "../projection.ts";

/** Events of schedules that change the row of their trigger. */
type NamedSchedule = Extract<ScheduleEvent, { type: (typeof SCHEDULE_SET_BY)[number] }>;

type CreationEvent = RecordedEvent<
  Extract<TriggerEvent | ScheduleEvent, { type: "TriggerCreated" | "ScheduleCreated" }>
>;

/** A new row; the columns that a kind of trigger does not have are null. */
const create = ({ organization_id, data, recorded_at, meta }: CreationEvent, name: string, columns: Row): Change =>
  putRow("triggers", data.trigger_id, {
    organization_id,
    workflow_id: data.workflow_id,
    run_as: encode(data.run_as),
    enabled: true,
    name: encode(name),
    created_at: recorded_at,
    set_by: meta.principal,
    ...columns,
  });

const patch = ({ trigger_id }: { trigger_id: string }, row: Row): Change[] => [patchRow("triggers", trigger_id, row)];

export const triggers = defineProjection<TriggerEvent | NamedSchedule>({
  name: "triggers",
  version: 5,
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
              event: event.personal.event === undefined ? null : encode(event.personal.event),
            }),
          ]
        : [],
    ScheduleCreated: (event) =>
      event.personal
        ? [create(event, event.personal.name, { default_args: event.personal.args, headers: encode([]) })]
        : [],
    ScheduleChanged: ({ data, personal, meta }) => {
      const { name, args } = personal ?? {};
      return patch(data, {
        ...(name !== undefined && { name: encode(name) }),
        ...(args !== undefined && { default_args: args }),
        set_by: meta.principal,
      });
    },
    ScheduleResumed: ({ data, meta }) => patch(data, { set_by: meta.principal }),
    SigningSecretSet: ({ data, personal, meta }) =>
      patch(data, { sealed_secret: personal?.sealed_secret ?? null, set_by: meta.principal }),
    TriggerRotated: ({ data, recorded_at, meta }) => {
      const { trigger_id: _, ...secret } = data;
      return patch(data, { ...secret, rotated_at: recorded_at, set_by: meta.principal });
    },
    TriggerDisabled: ({ data }) => patch(data, { enabled: false, sealed_secret: null }),
    TriggerDeleted: ({ data }) => [removeRow("triggers", data.trigger_id)],
  },
});
