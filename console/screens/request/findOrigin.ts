import type { Trace } from "../../api/trace.ts";
import type { Source } from "../../api/types.ts";

/** The tool call that returned a source to the model. */
export interface Origin {
  /** Its line in the timeline. */
  line: string;
  tool: string;
  /** Its number among the results, from 1. */
  place: number;
  results: number;
}

const isSame = (one: Source, other: Source): boolean =>
  one.url === other.url && (one.seq === undefined || other.seq === undefined || one.seq === other.seq);

/** Finds the first call with this source among its results. Undefined if the provider searched by itself. */
export function findOrigin({ rounds }: Pick<Trace, "rounds">, source: Source): Origin | undefined {
  for (const { round, calls } of rounds)
    for (const [n, { name, sources }] of calls.entries()) {
      const at = sources.findIndex((one) => isSame(one, source));
      if (at >= 0) return { line: `call-${round}-${n}`, tool: name, place: at + 1, results: sources.length };
    }
  return undefined;
}
