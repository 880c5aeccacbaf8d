import type { Value } from "#events/runParts.ts";
import { sealedBlobs, type SealedBlobs, type SealedDeps } from "../sealed.ts";
import type { Target } from "../send.ts";

/** A longer value is kept beside the log, in bytes of JSON. */
const MAX_IN_EVENT = 64 * 1024;

/** The values of one run: in its events, or beside them in blobs sealed with its key. */
export interface Values {
  json(value: Value): Promise<string>;
  keep(json: string): Promise<Value>;
}

/** Throws RunGone where the run was destroyed. `creation`: with it comes the key that its blobs are sealed with. */
export function valuesOf(deps: SealedDeps, run: Target, creation?: Promise<void>): Values {
  let opened: Promise<SealedBlobs> | undefined;
  const open = async (): Promise<SealedBlobs> => {
    await creation;
    const found = await sealedBlobs(deps, run);
    if (!found) throw new RunGone(`${run.stream} was destroyed`);
    return found;
  };
  const blobs = () => (opened ??= open());
  return {
    json: async (value) => ("json" in value ? value.json : (await (await blobs()).get(value.blob)).toString()),
    async keep(json) {
      const bytes = Buffer.byteLength(json);
      if (bytes <= MAX_IN_EVENT) return { json };
      return { blob: await (await blobs()).put(Buffer.from(json)), bytes };
    },
  };
}

export class RunGone extends Error {
  override name = "RunGone";
}
