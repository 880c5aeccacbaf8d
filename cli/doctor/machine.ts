import { existsSync } from "node:fs";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Settings } from "#infra/config.ts";
import { CliError } from "../cliError.ts";

const NODE = { major: 24, minor: 12 };
const GIB = 1024 ** 3;
const MIN_FREE_BYTES = GIB;

export function checkNode(): string {
  const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];
  if (major > NODE.major || (major === NODE.major && minor >= NODE.minor)) return process.versions.node;
  throw new CliError(
    `this is Node ${process.versions.node}`,
    `run it with node svc.mjs, or install Node ${NODE.major}.${NODE.minor} or newer`,
  );
}

/** The folder, or its nearest parent that exists. */
function nearestExisting(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

export async function checkDataFolder(folder: string): Promise<string> {
  const path = nearestExisting(folder);
  const probe = await mkdtemp(join(path, ".doctor-")).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      `${path} cannot be written to (${error.code})`,
      "make it writable for the user that runs the service, or set DATA_DIR",
    );
  });
  await rm(probe, { recursive: true });
  return path === resolve(folder) ? path : `${resolve(folder)} is created at the first start`;
}

/** Fails also if the service refuses new work because of this disk. */
export async function checkDisk({
  DATA_DIR,
  FREE_DISK_PERCENT: [first = 0],
}: Pick<Settings, "DATA_DIR" | "FREE_DISK_PERCENT">): Promise<string> {
  const { bavail, blocks, bsize } = await statfs(nearestExisting(DATA_DIR));
  const percent = (100 * bavail) / blocks;
  const free = `${((bavail * bsize) / GIB).toFixed(1)} GiB free`;
  if (bavail * bsize < MIN_FREE_BYTES)
    throw new CliError(free, "free disk space: the log and the blobs need at least 1 GiB");
  if (percent < first)
    throw new CliError(
      `${free}, ${percent.toFixed(1)} % of the disk`,
      `free disk space: below ${first} % new documents are refused, then runs and turns (FREE_DISK_PERCENT)`,
    );
  return free;
}
