import type { Trace } from "../../api/trace.ts";
import type { Source } from "../../api/types.ts";

/** The call of a tool that gave the model a source. */
export interface Origin {
  /** The line of the course. */
  line: string;
  tool: string;
  /** The place among its results, from 1. */
  place: number;
  results: number;
}

const isSame = (one: Source, other: Source): boolean =>
  one.url === other.url && (one.seq === undefined || other.seq === undefined || one.seq === other.seq);

/** Why an answer could cite this: the first call with this source among its results. Undefined: the provider searched by itself. */
export function findOrigin({ rounds }: Pick<Trace, "rounds">, source: Source): Origin | undefined {
  for (const { round, calls } of rounds)
    for (const [n, { name, sources }] of calls.entries()) {
      const at = sources.findIndex((one) => isSame(one, source));
      if (at >= 0) return { line: `call-${round}-${n}`, tool: name, place: at + 1, results: sources.length };
    }
  return undefined;
}
