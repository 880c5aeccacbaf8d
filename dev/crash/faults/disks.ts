import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, renameSync, rmSync, statfsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const PAGE_BYTES = 4_096;
const ROOM_BYTES = 1024 ** 3;

/** A disk of its own for the blobs, in memory. */
export interface Disk {
  /** Leaves no byte free; resolves when there is space again. */
  fill(ms: number): Promise<void>;
  /** Moves the files to the disk below, and unmounts. */
  close(): void;
}

function mount(options: string, folder: string): void {
  try {
    execFileSync("/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    throw new Error(`--faults disk needs the right to mount: ${(error as Error).message}`, { cause: error });
  }
}

/** Throws where mounting is not permitted. */
export function openDisk(folder: string): Disk {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  mount(`size=${ROOM_BYTES},mode=0700`, folder);
  const resize = (bytes: number) => mount(`remount,size=${bytes}`, folder);
  const usedBytes = () => {
    const { blocks, bfree, bsize } = statfsSync(folder);
    return Math.max(PAGE_BYTES, (blocks - bfree) * bsize);
  };
  return {
    async fill(ms) {
      resize(usedBytes());
      await sleep(ms);
      resize(ROOM_BYTES);
    },
    close() {
      const copy = `${folder}.copy`;
      cpSync(folder, copy, { recursive: true });
      execFileSync("/bin/umount", [folder]);
      rmSync(folder, { recursive: true });
      renameSync(copy, folder);
    },
  };
}
