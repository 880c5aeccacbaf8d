import { TickLost, type TickCall, type TickOutcome } from "#services/workflows/tick.ts";
import { createPlaces } from "../places.ts";
import { createAheads } from "./aheads.ts";
import { createLanes, type Lane } from "./lanes.ts";
import type { Loss, Ticked, TickOrder } from "./messages.ts";
import { startRunner, type Runner } from "./runnerProcess.ts";

const IDLE_MS = 300_000;
/** A tick that takes longer lends its place, and keeps its thread: other tenants do not wait for it. */
const SLOW_MS = 250;
/** So many places may be lent at once. */
const MOST_LENT = 8;

const LOST: Record<Loss, string> = {
  computing: "run() was ended in an operation that took too long.",
  ahead: "A step was ended in an operation that took too long.",
  memory: "run() held too much memory.",
  failed: "The process that ran it was lost.",
};

/** Scripts of which a step broke its thread when it was run ahead. */
const MOST_UNFIT = 1_000;

class ThreadLost extends TickLost {
  readonly loss: Loss;
  constructor(loss: Loss) {
    super(LOST[loss]);
    this.loss = loss;
  }
}

const whole = ({ run_id, sha256, now, memo, args, created_at, ahead }: TickCall): TickOrder => ({
  run_id,
  sha256,
  now,
  from: 0,
  memo,
  args,
  created_at,
  ...(ahead && { ahead }),
});

/** What the thread does not know yet. */
function orderFor({ sent }: Lane, call: TickCall): TickOrder {
  const { run_id, sha256, now, memo, ahead } = call;
  const from = sent.entries(run_id, memo);
  sent.add(run_id, memo);
  return from === 0 ? whole(call) : { run_id, sha256, now, from, memo: memo.slice(from), ...(ahead && { ahead }) };
}

/**
 * Re-executes `run()` in the threads of a process of its own, a run on the same thread as before where that is free: it is told
 * only what is new. A small tick takes 0.2 ms from here and back, one with 1,000 memoized steps 6 ms (two cores).
 */
export function openTicking({ processes, cpu_ms }: { processes: number; cpu_ms: number }) {
  const count = processes + 1;
  const places = createPlaces({ places: count, each: Math.max(2, Math.ceil(count / 2)) });
  const closing = new AbortController();
  const aheads = createAheads();
  const unfit = new Set<string>();
  let lent = 0;
  let runner: Runner | undefined;
  let lanes = createLanes();
  let ids = 0;
  let running = 0;
  let idle: NodeJS.Timeout | undefined;

  function start(): Runner {
    const mine = createLanes();
    lanes = mine;
    const started = startRunner("ticks", cpu_ms, mine.lost);
    void started.gone.then(() => {
      if (runner === started) runner = undefined;
    });
    return started;
  }

  function tickOn(one: Runner, lane: Lane, call: TickCall): Promise<Ticked> {
    const id = ids++;
    const place = { thread: lane.thread, tenant: call.organization_id };
    return new Promise((resolve, reject) => {
      const text = JSON.stringify(orderFor(lane, call));
      one.begin(
        place,
        { kind: "tick", id, text },
        {
          // the lane has gone with the thread
          lost: (loss) => reject(new ThreadLost(loss)),
          heard(report) {
            if (report.kind === "done") {
              lane.isBusy = false;
              resolve(JSON.parse(report.text) as Ticked);
            } else if (report.kind === "need") {
              const needed = report.what === "script" ? call.js : JSON.stringify(whole(call));
              one.tell(place, { kind: "give", id, text: needed });
            } else if (report.kind === "broken") {
              one.endThread(lane.thread);
              reject(new TickLost(report.message));
            }
          },
        },
      );
    });
  }

  /** Lends the place of a tick once it is slow; gives what is to be called at its end. */
  function watchPlace(tenant: string): () => void {
    let isLent = false;
    const late = setTimeout(() => {
      if (lent >= MOST_LENT) return;
      isLent = true;
      lent += 1;
      places.lend();
    }, SLOW_MS).unref();
    return () => {
      clearTimeout(late);
      if (isLent) lent -= 1;
      places.leave(tenant, isLent);
    };
  }

  return {
    async tick(given: TickCall): Promise<TickOutcome> {
      const { ahead, ...alone } = given;
      const { organization_id, run_id, sha256, memo } = alone;
      const call = ahead && !unfit.has(sha256) ? given : alone;
      const known = aheads.tick(call);
      if (known) return known;
      const length = memo.length;
      await places.enter(organization_id, closing.signal);
      closing.signal.throwIfAborted();
      const leave = watchPlace(organization_id);
      running += 1;
      clearTimeout(idle);
      try {
        runner = runner?.isAlive() ? runner : start();
        const ticked = await tickOn(runner, lanes.take(run_id), call);
        return aheads.put(run_id, { memo, length }, ticked);
      } catch (error) {
        const loss = error instanceof ThreadLost ? error.loss : undefined;
        if (call === alone || loss === "computing" || closing.signal.aborted) throw error;
        if (unfit.size >= MOST_UNFIT) unfit.clear();
        if (loss === "ahead") unfit.add(sha256);
        // it was a step, or may have been one
        runner = runner?.isAlive() ? runner : start();
        return (await tickOn(runner, lanes.take(run_id), alone)).outcome;
      } finally {
        leave();
        running -= 1;
        if (running === 0 && !closing.signal.aborted) idle = setTimeout(() => runner?.end(), IDLE_MS).unref();
      }
    },
    /** What a step came to that was run ahead. */
    early: aheads.step,
    forget(run_id: string): void {
      aheads.forget(run_id);
      for (const thread of lanes.forget(run_id))
        runner?.tell({ thread, tenant: "" }, { kind: "forget", id: ids++, text: run_id });
    },
    async close(): Promise<void> {
      closing.abort(new Error("The workflow runner was closed"));
      clearTimeout(idle);
      runner?.end();
      await runner?.gone;
    },
  };
}
