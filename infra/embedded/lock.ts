import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcess, endsWithin } from "./endProcess.ts";
import { claimFile, readJson, writePrivate } from "../privateFiles.ts";
import { isAlive, identifyProcess, type ProcessIdentity } from "./processIdentity.ts";

/** `launcher`: the svc.mjs that started the holder. A holder that outlives it is an orphan. */
type Holder = ProcessIdentity & { launcher?: ProcessIdentity; stopping?: true };
export type Lock = { markStopping: () => void; release: () => void };

const identifyLauncher = () =>
  process.env["SVC_LAUNCHER"] === String(process.ppid) ? identifyProcess(process.ppid) : undefined;
const isOrphan = (holder: Holder) => holder.launcher !== undefined && !isAlive(holder.launcher);

// Removes a lock whose holder is dead. If another process has acquired it meanwhile, its lock is restored.
const removeStaleLock = (path: string) => {
  const stale = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, stale);
  } catch {
    return;
  }
  const holder = readJson<Holder>(stale);
  if (holder && isAlive(holder)) claimFile(path, JSON.stringify(holder));
  rmSync(stale, { force: true });
};

// Gives a holder one second to end, or to announce that it is stopping, so that a start directly after a stop works.
const waitForRelease = async (path: string, holder: Holder, onLine: (line: string) => void) => {
  if (isOrphan(holder)) {
    onLine(`Ending process ${holder.pid}, left over from an earlier start`);
    await endProcess(holder, "SIGTERM", 20_000);
    return true;
  }
  for (let waits = 0; waits < 10; waits++) {
    if (!isAlive(holder)) return true;
    if (readJson<Holder>(path)?.stopping) return endsWithin(holder, 30_000);
    await sleep(100);
  }
  return false;
};

/** Locks the data folder for this process. If another process has the lock, throws a one-line error with its pid. */
export const acquireLock = async (dataDir: string, onLine: (line: string) => void): Promise<Lock> => {
  const path = join(dataDir, "run", "lock");
  const own: Holder = { ...identifyProcess(process.pid), launcher: identifyLauncher() };
  while (!claimFile(path, JSON.stringify(own))) {
    const holder = readJson<Holder>(path);
    if (holder && isAlive(holder) && !(await waitForRelease(path, holder, onLine)))
      throw new Error(
        `Already running as process ${holder.pid} on ${dataDir}: stop that process, or set another DATA_DIR.`,
      );
    removeStaleLock(path);
  }
  return {
    markStopping() {
      try {
        writePrivate(path, JSON.stringify({ ...own, stopping: true }));
      } catch {
        // the disk is full or the folder is gone: the servers must stop nevertheless, and a next start waits only a second
      }
    },
    release: () => rmSync(path, { force: true }),
  };
};
