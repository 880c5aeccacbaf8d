import type { CommandDefinition } from "#events/define.ts";
import type { Command } from "#events/envelope.ts";
import { newCommandId, streamOf } from "#events/ids.ts";
import type { Blobs, DataKeys, Keyring, Speaking } from "#events/ports.ts";
import { FinishTool, RequestRound } from "#events/thread.ts";
import type { Handle } from "../handle.ts";
import type { RecordCall, RecordRound } from "./converse.ts";

/** Steps and ends of a turn must not be given up early: the sweep would only do the same later. */
const WITHIN_MS = 60_000;
/** A longer result is kept beside the log, in bytes. */
const MAX_IN_EVENT = 64 * 1024;

export interface Stepping {
  organization_id: string;
  thread: string;
  turn_id: string;
  attempt: number;
  request_id: string;
}

/** The turn has been taken over or deleted meanwhile, and whoever has it now says how it ends. */
export class TurnLost extends Error {
  override name = "TurnLost";
}

/** What became of a step is unknown: the sweep gives the turn to a next attempt. */
export class NotRecorded extends Error {
  override name = "NotRecorded";
}

/** A command of this attempt of a turn. */
export const stepOf = (turn: Stepping, type: CommandDefinition, data: object): Command => ({
  id: newCommandId(),
  type: type.type,
  stream: turn.thread,
  organization_id: turn.organization_id,
  principal: "system",
  at: new Date().toISOString(),
  deadline: new Date(Date.now() + WITHIN_MS).toISOString(),
  request_id: turn.request_id,
  data: { turn_id: turn.turn_id, attempt: turn.attempt, ...data },
});

interface Recording {
  handle: Handle;
  blobs: Pick<Blobs, "put">;
  keyring: Pick<Keyring, "seal">;
  dataKeys: DataKeys;
}

async function putBlob({ blobs, keyring, dataKeys }: Recording, turn: Stepping, text: string): Promise<string> {
  const thing = streamOf("turn", turn.turn_id);
  const wrapped = (await dataKeys.find([thing])).get(thing);
  if (!wrapped) throw new TurnLost("the turn was erased");
  const sealed = keyring.seal(thing, wrapped, Buffer.from(text));
  return blobs.put(`${turn.organization_id}/${turn.thread}/${thing}`, sealed);
}

/** Records the steps of a turn. Each throws TurnLost when the turn has gone to another attempt. */
export function stepsOf(recording: Recording, turn: Stepping) {
  const record = async (type: CommandDefinition, data: object): Promise<void> => {
    const { position } = await recording.handle(stepOf(turn, type, data)).catch((error: unknown) => {
      throw new NotRecorded(`${type.type} could not be recorded`, { cause: error });
    });
    if (position === 0) throw new TurnLost(`${type.type} came too late`);
  };
  return {
    recordRound: (round: RecordRound) => record(RequestRound, round),
    async recordCall({ text, ...call }: RecordCall): Promise<void> {
      const long = Buffer.byteLength(text) > MAX_IN_EVENT;
      const output = long ? { blob: await putBlob(recording, turn, text) } : { text };
      await record(FinishTool, { ...call, output });
    },
    /** Keeps everything that readers were told; the blob's key. */
    keepTold: (frames: Speaking[]): Promise<string> => putBlob(recording, turn, JSON.stringify(frames)),
  };
}
