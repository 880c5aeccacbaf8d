import { setTimeout as sleep } from "node:timers/promises";
import { claimStream, parseStreamName, streamName } from "#events/ids.ts";
import { Unavailable, type EventLog, type StreamHead } from "#events/ports.ts";
import { CancelRun } from "#events/run.ts";
import { chainClaim } from "#events/runLinks.ts";
import type { Actor } from "#events/runOrigin.ts";
import { run as decider } from "../deciders/run.ts";
import type { RunState } from "../deciders/runState.ts";
import type { Send } from "../send.ts";
import { findHead, readState } from "../states.ts";

type Log = Pick<EventLog, "heads" | "read">;

/** Poll interval until a chain's next run is started: within milliseconds normally, by the sweep after a crash. */
const RETRY_MS = 200;
const MAX_TRIES = 50;

async function readRun(log: Log, stream: string): Promise<{ head: StreamHead; state: RunState } | undefined> {
  const head = await findHead(log, stream);
  if (!head) return undefined;
  const { state }: { state: RunState } = await readState(log, head, decider);
  return { head, state };
}

/** The states of those runs that are in the log, by their ids. */
export async function readRunStates(log: Log, ids: string[]): Promise<Map<string, RunState>> {
  const streams = [...new Set(ids)].map((id) => streamName("run", id));
  const heads = await log.heads(streams);
  const found = await Promise.all(
    [...heads].map(async ([stream, head]): Promise<[string, RunState]> => {
      const { state } = await readState(log, head, decider);
      return [parseStreamName(stream).id, state];
    }),
  );
  return new Map(found);
}

export interface NewestRun {
  head: StreamHead;
  state: RunState;
  /** Whether the run has ended and the next run of its chain is being started. */
  isHandingOver: boolean;
}

/** The id of the first run of the chain, if the run may have been continued. */
function firstOfChain(run_id: string, state: RunState): string | undefined {
  if (state.status === "continued") return state.first_run_id!;
  // It was destroyed after its retention, which the chain may outlive. Others know a chain by its first run.
  return state.status === "forgotten" ? run_id : undefined;
}

/** The run that continues this one, or the run itself. Undefined if the run does not exist. */
export async function readNewestRun(log: Log, run_id: string): Promise<NewestRun | undefined> {
  const found = await readRun(log, streamName("run", run_id));
  if (!found) return undefined;
  const first = firstOfChain(run_id, found.state);
  const claim = first === undefined ? undefined : await findHead(log, claimStream(chainClaim(first)));
  const holder = claim?.state as string | null | undefined;
  const newest = (holder && (await readRun(log, holder))) || found;
  // Between two runs of a chain nobody holds the claim on it.
  return { ...newest, isHandingOver: newest.state.status === "continued" || claim?.state === null };
}

/** Cancels a run, or the run that continues it. Does nothing if that has ended. Throws Unavailable. */
export async function cancelNewestRun(
  { log, send }: { log: Log; send: Send },
  run_id: string,
  { by, reason }: { by: Actor; reason: string },
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const newest = await readNewestRun(log, run_id);
    if (!newest) return;
    if (!newest.isHandingOver) {
      const id = newest.head.stream.slice(streamName("run", "").length);
      const { rejection } = await send(newest.head, CancelRun.type, { run_id: id, by, reason });
      if (rejection?.code !== "run_continued") return;
    }
    await sleep(RETRY_MS);
  }
  throw new Unavailable("the next run of a chain was not started");
}
