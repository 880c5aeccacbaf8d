import { existsSync } from "node:fs";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Problem } from "../problem.ts";

const NODE = { major: 24, minor: 12 };
const GIB = 1024 ** 3;
const LEAST_FREE = GIB;

export function nodeVersion(): string {
  const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];
  if (major > NODE.major || (major === NODE.major && minor >= NODE.minor)) return process.versions.node;
  throw new Problem(
    `this is Node ${process.versions.node}`,
    `run it with node svc.mjs, or install Node ${NODE.major}.${NODE.minor} or newer`,
  );
}

/** The folder, or where it would be made. */
function standing(folder: string): string {
  const path = resolve(folder);
  return existsSync(path) || dirname(path) === path ? path : standing(dirname(path));
}

export async function writableFolder(folder: string): Promise<string> {
  const path = standing(folder);
  const probe = await mkdtemp(join(path, ".doctor-")).catch((error: NodeJS.ErrnoException) => {
    throw new Problem(
      `${path} cannot be written to (${error.code})`,
      "give it to the user that runs the service, or set DATA_DIR",
    );
  });
  await rm(probe, { recursive: true });
  return path === resolve(folder) ? path : `${resolve(folder)} is made at the first start`;
}

export async function freeDisk(folder: string): Promise<string> {
  const { bavail, bsize } = await statfs(standing(folder));
  const free = `${((bavail * bsize) / GIB).toFixed(1)} GiB free`;
  if (bavail * bsize >= LEAST_FREE) return free;
  throw new Problem(free, "make room: the log and the blobs need at least 1 GiB");
}
