import type { z } from "zod";
import type { CommandDefinition } from "#events/define.ts";
import { newCommand, type Command } from "#events/envelope.ts";
import { blobFolder, streamName } from "#events/ids.ts";
import { encodeLargeJson } from "#events/largeJson.ts";
import type { FramePayload } from "#events/ports.ts";
import type { Vault } from "#events/vault.ts";
import { FinishTool, NoteTargetFailure, RequestRound } from "#events/thread.ts";
import { ParkTurn, StartTool } from "#events/threadApprovals.ts";
import { retryWhileDiskFull } from "../retryWhileUnavailable.ts";
import type { Handle } from "../handle.ts";
import type { CallRecord, RoundRecord } from "./converse.ts";
import type { TargetFailure } from "./nextTarget.ts";
import type { TurnAttempt } from "./turnToRun.ts";

type ParkRecord = Omit<z.infer<typeof ParkTurn.schema>, "turn_id" | "attempt">;

/** How long recording a step or an end is retried while the log is unavailable. Giving up earlier would only leave it to the sweep. */
const RETRY_MS = 60_000;
/** Maximum bytes of a result in an event; longer ones go to a blob. */
const MAX_IN_EVENT = 64 * 1024;

/** The turn was taken over, deleted or parked: this attempt must record and report nothing more. */
export class TurnLost extends Error {
  override name = "TurnLost";
}

/** Whether a step was recorded is unknown. The attempt ends, and the sweep starts the next one. */
export class StepNotRecorded extends Error {
  override name = "StepNotRecorded";
}

/** A command of one attempt at a turn. */
export const turnCommand = (turn: TurnAttempt, { type }: CommandDefinition, data: object): Command =>
  newCommand(type, {
    stream: turn.thread,
    organization_id: turn.organization_id,
    request_id: turn.request_id,
    timeout_ms: RETRY_MS,
    data: { turn_id: turn.turn_id, attempt: turn.attempt, ...data },
  });

interface RecorderOptions {
  handle: Handle;
  vault: Pick<Vault, "findKey" | "put">;
}

async function putBlob({ vault }: RecorderOptions, turn: TurnAttempt, bytes: Uint8Array): Promise<string> {
  const thing = streamName("turn", turn.turn_id);
  const wrapped_key = await vault.findKey(thing);
  if (!wrapped_key) throw new TurnLost("the turn was erased");
  const folder = blobFolder(turn.organization_id, turn.thread, thing);
  return retryWhileDiskFull(() => vault.put({ thing, wrapped_key, folder }, bytes));
}

/** Records the steps of a turn. Every function throws TurnLost when another attempt has the turn. */
export function createStepRecorder(options: RecorderOptions, turn: TurnAttempt) {
  const record = async (type: CommandDefinition, data: object): Promise<void> => {
    const { position } = await options.handle(turnCommand(turn, type, data)).catch((error: unknown) => {
      throw new StepNotRecorded(`${type.type} could not be recorded`, { cause: error });
    });
    if (position === 0) throw new TurnLost(`${type.type} came too late`);
  };
  return {
    recordRound: (round: RoundRecord) => record(RequestRound, round),
    recordStart: (call: { round: number; call: number }) => record(StartTool, call),
    recordPark: (park: ParkRecord) => record(ParkTurn, park),
    recordFailure: (failure: TargetFailure) => record(NoteTargetFailure, failure),
    async recordCall({ text, ...call }: CallRecord): Promise<void> {
      const stored_bytes = Buffer.byteLength(text);
      if (stored_bytes <= MAX_IN_EVENT) return record(FinishTool, { ...call, output: { text } });
      const output = { blob: await putBlob(options, turn, Buffer.from(text)) };
      return record(FinishTool, { ...call, output, stored_bytes });
    },
    /** Stores every frame that readers received; resolves with the blob's key. */
    storeFrames: async (frames: FramePayload[]): Promise<string> =>
      putBlob(options, turn, await encodeLargeJson([...frames])),
  };
}
