import { newId, streamName } from "#events/ids.ts";
import type { Principal } from "#events/envelope.ts";
import { PostMessage } from "#events/message.ts";
import { createCounter } from "../base/counter.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { createOnce, type IdempotentRequest } from "../base/idempotency.ts";
import { createValueStore } from "./runValues.ts";
import { createSharedPoll, type Waiter } from "./sharedPoll.ts";

/** Bytes of JSON of the data. */
const MAX_DATA_BYTES = 256 * 1024;
/** How long a request waits for the delivery, which continues after that. */
const DELIVERY_MS = 10_000;
/** Version of the event that ends a delivery. */
const DELIVERED_VERSION = 2;
/** Maximum requests of an organization that wait for deliveries. More are answered at once, while their delivery continues. */
const MAX_WAITS = 1_000;

export interface NewMessage {
  organization_id: string;
  /** Only runs of this project receive the message; null: all runs of the organization. */
  project_id: string | null;
  principal: Principal;
  request_id: string;
  identity: IdempotentRequest;
  name: string;
  data: Record<string, unknown>;
  /** `one`: if several runs wait for the message, none receives it. */
  to: "all" | "one";
}

interface Delivery {
  reached: number;
  refused_for?: number;
}
/**
 * Waits for a message's delivery and returns the number of runs it reached; undefined if that takes too long, or if too many
 * requests of the organization wait.
 */
export type AwaitDelivery = (organization_id: string, message_id: string) => Promise<Delivery | undefined>;

/** Polls for the delivery event directly: polling for the stream's version would need a second query to read it. */
export function createAwaitDelivery({
  log,
  onCommitted,
  closing,
}: Pick<Http, "log" | "onCommitted" | "closing">): AwaitDelivery {
  type DeliveryWaiter = Waiter<{ stream: string; find(delivered: Delivery): void }>;
  const end = ({ find, done }: DeliveryWaiter, delivered: unknown): void => {
    if (!delivered) return;
    find(delivered as Delivery);
    done();
  };
  const waitFor = createSharedPoll<Omit<DeliveryWaiter, "done">>(
    onCommitted,
    async (waiters) =>
      void (await Promise.all(
        waiters.map(async (waiter) => end(waiter, await log.publicData(waiter.stream, DELIVERED_VERSION))),
      )),
    // a delivery of this process, which is nearly every one where it has all roles
    (waiter) => end(waiter, log.recentData(waiter.stream, DELIVERED_VERSION)),
  );
  const waiting = createCounter();
  return async (organization_id, message_id) => {
    if (waiting.count(organization_id) >= MAX_WAITS) return undefined;
    let found: Delivery | undefined;
    const find = (delivered: Delivery) => void (found = delivered);
    const giveUp = AbortSignal.any([closing, AbortSignal.timeout(DELIVERY_MS)]);
    waiting.add(organization_id, 1);
    await waitFor({ stream: streamName("message", message_id), find }, giveUp);
    waiting.add(organization_id, -1);
    return found;
  };
}

/**
 * Sends an event to the runs that wait for it. A repetition gets the first answer. `reached` is null if the delivery is still in
 * progress. Throws 413 `payload_too_large`, 409 `event_matches_several_runs`.
 */
export async function postMessage(http: Http, awaitDelivery: AwaitDelivery, message: NewMessage) {
  const { organization_id, project_id, principal, request_id, identity, name, to } = message;
  const json = JSON.stringify(message.data);
  if (Buffer.byteLength(json) > MAX_DATA_BYTES)
    throw new ApiError("payload_too_large", `data: must have ${MAX_DATA_BYTES} bytes of JSON at most.`, {
      param: "data",
    });
  const message_id = newId();
  const stream = streamName("message", message_id);
  const { store, stored } = createValueStore(http, organization_id, stream);
  const only = to === "one" && { to };
  const content = { message_id, project_id, ...only, name, data: await store(json) };
  const { blobs, ...keys } = stored();
  const command = { stream, principal, request_id, ...keys, ...identity, data: content };
  const { created_id, isNew } = await createOnce(http, PostMessage, command);
  if (!isNew) await Promise.all(blobs.map((blob) => http.blobs.remove(blob)));
  const delivered = await awaitDelivery(organization_id, created_id);
  if (delivered?.refused_for !== undefined) throw severalRuns(delivered.refused_for);
  return { id: created_id, reached: delivered?.reached ?? null };
}

const severalRuns = (count: number): ApiError =>
  new ApiError(
    "event_matches_several_runs",
    `to: ${count} runs wait for this event, so none of them got it, and all still wait. Send data that only one of them matches, or leave \`to\` out.`,
    { param: "to" },
  );
