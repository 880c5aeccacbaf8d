import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

export interface RunEnds {
  /** Resolves when the run has completed; rejects when it has failed. */
  waitFor(run_id: string): Promise<void>;
  /** Resolves when the run waits for an event. */
  waitForWait(run_id: string): Promise<void>;
  close(): Promise<void>;
}

/** Follows the runs' ends, and their waits for events, on the public event feed. */
export const followRunEnds = async (natsUrl: string): Promise<RunEnds> => {
  const { host, username: user, password: pass } = new URL(natsUrl);
  const connection = await connect({ servers: host, user, pass });
  // One consumer for each subject: older NATS servers do not support several filter subjects.
  const consume = async (type: string) => {
    const filter = { filter_subjects: `svc.evt.v1.*.run.${type}`, deliver_policy: DeliverPolicy.New };
    return (await jetstream(connection).consumers.get("SVC_EVENTS", filter)).consume();
  };
  const feeds = await Promise.all(["RunCompleted", "RunFailed", "MessageWaitStarted"].map(consume));
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const waits = new Map<string, PromiseWithResolvers<void>>();
  // Either the caller or the event comes first; both find the same promise.
  const promiseOf = (runs: typeof ends, run_id: string): PromiseWithResolvers<void> => {
    const promise = runs.get(run_id) ?? Promise.withResolvers<void>();
    runs.set(run_id, promise);
    return promise;
  };
  const endOf = (run_id: string) => promiseOf(ends, run_id);
  const reading = feeds.map(async (messages) => {
    for await (const message of messages) {
      const { type, data } = message.json<{ type: string; data: { run_id: string; code?: string } }>();
      if (type === "MessageWaitStarted") promiseOf(waits, data.run_id).resolve();
      else if (type === "RunCompleted") endOf(data.run_id).resolve();
      else endOf(data.run_id).reject(new Error(`the run ${data.run_id} failed: ${data.code}`));
    }
  });
  return {
    waitFor: (run_id) => endOf(run_id).promise.finally(() => ends.delete(run_id)),
    waitForWait: (run_id) => promiseOf(waits, run_id).promise.finally(() => waits.delete(run_id)),
    async close() {
      await Promise.all(feeds.map((messages) => messages.close()));
      await Promise.all(reading);
      await connection.close();
    },
  };
};
