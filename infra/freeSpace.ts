import { access, constants, statfs } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { SPACE_RULES, SPACE_USES, STORES, type FreeSpace, type SpaceUse, type Store } from "#events/freeSpace.ts";
import type { Settings } from "./config.ts";

const EVERY_MS = 2_000;
/** Refused work is accepted again when this many times its share is free, so that it does not flap around one value. */
const ENOUGH = 1.2;

/** `free`: a share from 0 to 1. It is 0 if nothing can be written at all; `problem` says why. */
export interface DiskSpace {
  free: number;
  problem?: string;
}
type Disks = Partial<Record<Store, DiskSpace>>;

/** Decides what to refuse. `before`: what is refused now. `percent`: the share of each level. */
export function judgeSpace(disks: Disks, percent: readonly number[], before: ReadonlySet<SpaceUse>): Set<SpaceUse> {
  return new Set(
    SPACE_USES.filter((use) => {
      const { level, stores } = SPACE_RULES[use];
      const needed = (percent[level]! / 100) * (before.has(use) ? ENOUGH : 1);
      return stores.some((store) => {
        const disk = disks[store];
        // a disk that cannot be written for another reason reports that itself
        return disk !== undefined && disk.problem === undefined && disk.free < needed;
      });
    }),
  );
}

type ServerSettings = Pick<Settings, "DATA_DIR" | "DATABASE_URL" | "NATS_URL" | "MEILI_URL">;

/** The known store folders: the blobs, and the servers that run here. */
export function storeFolders({ DATA_DIR, DATABASE_URL, NATS_URL, MEILI_URL }: ServerSettings) {
  const elsewhere = join(DATA_DIR, "postgres.path");
  const postgres = (): string =>
    join(existsSync(elsewhere) ? readFileSync(elsewhere, "utf8").trim() : DATA_DIR, "postgres");
  return {
    blobs: join(DATA_DIR, "blobs"),
    ...(DATABASE_URL === undefined && { postgres: postgres() }),
    ...(NATS_URL === undefined && { nats: join(DATA_DIR, "nats") }),
    ...(MEILI_URL === undefined && { meilisearch: join(DATA_DIR, "meili") }),
  } satisfies Partial<Record<Store, string>>;
}

/** Undefined if the folder does not exist, because its server runs elsewhere. For blobs, also checks that this process can write. */
async function readDisk(store: Store, folder: string): Promise<DiskSpace | undefined> {
  try {
    const { bavail, blocks } = await statfs(folder);
    if (store === "blobs") await access(folder, constants.W_OK);
    return { free: bavail / blocks };
  } catch (error) {
    if (store !== "blobs") return undefined;
    return { free: 0, problem: `nothing can be written: ${(error as NodeJS.ErrnoException).code}` };
  }
}

interface Options {
  folders: Partial<Record<Store, string>>;
  percent: readonly number[];
  logger: Logger;
  read?: typeof readDisk;
}

export interface SpaceWatch extends FreeSpace {
  /** Reads the disks now. */
  look(): Promise<Disks>;
  stop(): void;
}

/** Watches the disks of the stores. Resolves after the first look. */
export async function watchFreeSpace({ folders, percent, logger, read = readDisk }: Options): Promise<SpaceWatch> {
  let refused = new Set<SpaceUse>();
  let looking: Promise<Disks> | undefined;

  const readAll = async (): Promise<Disks> => {
    const known = STORES.flatMap((store) => (folders[store] === undefined ? [] : [[store, folders[store]] as const]));
    const found = await Promise.all(known.map(async ([store, folder]) => [store, await read(store, folder)] as const));
    const disks = Object.fromEntries(found.filter(([, disk]) => disk)) as Disks;
    const next = judgeSpace(disks, percent, refused);
    const isChanged = next.symmetricDifference(refused).size > 0;
    refused = next;
    if (isChanged && next.size > 0)
      logger.error({ refused: [...next], disks }, "disk almost full, new work is refused");
    else if (isChanged) logger.info({ disks }, "disks have space again");
    return disks;
  };
  // a network file system may hang, so there is only one look at a time
  const look = (): Promise<Disks> => (looking ??= readAll().finally(() => (looking = undefined)));

  await look();
  const timer = setInterval(() => void look(), EVERY_MS).unref();
  return { isRefused: (use) => refused.has(use), look, stop: () => clearInterval(timer) };
}
