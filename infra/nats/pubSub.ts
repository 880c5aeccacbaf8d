import type { Msg, NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "pino";

type Listener = (message: any, subject: string) => void;

/**
 * Core NATS publish and subscribe. Listeners in this process are called directly, others over the network; the connection has
 * `noEcho`, so nothing arrives twice. Everything published in one turn of the event loop is sent in one write. Otherwise a chat
 * turn would take nine writes to the socket instead of two, which was a fifth of the process's time.
 */
export interface PubSub {
  /** Publishes to every listener, in this process and in others. Returns the bytes that are sent to others. */
  publish(subject: string, message: unknown): number;
  /** Publishes to every listener in other processes. */
  publishToOthers(subject: string, message: unknown): void;
  /**
   * Publishes to the listeners in this process or, if there are none, to others. For messages that one process waits for. Returns
   * the bytes that are sent to others.
   */
  publishToOne(subject: string, message: unknown): number;
  /**
   * Subscribes to a subject. Wildcards match only messages of other processes. Active for everything published afterwards. Returns
   * a function that unsubscribes.
   */
  subscribe(subject: string, listener: Listener): () => void;
  /** Runs a write to the connection together with the other writes of this turn of the event loop, in order. */
  batch(write: () => void): void;
  /** Runs the batched writes now. */
  flush(): void;
}

/** Maximum time for batched writes in one turn of the event loop; the rest follows in the next one. */
const SLICE_MS = 5;

function createBatch(run: (write: () => void) => void): Pick<PubSub, "batch" | "flush"> {
  let pending: (() => void)[] = [];
  const runUntil = (end: number) => {
    const writes = pending;
    let done = 0;
    while (done < writes.length && performance.now() < end) run(writes[done++]!);
    pending = writes.slice(done);
    if (pending.length > 0) setImmediate(runSlice);
  };
  const runSlice = () => runUntil(performance.now() + SLICE_MS);
  return {
    flush: () => runUntil(Infinity),
    batch(write) {
      if (pending.length === 0) setImmediate(runSlice);
      pending.push(write);
    },
  };
}

export function openPubSub({ nc, log }: { nc: NatsConnection; log: Logger }): PubSub {
  const local = new Map<string, Set<Listener>>();
  const runSafely = (call: () => void) => {
    try {
      call();
    } catch (err) {
      log.error({ err }, "bus: a listener or a write failed");
    }
  };
  const { batch, flush } = createBatch(runSafely);
  /** False if this process has no listener. */
  const publishLocally = (subject: string, message: unknown): boolean => {
    const listeners = local.get(subject);
    for (const listener of listeners ?? []) runSafely(() => listener(message, subject));
    return listeners !== undefined;
  };
  const publishRemotely = (subject: string, message: unknown): number => {
    const text = JSON.stringify(message);
    batch(() => nc.publish(subject, text));
    return Buffer.byteLength(text);
  };

  return {
    batch,
    flush,
    publish(subject, message) {
      publishLocally(subject, message);
      return publishRemotely(subject, message);
    },
    publishToOthers: publishRemotely,
    publishToOne: (subject, message) => (publishLocally(subject, message) ? 0 : publishRemotely(subject, message)),
    subscribe(subject, listener) {
      let unsubscribe = () => {};
      const callback = (error: Error | null, message: Msg) => {
        if (!error) runSafely(() => listener(message.json(), message.subject));
      };
      local.set(subject, (local.get(subject) ?? new Set()).add(listener));
      batch(() => {
        const subscription = nc.subscribe(subject, { callback });
        unsubscribe = () => subscription.unsubscribe();
      });
      return () => {
        const listeners = local.get(subject);
        listeners?.delete(listener);
        if (listeners?.size === 0) local.delete(subject);
        batch(() => unsubscribe());
      };
    },
  };
}
