import { TickLost, type TickCall } from "#services/workflows/tick.ts";
import { shouldKeepHistory, type ThreadLoss, type TickOrder, type TickReply } from "./messages.ts";
import type { RunnerProcess } from "./runnerProcess.ts";
import type { TickThread } from "./tickThreadPool.ts";

const LOSS_MESSAGES: Record<ThreadLoss, string> = {
  computing: "run() was ended in an operation that took too long.",
  speculating: "A step was ended in an operation that took too long.",
  memory: "run() held too much memory.",
  failed: "The process that ran it was lost.",
};

/** The thread of a tick has ended. */
export class ThreadLost extends TickLost {
  readonly loss: ThreadLoss;
  constructor(loss: ThreadLoss) {
    super(LOSS_MESSAGES[loss]);
    this.loss = loss;
  }
}

/** An order with the memo from an entry on. */
const orderPart = (
  { run_id, seen_as, sha256, now, memo, speculation, ordered, trace }: TickCall,
  from: number,
): TickOrder => ({
  run_id,
  ...(seen_as !== undefined && { seen_as }),
  sha256,
  now,
  from,
  memo: memo.slice(from),
  ...(speculation && { speculation }),
  ...(ordered && { ordered }),
  ...(trace && { trace }),
});

/** An order with the whole memo. */
const wholeOrder = (call: TickCall): TickOrder => ({
  ...orderPart(call, 0),
  args: call.args,
  ...(call.headers && { headers: call.headers }),
  created_at: call.created_at,
});

/** An order with the part of the memo that the thread lacks. */
export function orderFor({ sentMemos }: Pick<TickThread, "sentMemos">, call: TickCall): TickOrder {
  const { run_id, memo } = call;
  const from = sentMemos.count(run_id, memo);
  sentMemos.add(run_id, memo);
  return from === 0 ? wholeOrder(call) : orderPart(call, from);
}

/** Runs a tick in a thread. Throws TickLost. */
export function runTick(runner: RunnerProcess, id: number, thread: TickThread, call: TickCall): Promise<TickReply> {
  const address = { thread: thread.thread, tenant: call.organization_id };
  const { promise, resolve, reject } = Promise.withResolvers<TickReply>();
  const text = JSON.stringify(orderFor(thread, call));
  runner.start(
    address,
    { kind: "tick", id, text },
    {
      // the pool has removed the thread
      onLost: (loss) => reject(new ThreadLost(loss)),
      onReport(report) {
        if (report.kind === "done") {
          thread.isBusy = false;
          const reply = JSON.parse(report.text) as TickReply;
          if (!shouldKeepHistory(reply.outcome)) thread.sentMemos.delete(call.run_id);
          resolve(reply);
        } else if (report.kind === "need") {
          const missing = report.what === "script" ? call.js : JSON.stringify(wholeOrder(call));
          runner.send(address, { kind: "provide", id, text: missing });
        } else if (report.kind === "broken") {
          runner.endThread(thread.thread);
          reject(new TickLost(report.message));
        }
      },
    },
  );
  return promise;
}
