import { setTimeout as sleep } from "node:timers/promises";
import type { Hints } from "#events/ports.ts";
import type { Place, Serving } from "../passageIndex.ts";
import { apply, IndexLost, report, Surplus, takeOut } from "./apply.ts";
import { BATCH, build, INDEX_VERSION, newIndexId, Poorer, type BuildDeps } from "./build.ts";
import { createContents } from "./contents.ts";
import { createLock } from "./lock.ts";
import { createPacer } from "./pacer.ts";
import { FOLLOWED, planFor, type Older, type Plan } from "./plan.ts";
import { createReconcile } from "./reconcile.ts";
import { createRefusals } from "./refusals.ts";

const LOOK_EVERY_MS = 1_000;
const ADVANCE_EVERY_MS = 1_000;
const LONGEST_WAIT_MS = 2_000;
/** A search that has read which index serves may still be on its way to the one before. */
const GRACE_MS = 10_000;
const CLEAN_EVERY_MS = 3_600_000;
/** Nobody asks for one of this version: it is tried again after so long where it was poorer than the one that serves. */
const VERSION_EVERY_MS = 3_600_000;

export interface FollowDeps extends BuildDeps {
  hints: Pick<Hints, "onCommitted">;
  /** How often the index is held against what search may show; 30 s where nothing else is said. */
  reconcileMs?: number;
}

/**
 * Follows the log into the passage index, in one process of the deployment at a time: what was read is put, and told to be
 * found once the server has it; what was superseded or deleted is taken out. Its place in the log moves after that, so
 * whatever breaks in between is done again. An index that was lost, lacks passages or is asked for, is filled beside the one that serves.
 */
export async function followPassages(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { log, index, place } = deps;
  const lock = createLock();
  const pace = createPacer(deps.hints, signal);
  const reconcile = createReconcile(deps, deps.reconcileMs);
  let [contents, refusals] = [createContents(), createRefusals(deps, deps.reconcileMs)];
  /** Further than its place that is kept, by what waits in `older`. */
  let at = 0;
  /** A search finds the old generation until the read model shows the new one: so long it stays. */
  let older: Older[] = [];
  /** The index was led through every event of documents up to here; those behind its place that is kept are no news. */
  let led = 0;
  /** The index whose server has its dictionaries; undefined where it may have been started anew. */
  let warmed: string | undefined;
  let filling: { index: string; done: Promise<void> } | undefined;
  let [lookAt, advanceAt, cleanAt] = [0, 0, performance.now() + GRACE_MS];
  let versionAt = 0;

  /** Fills a new index instead of one. */
  const fill = (from: string): Promise<void> => {
    if (filling) return filling.done;
    const id = newIndexId(deps.prefix);
    const done = build(deps, { index: id, from, lock, signal })
      .then((its) => void ({ contents, refusals } = its))
      .catch((error: unknown) => {
        if (error instanceof Poorer) versionAt = performance.now() + VERSION_EVERY_MS;
        throw error;
      })
      .finally(() => {
        filling = undefined;
        cleanAt = performance.now() + GRACE_MS;
      });
    filling = { index: id, done };
    return done;
  };

  /** The index of this deployment's first document. */
  const first = async ({ wanted }: Plan): Promise<string | undefined> => {
    if (wanted.length === 0) return undefined;
    const id = newIndexId(deps.prefix);
    await index.create(id);
    if (!(await place.begin({ index: id, version: INDEX_VERSION }))) throw new Error("another index serves by now");
    return id;
  };

  const take = async ({ serving, position, shown }: Place): Promise<boolean> => {
    const from = serving ? Math.max(at, position) : at;
    const { events, seen } = await log.scan(from, FOLLOWED, BATCH);
    const plan = await planFor(log, events, contents);
    const [due, later] = partition([...older, ...plan.older], (one) => one.position <= shown);
    const superseded = [...plan.deleted, ...due];
    const id = serving?.index ?? (await first(plan));
    const wanted = [...plan.wanted, ...(await refusals.due(log))];
    if (id && wanted.length + superseded.length > 0) {
      const refused = await apply(deps, id, { wanted, superseded }, contents);
      refusals.note(wanted, refused);
      deps.failpoint("after-passages-put");
      await report(deps, plan.wanted, refused);
      deps.failpoint("after-indexed");
    }
    if (events.length > 0 || at === 0) led = seen;
    [at, older] = [seen, later];
    // other events pass by the thousand
    if (events.length + due.length > 0 || performance.now() > advanceAt) {
      await place.advance(Math.min(seen, ...later.map((one) => one.position - 1)));
      advanceAt = performance.now() + ADVANCE_EVERY_MS;
    }
    return events.length === BATCH;
  };

  const clean = async (serving: Serving): Promise<void> => {
    for (const id of await index.list()) if (id !== serving.index && id !== filling?.index) await index.drop(id);
    cleanAt = performance.now() + CLEAN_EVERY_MS;
  };

  /** The first question in Chinese waits 3.9 s for its dictionary, unless somebody has asked before. */
  const warm = (id: string): void => {
    if (id === warmed) return;
    warmed = id;
    index.warm(id).catch((error: unknown) => {
      warmed = undefined;
      deps.onError(error);
    });
  };

  /** Takes out what is too much; answers whether passages are missing. */
  const isShort = async ({ index: serving }: Serving, shown: number): Promise<boolean> => {
    const found = await reconcile({ serving, led, shown, except: refusals.documents() });
    if (!found) return false;
    if (found.surplus.length > 0) {
      deps.onError(
        new Surplus(`the index ${serving} had ${found.surplus.length} generations that are deleted or superseded`),
      );
      await takeOut(deps, serving, found.surplus);
    }
    const { short } = found;
    if (short) deps.onError(new IndexLost(`the index ${serving} has ${short.there} of ${short.shown} passages`));
    return short !== undefined;
  };

  /** One step of the serving index; answers whether there is more, or which index was lost. */
  const step = async (): Promise<boolean | { lost: string }> => {
    const looked = await place.look();
    const { serving, asked } = looked;
    if (serving && performance.now() > lookAt) {
      if (!(await index.exists(serving.index))) {
        deps.onError(new IndexLost(`the index ${serving.index} is gone or was emptied`));
        return { lost: serving.index };
      }
      warm(serving.index);
      lookAt = performance.now() + LOOK_EVERY_MS;
    }
    const isOld = serving && serving.version < INDEX_VERSION && performance.now() > versionAt;
    if (serving && !filling && (asked || isOld)) void fill(serving.index).catch(deps.onError);
    if (serving && performance.now() > cleanAt) await clean(serving);
    try {
      const more = await take(looked);
      if (serving && !more && !filling && (await isShort(serving, looked.shown))) return { lost: serving.index };
      return more;
    } catch (error) {
      if (serving && error instanceof IndexLost) return { lost: serving.index };
      throw error;
    }
  };

  let wait = 0;
  while (!signal.aborted)
    try {
      const more = await lock(step);
      if (typeof more === "object") await fill(more.lost);
      else if (!more) await pace();
      wait = 0;
    } catch (error) {
      if (signal.aborted) break;
      deps.onError(error);
      warmed = undefined;
      wait = Math.min(2 * wait + 100, LONGEST_WAIT_MS);
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  await filling?.done.catch(() => {});
}

function partition<T>(items: T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
