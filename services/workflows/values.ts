import type { StoredValue } from "#events/runParts.ts";
import { openThingBlobs, type ThingBlobs, type VaultDeps } from "../thingBlobs.ts";
import type { CommandTarget } from "../send.ts";

/** Maximum bytes of JSON in an event; longer values go to a blob. */
const MAX_IN_EVENT = 64 * 1024;

/** Whether this JSON goes into the event. */
export const isInEvent = (json: string): boolean => Buffer.byteLength(json) <= MAX_IN_EVENT;

/** UTF-16 units that a value takes once it is read, or a few more: its bytes are those of UTF-8. */
export const lengthOf = (value: StoredValue): number => ("json" in value ? value.json.length : value.bytes);

/** The values of one run, in its events or in blobs sealed with its key. */
export interface Values {
  json(value: StoredValue): Promise<string>;
  store(json: string): Promise<StoredValue>;
}

/** The functions throw RunGone if the run was destroyed. `creation`: resolves once the key of the blobs may exist. */
export function openValues(deps: VaultDeps, run: CommandTarget, creation?: Promise<void>): Values {
  let opened: Promise<ThingBlobs> | undefined;
  const open = async (): Promise<ThingBlobs> => {
    await creation;
    const found = await openThingBlobs(deps, run);
    if (!found) throw new RunGone(`${run.stream} was destroyed`);
    return found;
  };
  const blobs = () => (opened ??= open());
  return {
    json: async (value) => ("json" in value ? value.json : (await (await blobs()).get(value.blob)).toString()),
    async store(json) {
      if (isInEvent(json)) return { json };
      return { blob: await (await blobs()).put(Buffer.from(json)), bytes: Buffer.byteLength(json) };
    },
  };
}

/** The run was destroyed. */
export class RunGone extends Error {
  override name = "RunGone";
}
