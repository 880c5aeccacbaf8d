import { jetstreamManager } from "@nats-io/jetstream";
import { connect as connectNats } from "@nats-io/transport-node";
import { ask, connect, type Target } from "../chat/askQuestion.ts";
import { progress } from "../tools/progress.ts";
import { median } from "../tools/stats.ts";

const STREAM = "SVC_EVENTS";
const TURNS_BEFORE = 200;
const MIN_TURNS = 30;

/**
 * The time of a turn while the feed is published again from the log, because its stream was lost, relative to its normal time.
 * Undefined if the feed was complete before there were enough turns.
 */
export const measureRepublishedFeed = async (target: Target, natsUrl: string): Promise<number | undefined> => {
  progress("turns while the feed is published again");
  const { host, username: user, password: pass } = new URL(natsUrl);
  const connection = await connectNats({ servers: host, user, pass });
  const client = connect(target);
  const turn = async (n: number): Promise<number> =>
    (await ask(target, client, { text: `feed ${n}`, stream: false })).total;
  try {
    const streams = (await jetstreamManager(connection)).streams;
    const published = async (): Promise<number> =>
      streams.info(STREAM).then(
        ({ state }) => state.messages,
        () => 0,
      );
    const before: number[] = [];
    for (let n = 0; n < TURNS_BEFORE; n++) before.push(await turn(n));
    const all = await published();
    await streams.delete(STREAM);
    const during: number[] = [];
    for (let n = 0; (await published()) < all; n++) {
      const ms = await turn(n);
      if ((await published()) > 0) during.push(ms);
    }
    return during.length < MIN_TURNS ? undefined : median(during) / median(before);
  } finally {
    await client.close();
    await connection.close();
  }
};
