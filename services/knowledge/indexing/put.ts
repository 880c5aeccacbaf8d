import type { EventLog } from "#events/ports.ts";
import type { Change, IndexedPassage, PassageIndex, Settled } from "../passageIndex.ts";
import type { SealedDeps } from "../../sealed.ts";
import { BrokenPassages, passagesOf } from "./passagesOf.ts";
import type { Wanted } from "./plan.ts";

/** Passages that are held, and sent, at once. */
const TOGETHER = 2_000;

export interface PutDeps extends SealedDeps {
  log: Pick<EventLog, "read">;
  index: Pick<PassageIndex, "put">;
  onError(error: unknown): void;
}

/** Generations that went to the server together, and stand or fall together. */
export interface Group {
  wanted: Wanted[];
  changes: Change[];
}

/** Sends generations to the index, `together` passages at a time. `broken` are those whose passages cannot be opened; erased ones are left out. */
export async function put(
  deps: PutDeps,
  index: string,
  wanted: Wanted[],
  together = TOGETHER,
): Promise<{ groups: Group[]; broken: Wanted[] }> {
  const groups: Group[] = [];
  const broken: Wanted[] = [];
  let passages: IndexedPassage[] = [];
  let gathered: Wanted[] = [];
  const flush = async (): Promise<void> => {
    if (gathered.length > 0) groups.push({ wanted: gathered, changes: await deps.index.put(index, passages) });
    [passages, gathered] = [[], []];
  };
  for (const one of wanted) {
    try {
      const its = await passagesOf(deps, one);
      if (!its) continue;
      for (const passage of its) passages.push(passage);
      gathered.push(one);
    } catch (error) {
      if (!(error instanceof BrokenPassages)) throw error;
      deps.onError(error);
      broken.push(one);
    }
    if (passages.length >= together) await flush();
  }
  await flush();
  return { groups, broken };
}

/** The time of the last of the changes; undefined when one was refused. */
export function finishedAt(settled: Map<Change, Settled>, changes: Change[]): string | undefined {
  let last = "";
  for (const change of changes) {
    const outcome = settled.get(change);
    if (!outcome?.ok) return undefined;
    if (outcome.finished_at > last) last = outcome.finished_at;
  }
  return last === "" ? new Date().toISOString() : last;
}
