import type { Logger } from "pino";
import type { CommandSender, CommandSource, Frames, Hints, Reactions } from "#events/ports.ts";
import type { CircuitReports } from "#events/circuits.ts";
import type { ReadingReports } from "#events/readingProgress.ts";
import type { TurnNewsExchange } from "#events/turnNews.ts";
import { createCircuitReports } from "./circuitReports.ts";
import { openAcks } from "./acks.ts";
import { openAnswers } from "./answers.ts";
import { closeConnection, openConnection } from "./connection.ts";
import { createDeadLetters, type DeadLetters } from "./deadLetters.ts";
import { createFeed, type Feed } from "./feed.ts";
import { createFrames } from "./frames.ts";
import { checkDelivery } from "./canary.ts";
import { createFaultReports, type FaultReports } from "./faultReports.ts";
import { readHealth, type BusHealth } from "./health.ts";
import { readIdentity } from "./identity.ts";
import { createHints } from "./hints.ts";
import { createReadingReports } from "./readingReports.ts";
import { createTurnNews } from "./turnNews.ts";
import { namesFor } from "./names.ts";
import { createReactions } from "./reactions.ts";
import { createSender, type IsReachable, type Outcomes } from "./commandSender.ts";
import { createSource } from "./commandSource.ts";
import { openStreams } from "./streams.ts";
import { searchLeader } from "./leaderSearch.ts";
import { defaultLimits, type StreamLimits } from "./streamSpecs.ts";

export interface Bus {
  sender(outcomes: Outcomes, isReachable?: IsReachable): CommandSender;
  /** `now`: the time to compare with the deadlines of other processes. */
  source(now?: () => number): CommandSource;
  hints: Hints;
  turnNews: TurnNewsExchange;
  circuits: CircuitReports;
  readings: ReadingReports;
  frames: Frames;
  reactions: Reactions;
  feed: Feed;
  deadLetters: DeadLetters;
  /** Purges the frame stream, also from the server's disk. */
  clearFrames(): Promise<void>;
  health(): Promise<BusHealth>;
  /** Identifies the JetStream: equal in all processes that reach the same one. Undefined while it does not answer. */
  identity(): Promise<string | undefined>;
  /** Resolves when a services process has taken a command from the stream. Throws when none does within some seconds, or when it cannot write to the log. */
  checkDelivery(): Promise<void>;
  /** Faults that processes of the deployment have healed, for the metrics of all of them. */
  faults: FaultReports;
  /** Sends what is buffered and closes the connection. Stop consumers first. */
  close(): Promise<void>;
}

interface Options {
  /** `nats://[user:password@]host:port`, several separated by commas. */
  url: string;
  /** Prefix of every subject and stream name. */
  prefix: string;
  /** Name of this connection in the server's monitoring. */
  name: string;
  log: Logger;
  limits?: Partial<StreamLimits>;
}

/** Connects to NATS and creates the streams. Throws when no server answers for 30 s; afterwards reconnects forever. */
export async function connectBus({ url, prefix, name, log, limits }: Options): Promise<Bus> {
  const names = namesFor(prefix);
  const connection = await openConnection({ url, name, log });
  const allLimits = { ...defaultLimits, ...limits };
  const streams = await openStreams(connection, names, allLimits).catch(async (error) => {
    await closeConnection(connection);
    throw error;
  });
  const search = searchLeader(connection, streams.jsm, names);
  const bus = { connection, streams, names, limits: allLimits };
  const acks = openAcks(connection);
  const answers = openAnswers(connection.pubSub, names);
  const [hints, frames] = [createHints(connection, names), createFrames(bus)];
  // From here on, hints and stop requests of other processes arrive.
  connection.pubSub.flush();
  await connection.nc.flush();
  return {
    sender: (outcomes, isReachable) => createSender({ ...bus, acks, answers, outcomes, isReachable }),
    source: (now?: () => number) => createSource(bus, now),
    hints,
    turnNews: createTurnNews(connection, names),
    circuits: createCircuitReports(connection, names),
    readings: createReadingReports(connection, names),
    frames,
    reactions: createReactions(bus),
    feed: createFeed(bus),
    deadLetters: createDeadLetters(bus),
    async clearFrames() {
      await streams.jsm.streams.purge(names.streams.frames);
    },
    health: () => readHealth(bus),
    identity: () => readIdentity(bus),
    checkDelivery: () => checkDelivery({ ...bus, answers }),
    faults: createFaultReports(connection, names),
    async close() {
      search.stop();
      streams.close();
      await closeConnection(connection);
    },
  };
}
