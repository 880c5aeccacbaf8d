import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

export interface Ends {
  /** Resolves when the run has ended well; rejects when it has failed. */
  of(run_id: string): Promise<void>;
  close(): Promise<void>;
}

/** Hears how every run ends, on the feed of events for other services. */
export const hearEnds = async (natsUrl: string): Promise<Ends> => {
  const { host, username: user, password: pass } = new URL(natsUrl);
  const connection = await connect({ servers: host, user, pass });
  // one subject each: older servers know no list of them
  const listen = async (type: string) => {
    const filter = { filter_subjects: `svc.evt.v1.*.run.${type}`, deliver_policy: DeliverPolicy.New };
    return (await jetstream(connection).consumers.get("SVC_EVENTS", filter)).consume();
  };
  const heard = await Promise.all(["RunCompleted", "RunFailed"].map(listen));
  const runs = new Map<string, PromiseWithResolvers<void>>();
  // whichever comes first: that somebody waits, or the end
  const endOf = (run_id: string): PromiseWithResolvers<void> => {
    const end = runs.get(run_id) ?? Promise.withResolvers<void>();
    runs.set(run_id, end);
    return end;
  };
  const listening = heard.map(async (messages) => {
    for await (const message of messages) {
      const { type, data } = message.json<{ type: string; data: { run_id: string } }>();
      if (type === "RunCompleted") endOf(data.run_id).resolve();
      else endOf(data.run_id).reject(new Error(`the run ${data.run_id} failed`));
    }
  });
  return {
    of: (run_id) => endOf(run_id).promise.finally(() => runs.delete(run_id)),
    async close() {
      await Promise.all(heard.map((messages) => messages.close()));
      await Promise.all(listening);
      await connection.close();
    },
  };
};
