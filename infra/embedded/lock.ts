import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcess, isGoneWithin } from "./end.ts";
import { claimFile, readJson, writePrivate } from "./files.ts";
import { isAlive, markOf, type Mark } from "./mark.ts";

/** `launcher` is the svc.mjs that started the holder: a holder that outlived it is an orphan. */
type Holder = Mark & { launcher?: Mark; stopping?: true };
export type Lock = { stopping: () => void; release: () => void };

const launcher = () => (process.env["SVC_LAUNCHER"] === String(process.ppid) ? markOf(process.ppid) : undefined);
const isOrphan = (holder: Holder) => holder.launcher !== undefined && !isAlive(holder.launcher);

// Takes away a lock whose holder is dead; one that somebody else took in the same moment is put back.
const clearStale = (path: string) => {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = readJson<Holder>(aside);
  if (moved && isAlive(moved)) claimFile(path, JSON.stringify(moved));
  rmSync(aside, { force: true });
};

// A holder gets a second to go or to say that it is stopping, so that a start right after a stop works.
const leaves = async (path: string, holder: Holder, onLine: (line: string) => void) => {
  if (isOrphan(holder)) {
    onLine(`Ending process ${holder.pid}, left over from an earlier start`);
    await endProcess(holder, "SIGTERM", 20_000);
    return true;
  }
  for (let waits = 0; waits < 10; waits++) {
    if (!isAlive(holder)) return true;
    if (readJson<Holder>(path)?.stopping) return isGoneWithin(holder, 30_000);
    await sleep(100);
  }
  return false;
};

/** Takes the data folder for this process. Throws a one-line error that names the pid while another live process has it. */
export const takeLock = async (dataDir: string, onLine: (line: string) => void): Promise<Lock> => {
  const path = join(dataDir, "run", "lock");
  const own: Holder = { ...markOf(process.pid), launcher: launcher() };
  while (!claimFile(path, JSON.stringify(own))) {
    const holder = readJson<Holder>(path);
    if (holder && isAlive(holder) && !(await leaves(path, holder, onLine)))
      throw new Error(
        `Already running as process ${holder.pid} on ${dataDir}: stop that one, or give another DATA_DIR.`,
      );
    clearStale(path);
  }
  return {
    stopping: () => writePrivate(path, JSON.stringify({ ...own, stopping: true })),
    release: () => rmSync(path, { force: true }),
  };
};
