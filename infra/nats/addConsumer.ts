import { JetStreamApiError, type ConsumerConfig, type ConsumerInfo, type JetStreamManager } from "@nats-io/jetstream";

/** The server cannot read or write the consumer's file. */
const CONSUMER_STORE_FAILED = 10_012;

export type ConsumerSpec = Partial<ConsumerConfig> & { durable_name: string };

/**
 * Creates a durable consumer. After a power cut, the server may be unable to read the file of the former one. It then refuses the name
 * until somebody deletes the file. Such a consumer is created in memory, and starts at the first message in the stream. `onUnreadable`
 * is called with the server's refusal.
 */
export async function addConsumer(
  jsm: JetStreamManager,
  stream: string,
  spec: ConsumerSpec,
  onUnreadable: (refusal: JetStreamApiError) => void = () => {},
): Promise<ConsumerInfo> {
  try {
    return await jsm.consumers.add(stream, spec);
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === CONSUMER_STORE_FAILED)) throw error;
    const info = await jsm.consumers.add(stream, { ...spec, mem_storage: true });
    onUnreadable(error);
    return info;
  }
}
