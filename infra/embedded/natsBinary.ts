import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { fetchRelease } from "./natsRelease.ts";

const runCommand = promisify(execFile);

const isExecutable = (path: string) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

export const findOnPath = (name: string) =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isExecutable);

// apt with its own lists and cache, so that it needs no root and does not change the system.
const fetchDebian = async (folder: string) => {
  for (const name of ["lists/partial", "archives/partial"]) mkdirSync(join(folder, name), { recursive: true });
  const dirs = {
    "Dir::State::lists": join(folder, "lists"),
    "Dir::Cache": folder,
    "Debug::NoLocking": "1",
    "APT::Sandbox::User": "",
  };
  const options = Object.entries(dirs).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  await runCommand("apt-get", ["-q", ...options, "update"], { cwd: folder, timeout: 120_000 });
  await runCommand("apt-get", ["-q", ...options, "download", "nats-server"], { cwd: folder, timeout: 120_000 });
  const archive = readdirSync(folder).find((name) => name.endsWith(".deb"));
  if (!archive) throw new Error("apt-get downloaded no package");
  await runCommand("dpkg-deb", ["-x", join(folder, archive), join(folder, "package")]);
  return join(folder, "package", "usr", "sbin", "nats-server");
};

const sources = () => [
  ...(findOnPath("apt-get") && findOnPath("dpkg-deb") ? [{ name: "Debian's package", fetch: fetchDebian }] : []),
  { name: "the release on GitHub", fetch: fetchRelease },
];

/**
 * The path of a nats-server: the one on PATH, else one downloaded earlier, else a new download of Debian's package or the
 * release, stored in `runtimeDir`. Throws a one-line error when there is none.
 */
export const natsBinary = async (runtimeDir: string, onLine: (line: string) => void): Promise<string> => {
  const downloaded = join(runtimeDir, "nats-server");
  const found = findOnPath("nats-server") ?? (existsSync(downloaded) ? downloaded : undefined);
  if (found) return found;
  const reasons: string[] = [];
  mkdirSync(runtimeDir, { recursive: true });
  for (const { name, fetch } of sources()) {
    onLine(`Downloading nats-server: ${name}`);
    const folder = mkdtempSync(join(runtimeDir, "fetch-"));
    try {
      renameSync(await fetch(folder), downloaded);
      return downloaded;
    } catch (error) {
      const output = String((error as { stderr?: string }).stderr || error).trim();
      reasons.push(`${name}: ${output.split("\n").at(-1)}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new Error(`There is no nats-server program (${reasons.join("; ")}): install it on PATH, or set NATS_URL.`);
};
