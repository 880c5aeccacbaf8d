import { connect } from "@nats-io/transport-node";

const HEALTH = "$SYS.REQ.SERVER.PING.HEALTHZ";
const ANSWER_MS = 3_000;
/** `JetStream stream 'A' write error: no space left on device`. Messages during the start do not match. */
const BROKEN_STREAM = /^JetStream stream .* error: /;

interface Health {
  data?: { error?: string };
}

/**
 * Throws if a stream of the server has failed to write: since NATS 2.14 it accepts no message until the server restarts, even when
 * the disk has space again. `address`: of a user of the system account. Older servers do not report this.
 */
export async function requireSoundStreams(address: string, signal: AbortSignal): Promise<void> {
  const { host, username, password } = new URL(address);
  const opening = connect({ servers: host, user: username, pass: password, reconnect: false, timeout: ANSWER_MS });
  const close = () => void opening.then((nc) => nc.close()).catch(() => {});
  signal.addEventListener("abort", close, { once: true });
  try {
    const nc = await opening;
    const answer = await nc.request(HEALTH, "{}", { timeout: ANSWER_MS });
    const { error = "" } = answer.json<Health>().data ?? {};
    if (BROKEN_STREAM.test(error)) throw new Error(error);
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}
