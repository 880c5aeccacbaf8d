import { StartRun, type RunEvent } from "../../../events/run.ts";
import type { TickResult } from "../../../events/runParts.ts";
import type { RecordedEvent } from "../../../events/envelope.ts";
import { approvalId, newId, streamName } from "../../../events/ids.ts";
import { CreateSchedule } from "../../../events/schedule.ts";
import { sendTo, type Send } from "../../../services/send.ts";
import { NO_TICK } from "../../../test/noTick.ts";
import { openDirectHandler } from "../tools/directHandler.ts";

const IN_FLIGHT = 64;
const SCHEDULE = { run_as: null, jitter_seconds: 0, overlap: "skip", missed: "one", name: "", args: '{"steps":1}' };
const START_DELAYS = `
  select extract(epoch from created.recorded_at - $1::timestamptz)::double precision * 1000 as ms
  from log.events created join log.events started on started.type = 'ScheduledRunStarted'
    and started.recorded_at >= $1 and created.stream = 'run-' || (started.data::json->>'run_id')
  where created.type = 'RunCreated' and created.recorded_at >= $1`;

export interface BulkRuns {
  /** Creates this many runs in the state of another one and returns their ids. */
  copyRun(run_id: string, count: number): Promise<string[]>;
  /** Creates schedules of a workflow. Each starts one run at this time. */
  schedule(workflow_id: string, count: number, at: Date): Promise<void>;
  /** Milliseconds from a time to the records of the runs that schedules have started since. */
  startDelays(since: Date): Promise<number[]>;
  /** Bytes of a database on the server. */
  databaseBytes(name: string): Promise<number>;
  close(): Promise<void>;
}

/**
 * Creates runs that wait for an approval. It handles the commands of an existing run in this process, because 100,000 runs through HTTP,
 * bus and sandbox take four minutes. No process of the service has the copies in memory; of runs that were started through the API
 * it keeps the last thousand.
 */
export const openBulk = async (dataDir: string, database_url: string): Promise<BulkRuns> => {
  const { pool, log, handle, close } = await openDirectHandler(dataDir, database_url);
  const send = sendTo(handle, "bench");
  return {
    async copyRun(run_id, count) {
      const { organization_id, events } = await readModel(log.read(streamName("run", run_id)));
      const ids = Array.from({ length: count }, newId);
      const left = ids.values();
      const lane = async (): Promise<void> => {
        for (const id of left) await createRun(send, organization_id, id, events);
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
      return ids;
    },
    async schedule(workflow_id, count, at) {
      const { organization_id } = (await log.read(streamName("workflow", workflow_id)))[0]!;
      const rule = { at: at.toISOString() };
      let left = count;
      const lane = async (): Promise<void> => {
        while (left-- > 0) {
          const trigger_id = newId();
          const target = { stream: streamName("trigger", trigger_id), organization_id };
          const created = await send(target, CreateSchedule.type, { ...SCHEDULE, trigger_id, workflow_id, rule });
          if (created.rejection) throw new Error(`a schedule could not be created: ${created.rejection.message}`);
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    },
    async startDelays(since) {
      const { rows } = await pool.query<{ ms: number }>(START_DELAYS, [since]);
      return rows.map(({ ms }) => ms);
    },
    async databaseBytes(name) {
      const { rows } = await pool.query<{ bytes: number }>("select pg_database_size($1) as bytes", [name]);
      return rows[0]!.bytes;
    },
    close,
  };
};

type EventOf<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;
interface RunModel {
  created: EventOf<"RunCreated">;
  requested: EventOf<"ApprovalRequested">;
}

const readModel = async (reading: Promise<RecordedEvent[]>): Promise<{ organization_id: string; events: RunModel }> => {
  const recorded = (await reading) as RecordedEvent<RunEvent>[];
  const find = <T extends RunEvent["type"]>(type: T): EventOf<T> => {
    const found = recorded.find((event) => event.type === type);
    if (!found) throw new Error(`the run to copy has no ${type}`);
    return found as unknown as EventOf<T>;
  };
  const events = { created: find("RunCreated"), requested: find("ApprovalRequested") };
  return { organization_id: recorded[0]!.organization_id, events };
};

const createRun = async (send: Send, organization_id: string, run_id: string, { created, requested }: RunModel) => {
  const target = { stream: streamName("run", run_id), organization_id };
  const { key } = requested.data;
  const approval = { ...requested.data, ...requested.personal!, approval_id: approvalId(run_id, key) };
  const tick: TickResult = { ...NO_TICK, approvals: [approval] };
  // One command, as for a run that a hook starts: its first tick is recorded with its creation.
  const parts = [{ at: new Date().toISOString(), entries: [], tick }];
  const started = await send(target, StartRun.type, { ...created.data, ...created.personal, run_id, parts });
  if (started.rejection) throw new Error(`a run could not be created: ${started.rejection.message}`);
};
