import { AdvanceRun, StartRun, type RunEvent } from "../../events/run.ts";
import type { TickResult } from "../../events/runParts.ts";
import type { Recorded } from "../../events/envelope.ts";
import { approvalId, newId, streamOf } from "../../events/ids.ts";
import { openKeyring } from "../../infra/keyring.ts";
import { masterKey } from "../../infra/masterKey.ts";
import { openLog } from "../../infra/postgres/log.ts";
import { asDb, openPool } from "../../infra/postgres/pool.ts";
import { createHandler } from "../../services/handle.ts";
import { sendTo, type Send } from "../../services/send.ts";

const IN_FLIGHT = 64;

export interface Bulk {
  /** So many runs that stand as another one does; their ids. */
  like(run_id: string, count: number): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Makes runs that wait for an approval, by the very commands that made one of them, handled in this process: 100,000 of them through
 * HTTP, bus and sandbox take four minutes. No process holds them then, as is so with all but the last thousand of the others.
 */
export const openBulk = async (dataDir: string, database_url: string): Promise<Bulk> => {
  const pool = openPool(database_url, { max: 12, name: "bench" });
  const log = openLog(
    pool,
    openKeyring(Buffer.from((await masterKey({ DATA_DIR: dataDir }, asDb(pool))).key, "base64")),
  );
  const handle = createHandler({
    log,
    hints: { committed() {} },
    worker: () => undefined,
    afterCommit() {},
  });
  const send = sendTo(handle, "bench");
  return {
    async like(run_id, count) {
      const { organization_id, events } = await modelOf(log.read(streamOf("run", run_id)));
      const ids = Array.from({ length: count }, newId);
      const left = ids.values();
      const lane = async (): Promise<void> => {
        for (const id of left) await make(send, organization_id, id, events);
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
      return ids;
    },
    close: () => pool.end(),
  };
};

type Of<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;
interface Model {
  created: Of<"RunCreated">;
  requested: Of<"ApprovalRequested">;
}

const modelOf = async (reading: Promise<Recorded[]>): Promise<{ organization_id: string; events: Model }> => {
  const recorded = (await reading) as Recorded<RunEvent>[];
  const find = <T extends RunEvent["type"]>(type: T): Of<T> => {
    const found = recorded.find((event) => event.type === type);
    if (!found) throw new Error(`the run that is to be copied has no ${type}`);
    return found as unknown as Of<T>;
  };
  const events = { created: find("RunCreated"), requested: find("ApprovalRequested") };
  return { organization_id: recorded[0]!.organization_id, events };
};

const make = async (send: Send, organization_id: string, run_id: string, { created, requested }: Model) => {
  const target = { stream: streamOf("run", run_id), organization_id };
  const { key } = requested.data;
  const approval = { ...requested.data, ...requested.personal!, approval_id: approvalId(run_id, key) };
  const tick: TickResult = {
    schedule: [],
    start: [],
    timers: [],
    approvals: [approval],
    superseded: [],
    notes: [],
    warnings: [],
    logs: [],
    end: null,
  };
  const started = await send(target, StartRun.type, { ...created.data, ...created.personal, run_id });
  if (started.rejection) throw new Error(`a run could not be made: ${started.rejection.message}`);
  // Changes nothing where the service has found the run meanwhile and has ticked itself.
  await send(target, AdvanceRun.type, {
    run_id,
    epoch: 1,
    seen: 1,
    parts: [{ at: new Date().toISOString(), entries: [], tick }],
  });
};
