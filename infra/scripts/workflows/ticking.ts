import { TickLost, type MemoEntry, type TickCall, type TickOutcome } from "#services/workflows/tick.ts";
import { createPlaces } from "../places.ts";
import type { TickOrder } from "./messages.ts";
import { startRunner, type Runner } from "./runnerProcess.ts";

const RESIDENT = 2_000_000_000;

interface Lane {
  thread: number;
  isBusy: boolean;
  /** What the thread has been told of each run. */
  sent: Map<string, { memo: MemoEntry[]; entries: number }>;
}

/** Re-executes `run()` in the threads of a process, each run on the same thread where it can be: that one knows what came before. */
export function openTicking({ lanes: count }: { lanes: number }) {
  const places = createPlaces({ places: count, each: Math.ceil(count / 2) });
  const closing = new AbortController();
  let runner: Runner | undefined;
  let lanes: Lane[] = [];
  let ids = 0;

  function start(): Runner {
    const started = startRunner("ticks", 0, RESIDENT);
    lanes = Array.from({ length: count }, (_, thread) => ({ thread, isBusy: false, sent: new Map() }));
    void started.gone.then(() => {
      if (runner === started) runner = undefined;
    });
    return started;
  }
  const laneFor = (run_id: string): Lane => {
    const free = lanes.filter(({ isBusy }) => !isBusy);
    return free.find(({ sent }) => sent.has(run_id)) ?? free[0]!;
  };
  const whole = ({ run_id, sha256, now, memo, args, created_at }: TickCall): TickOrder => ({
    run_id,
    sha256,
    now,
    from: 0,
    memo,
    args,
    created_at,
  });
  function orderFor(lane: Lane, call: TickCall): TickOrder {
    const { run_id, sha256, now, memo } = call;
    const before = lane.sent.get(run_id);
    lane.sent.set(run_id, { memo, entries: memo.length });
    if (before?.memo !== memo || before.entries === 0) return whole(call);
    return { run_id, sha256, now, from: before.entries, memo: memo.slice(before.entries) };
  }

  function tickOn(one: Runner, lane: Lane, call: TickCall): Promise<TickOutcome> {
    const id = ids++;
    return new Promise((resolve, reject) => {
      const lost = (message: string): void => {
        lane.sent.clear();
        reject(new TickLost(message));
      };
      one.begin(
        lane.thread,
        { kind: "tick", id, text: JSON.stringify(orderFor(lane, call)) },
        {
          lost,
          heard(report) {
            if (report.kind === "done") resolve(JSON.parse(report.text) as TickOutcome);
            else if (report.kind === "need") {
              const text = report.what === "script" ? call.js : JSON.stringify(whole(call));
              one.tell(lane.thread, { kind: "give", id, text });
            } else if (report.kind === "broken") {
              one.endThread(lane.thread, report.message);
              lost(report.message);
            }
          },
        },
      );
    });
  }

  return {
    async tick(call: TickCall): Promise<TickOutcome> {
      await places.enter(call.organization_id, closing.signal);
      try {
        runner ??= start();
        const lane = laneFor(call.run_id);
        lane.isBusy = true;
        try {
          return await tickOn(runner, lane, call);
        } finally {
          lane.isBusy = false;
        }
      } finally {
        places.leave(call.organization_id);
      }
    },
    forget(run_id: string): void {
      for (const { sent } of lanes) sent.delete(run_id);
    },
    async close(): Promise<void> {
      closing.abort(new Error("The workflow runner was closed"));
      runner?.end();
      await runner?.gone;
    },
  };
}
