import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findOnPath } from "./findOnPath.ts";
import { natsSources, NEWEST_DEBIAN_RELEASE, type NatsSource } from "./natsRelease.ts";

/**
 * The path of a nats-server: the one on PATH, else the newest one downloaded earlier, else a new download of a pinned release,
 * stored in `runtimeDir`. Throws a one-line error when there is none.
 */
export const natsBinary = async (
  runtimeDir: string,
  onLine: (line: string) => void,
  sources: NatsSource[] = natsSources(),
): Promise<string> => {
  const pathOf = ({ version }: NatsSource) => join(runtimeDir, `nats-server-${version}`);
  const found = findOnPath("nats-server") ?? sources.map(pathOf).find((path) => existsSync(path));
  if (found) return found;
  const reasons: string[] = [];
  mkdirSync(runtimeDir, { recursive: true });
  for (const source of sources) {
    onLine(`Downloading nats-server: ${source.name}`);
    if (source.version !== NEWEST_DEBIAN_RELEASE.version)
      onLine(`This is older than ${NEWEST_DEBIAN_RELEASE.version}, which could not be had.`);
    const folder = mkdtempSync(join(runtimeDir, "fetch-"));
    try {
      renameSync(await source.fetch(folder), pathOf(source));
      return pathOf(source);
    } catch (error) {
      const output = String((error as { stderr?: string }).stderr || error).trim();
      reasons.push(`${source.name}: ${output.split("\n").at(-1)}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new Error(`There is no nats-server program (${reasons.join("; ")}): install it on PATH, or set NATS_URL.`);
};
