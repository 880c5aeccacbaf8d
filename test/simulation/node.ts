import type { PublicEvent } from "#events/ports.ts";
import { startHeartbeat } from "#infra/postgres/heartbeat.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openVault } from "#infra/vault.ts";
import { openLog } from "#infra/postgres/log.ts";
import { relay } from "#infra/postgres/relay.ts";
import { publishReactions } from "../../roles/relays.ts";
import { createHandler, type Handle } from "#services/handle.ts";
import { reactors } from "#services/reactors/index.ts";
import { sendTo } from "#services/send.ts";
import { createSweep } from "#services/sweep.ts";
import { createRecentHistories } from "#services/turns/recentHistories.ts";
import { createAccessPrefetch } from "#services/turns/accessPrefetch.ts";
import { createCircuits } from "#services/turns/circuits.ts";
import { createRetryBudget } from "#services/turns/retryBudget.ts";
import { estimateLost } from "#services/turns/lostRequest.ts";
import { runTurn, type TurnRunnerOptions } from "#services/turns/run.ts";
import type { TurnToRun } from "#services/turns/turnToRun.ts";
import { createTurnMemory } from "#services/turns/turnMemory.ts";
import { createTurns } from "#services/turns/turns.ts";
import type { Bus } from "./bus.ts";
import { openConnection, type AnswerAppend } from "./connection.ts";
import type { Database } from "./database.ts";
import { scriptedModel } from "./model.ts";
import type { World } from "./world.ts";

export interface Deployment {
  world: World;
  database: Database;
  bus: Bus;
  /** Defects in how a process is assembled; each is one of the planted bugs. */
  flaws: {
    answerAppend?(world: World, database: Database): AnswerAppend;
    /** Replaces the handler of commands that end turns. */
    ending?(handle: Handle, database: Database): Handle;
  };
  /** Probability that a process reports no room for a turn. */
  noRoom: number;
  /** How often the model was asked, by request. */
  asked: Map<string, number>;
}

export const keyring = openKeyring(Buffer.alloc(32, 7));
const blobs = {
  get: async () => undefined,
  link: async () => undefined,
  put: async () => "",
  removeAll: async () => {},
  remove: async () => {},
};

/** Assembles a services process from the product's own parts, in the current simulated process. `leads`: it also relays. */
export function startNode({ world, database, bus, flaws, noRoom, asked }: Deployment, leads: boolean): void {
  const process = world.current()!;
  const worker = process.name;
  const pool = openConnection(world, database, flaws.answerAppend?.(world, database));
  const log = openLog(pool, keyring);
  const onError = (error: unknown) => world.note(`fails: ${String(error)}`);

  const recentHistories = createRecentHistories();
  const sources = { log, keyring, deployment: [], offline: true };
  const accessPrefetch = createAccessPrefetch(sources, worker);
  const options = (turn: TurnToRun): TurnRunnerOptions => ({
    ...sources,
    accessPrefetch,
    maxHistoryText: 100_000,
    budgets: { reserveMoney: async () => {}, notePark: async () => {}, noteResume: async () => {} },
    memory: createTurnMemory(),
    recentHistories,
    holdFiles: (_organization, _bytes, work) => work(),
    vault: openVault({ blobs, keyring, dataKeys: log }),
    frames: bus.frames,
    models: { open: () => scriptedModel(turn, asked) },
    circuits: createCircuits(),
    retryBudget: createRetryBudget(),
    tools: { find: async () => [] },
    onToolError: onError,
    onCredentialRefused: () => {},
    handle: flaws.ending?.(handle, database) ?? handle,
    countTokens: async (text) => text.length,
    countPrompt: async ({ messages }) => JSON.stringify(messages).length,
    toolApprovals: {
      default_seconds: 3_600,
      max_parked: 100,
      countParked: async () => 0,
      hasAgent: async () => true,
    },
  });
  const turns = createTurns({
    log,
    frames: bus.frames,
    worker,
    onError,
    send: sendTo((command) => handle(command), worker),
    storeFrames: async () => "stored",
    readFrames: async () => [],
    estimateLost: (turn) => estimateLost(options(turn), turn),
    run: (turn, stopping) => {
      world.note(`runs ${turn.turn_id}/${turn.attempt}`);
      return runTurn(options(turn), turn, stopping);
    },
  });
  const handle = createHandler({
    log,
    hints: bus.hints,
    worker: (_, organization) => (turns.hasRoom(organization) && !world.random.chance(noRoom) ? worker : undefined),
    beforeCommit: accessPrefetch.begin,
    afterCommit: (handled) => {
      world.note(`commits ${handled.events.map(({ type }) => type).join()}`);
      turns.afterCommit(handled);
    },
  });
  const react = async (event: PublicEvent) => {
    // the simulation has no budgets
    const reaction = { event, blobs, log, resumeWork: turns.resumeWork, startAlertRun: async () => {} };
    for (const reactor of reactors[event.type] ?? []) await reactor.react(reaction);
  };

  bus.join({ process, command: handle, reaction: react });
  void startHeartbeat(pool, { worker, role: "services" }, onError).catch(onError);
  createSweep({ log, worker, busy: turns.busy, resumeWork: { thread: turns.resumeWork }, onError }).start();
  const relaying = {
    name: "reactions",
    types: Object.keys(reactors),
    batch: 1_000,
    publish: publishReactions(bus.reactions),
  };
  if (leads) void relay({ pool, log, onError, ...relaying }, new AbortController().signal);
}
