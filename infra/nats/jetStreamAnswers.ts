import { connect } from "@nats-io/transport-node";
import { jetstreamManager } from "@nats-io/jetstream";

/** Resolves when JetStream answers a request. A server whose disk was full accepts connections, but never answers again. */
export async function jetStreamAnswers(address: string, signal: AbortSignal): Promise<void> {
  const { host, username, password } = new URL(address);
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => aborted.reject(signal.reason));
  const opening = connect({ servers: host, user: username, pass: password, reconnect: false, timeout: 3_000 });
  const ask = async () => {
    const nc = await opening;
    const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: 3_000 });
    await jsm.getAccountInfo();
  };
  try {
    await Promise.race([ask(), aborted.promise]);
  } finally {
    void opening.then(
      (nc) => nc.close(),
      () => {},
    );
  }
}
