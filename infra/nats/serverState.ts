import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";

const ANSWER_MS = 3_000;
const HEALTH = "$SYS.REQ.SERVER.PING.HEALTHZ";
/** `JetStream stream 'A' write error: no space left on device`. Messages during the start do not match. */
const BROKEN_STREAM = /^JetStream stream .* error: /;

interface Health {
  data?: { error?: string };
}

/** Asks a server over a connection that is closed afterwards. Throws if the server does not answer, or if the signal aborts. */
async function ask(address: string, signal: AbortSignal, question: (nc: NatsConnection) => Promise<void>) {
  const { host, username, password } = new URL(address);
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const opening = connect({ servers: host, user: username, pass: password, reconnect: false, timeout: ANSWER_MS });
  try {
    await Promise.race([opening.then(question), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
    void opening.then((nc) => nc.close()).catch(() => {});
  }
}

/** Resolves when JetStream answers a request. A server whose disk was full accepts connections, but never answers again. */
export const requireJetStream = (address: string, signal: AbortSignal): Promise<void> =>
  ask(address, signal, async (nc) => {
    const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: ANSWER_MS });
    await jsm.getAccountInfo();
  });

/**
 * Throws if a stream of the server has failed to write: since NATS 2.14 it accepts no message until the server restarts, even when
 * the disk has space again. `address`: of a user of the system account. Older servers do not report this.
 */
export const requireSoundStreams = (address: string, signal: AbortSignal): Promise<void> =>
  ask(address, signal, async (nc) => {
    const answer = await nc.request(HEALTH, "{}", { timeout: ANSWER_MS });
    const { error = "" } = answer.json<Health>().data ?? {};
    if (BROKEN_STREAM.test(error)) throw new Error(error);
  });
