import { AdvanceRun, StartRun, type RunEvent } from "../../../events/run.ts";
import type { TickResult } from "../../../events/runParts.ts";
import type { RecordedEvent } from "../../../events/envelope.ts";
import { approvalId, newId, streamName } from "../../../events/ids.ts";
import { sendTo, type Send } from "../../../services/send.ts";
import { openDirectHandler } from "../tools/directHandler.ts";

const IN_FLIGHT = 64;

export interface BulkRuns {
  /** Creates this many runs in the state of another one and returns their ids. */
  copyRun(run_id: string, count: number): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Creates runs that wait for an approval. It handles the commands of an existing run in this process, because 100,000 runs through HTTP,
 * bus and sandbox take four minutes. No process of the service has the copies in memory; of runs that were started through the API
 * it keeps the last thousand.
 */
export const openBulk = async (dataDir: string, database_url: string): Promise<BulkRuns> => {
  const { log, handle, close } = await openDirectHandler(dataDir, database_url);
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
  const tick: TickResult = {
    schedule: [],
    start: [],
    timers: [],
    children: [],
    runWaits: [],
    messageWaits: [],
    agentTurns: [],
    approvals: [approval],
    superseded: [],
    notes: [],
    warnings: [],
    logs: [],
    end: null,
  };
  const started = await send(target, StartRun.type, { ...created.data, ...created.personal, run_id });
  if (started.rejection) throw new Error(`a run could not be created: ${started.rejection.message}`);
  // Has no effect when the service has already found the run and advanced it.
  await send(target, AdvanceRun.type, {
    run_id,
    epoch: 1,
    seen: 1,
    parts: [{ at: new Date().toISOString(), entries: [], tick }],
  });
};
