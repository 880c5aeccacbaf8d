import { listRunFiles } from "#projections/files/query.ts";
import { hasProjected } from "#projections/progress.ts";
import type { Db } from "#projections/projection.ts";
import { listRunThreads } from "#projections/turns/threads.ts";

/** What a run's steps started and saved; undefined until the read models have passed the position. */
export const findRunBelongings = (db: Db) => async (organization: string, run_id: string, position: number) => {
  if (!(await hasProjected(db, ["turns", "files"], position))) return undefined;
  const threads = await listRunThreads(db, organization, run_id);
  return { threads, files: await listRunFiles(db, organization, run_id) };
};
