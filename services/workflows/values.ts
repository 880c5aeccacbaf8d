import type { Value } from "#events/run.ts";
import { sealedBlobs, type SealedBlobs, type SealedDeps } from "../sealed.ts";
import type { Target } from "../send.ts";

/** A longer value is kept beside the log, in bytes of JSON. */
const MAX_IN_EVENT = 64 * 1024;

/** The values of one run: in its events, or beside them in blobs sealed with its key. */
export interface Values {
  json(value: Value): Promise<string>;
  keep(json: string): Promise<Value>;
}

/** Throws RunGone where the run was destroyed. */
export function valuesOf(deps: SealedDeps, run: Target): Values {
  let opened: Promise<SealedBlobs> | undefined;
  const blobs = () =>
    (opened ??= sealedBlobs(deps, run).then((found) => {
      if (!found) throw new RunGone(`${run.stream} was destroyed`);
      return found;
    }));
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
