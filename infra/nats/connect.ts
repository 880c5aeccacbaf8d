import type { Logger } from "pino";
import type { CommandSender, CommandSource, Frames, Hints, Reactions } from "#events/ports.ts";
import { openAcks } from "./acks.ts";
import { openAnswers } from "./answers.ts";
import { closeConnection, openConnection } from "./connection.ts";
import { createDeadLetters, type DeadLetters } from "./deadLetters.ts";
import { createFeed, type Feed } from "./feed.ts";
import { createFrames } from "./frames.ts";
import { readHealth, type BusHealth } from "./health.ts";
import { createHints } from "./hints.ts";
import { namesFor } from "./names.ts";
import { createReactions } from "./reactions.ts";
import { createSender, type Outcomes } from "./sender.ts";
import { createSource } from "./source.ts";
import { defaultLimits, openStreams, type Limits } from "./streams.ts";

export interface Bus {
  sender(outcomes: Outcomes): CommandSender;
  source(): CommandSource;
  hints: Hints;
  frames: Frames;
  reactions: Reactions;
  feed: Feed;
  deadLetters: DeadLetters;
  /** Forgets what is kept of turns, and overwrites it on the server's disk. */
  clearFrames(): Promise<void>;
  health(): Promise<BusHealth>;
  /** Sends what is buffered and closes the connection. Stop what consumes first. */
  close(): Promise<void>;
}

interface Options {
  /** `nats://[user:password@]host:port`, several separated by commas. */
  url: string;
  /** Begins every subject and stream name. */
  prefix: string;
  /** How the server shows this connection. */
  name: string;
  log: Logger;
  limits?: Partial<Limits>;
}

/** Connects to NATS and makes the streams; throws when no server answers for 30 s, and stays connected for ever after. */
export async function connectBus({ url, prefix, name, log, limits }: Options): Promise<Bus> {
  const names = namesFor(prefix);
  const connection = await openConnection({ url, name, log });
  const wanted = { ...defaultLimits, ...limits };
  const streams = await openStreams(connection, names, wanted).catch(async (error) => {
    await closeConnection(connection);
    throw error;
  });
  const bus = { connection, streams, names, limits: wanted };
  const acks = openAcks(connection);
  const answers = openAnswers(connection.wire, names);
  const [hints, frames] = [createHints(connection, names), createFrames(bus)];
  // Hints and stops of other processes are heard from now on.
  connection.wire.flush();
  await connection.nc.flush();
  return {
    sender: (outcomes) => createSender({ ...bus, acks, answers, outcomes }),
    source: () => createSource(bus),
    hints,
    frames,
    reactions: createReactions(bus),
    feed: createFeed(bus),
    deadLetters: createDeadLetters(bus),
    async clearFrames() {
      await streams.jsm.streams.purge(names.streams.frames);
    },
    health: () => readHealth(bus),
    async close() {
      streams.close();
      await closeConnection(connection);
    },
  };
}
