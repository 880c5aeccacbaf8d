import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmdirSync, rmSync, statfsSync, truncateSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { syncFolder } from "#infra/folders.ts";
import { STORES, type Store } from "./surroundings.ts";

/** Size of each disk. Its image is a sparse file. */
const ROOM_BYTES = 3 * 1024 ** 3;
const FOLDERS: Record<Store, string> = { postgres: "postgres", nats: "nats", meilisearch: "meili", blobs: "blobs" };
/** Milliseconds for which writes are blocked, and then allowed, in turn. */
const FROZEN_MS = 2_000;
const THAWED_MS = 300;
/** How long unmounting a disk in use is retried. */
const BUSY_MS = 15_000;
/** ext4's ioctl that discards everything not flushed, with the flag for discarding the journal as well. */
const SHUT_DOWN = `open(my $disk, "<", $ARGV[0]) or die $!; my $flag = pack("L", 2); ioctl($disk, 0x8004587d, $flag) or die $!;`;

/** Ends the processes that use a disk. Resolves with a function that lets them start again. */
export type Release = () => Promise<() => void>;

/** A separate disk for each store. */
export interface Disks {
  /** Fills the disk completely. Resolves when it has space again. */
  fill(store: Store, ms: number): Promise<void>;
  /** Delays writes. Resolves when they are fast again. */
  slowDown(store: Store, ms: number): Promise<void>;
  /** Refuses writes, as after a hardware error. Resolves when the disk is mounted again, without its users. */
  refuseWrites(store: Store, ms: number, release: Release): Promise<void>;
  /** Discards everything that had not reached the disks. Resolves when they are mounted again, without their users. */
  cut(stores: readonly Store[], release: Release): Promise<void>;
  /** Moves the files back to the underlying disk, and unmounts. */
  close(): void;
}

const run = (file: string, ...args: string[]): string => execFileSync(file, args, { stdio: "pipe", encoding: "utf8" });

async function untilFree(work: () => void): Promise<void> {
  for (const until = performance.now() + BUSY_MS; ; await sleep(100))
    try {
      return work();
    } catch (error) {
      if (performance.now() > until) throw error;
    }
}

function mount(image: string, folder: string): void {
  try {
    run("mount", "-o", "loop,errors=remount-ro", image, folder);
  } catch (error) {
    const problem = "--faults disk, readonly, slow and power need the right to mount a file as a disk";
    throw new Error(`${problem}: ${(error as Error).message}`, { cause: error });
  }
}

/** Checks the file system, as a machine does at boot. Otherwise space that was being freed when the disk broke would stay taken. */
function repair(image: string): void {
  const { status, stdout } = spawnSync("e2fsck", ["-f", "-y", image], { encoding: "utf8" });
  // 1: errors were corrected
  if (status === null || status > 1) throw new Error(`e2fsck ${image} ends with ${status}: ${stdout}`);
}

function fillUp(folder: string): string {
  const file = join(folder, "lost+found", "filler");
  const { bavail, bsize } = statfsSync(folder);
  const size = Math.floor(bavail * bsize * 0.98);
  // fallocate refuses a size of 0, and a disk may be full already
  if (size > 0) run("fallocate", "-l", String(size), file);
  const rest = Buffer.alloc(bsize);
  try {
    for (;;) writeFileSync(file, rest, { flag: "a" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
  return file;
}

/** Moves the files to the underlying disk, where the checker reads them. */
function moveDown(folder: string): void {
  rmSync(join(folder, "lost+found"), { recursive: true, force: true });
  const copy = `${folder}.copy`;
  run("cp", "-a", folder, copy);
  run("umount", folder);
  rmdirSync(folder);
  run("mv", copy, folder);
}

/** Throws if mounting is not permitted. */
export function openDisks(data: string, images: string): Disks {
  mkdirSync(images, { recursive: true, mode: 0o700 });
  const folderOf = (store: Store) => join(data, FOLDERS[store]);
  const imageOf = (store: Store) => join(images, store);
  for (const store of STORES) {
    writeFileSync(imageOf(store), "");
    truncateSync(imageOf(store), ROOM_BYTES);
    run("mkfs.ext4", "-q", "-F", "-m", "0", imageOf(store));
    mkdirSync(folderOf(store), { recursive: true, mode: 0o700 });
    mount(imageOf(store), folderOf(store));
  }

  const mountAgain = async (stores: readonly Store[], release: Release): Promise<void> => {
    const start = await release();
    try {
      for (const store of stores) {
        await untilFree(() => void run("umount", folderOf(store)));
        repair(imageOf(store));
        mount(imageOf(store), folderOf(store));
      }
    } finally {
      start();
    }
  };
  return {
    async fill(store, ms) {
      const file = fillUp(folderOf(store));
      await sleep(ms);
      rmSync(file, { force: true });
      // otherwise a disk that breaks right after would contain the file again, and stay full
      await syncFolder(dirname(file));
    },
    async slowDown(store, ms) {
      for (const until = performance.now() + ms; performance.now() < until; await sleep(THAWED_MS)) {
        run("fsfreeze", "--freeze", folderOf(store));
        await sleep(FROZEN_MS).finally(() => run("fsfreeze", "--unfreeze", folderOf(store)));
      }
    },
    async refuseWrites(store, ms, release) {
      const device = basename(run("findmnt", "-no", "SOURCE", folderOf(store)).trim());
      // not in this thread: the first milliseconds after the error are the most difficult for those who write
      await writeFile(`/sys/fs/ext4/${device}/trigger_fs_error`, "1");
      await sleep(ms);
      await mountAgain([store], release);
    },
    async cut(stores, release) {
      for (const store of stores) run("perl", "-e", SHUT_DOWN, folderOf(store));
      await mountAgain(stores, release);
    },
    close() {
      for (const store of STORES) if (existsSync(folderOf(store))) moveDown(folderOf(store));
      rmSync(images, { recursive: true });
    },
  };
}
