import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { fetchRelease } from "./natsRelease.ts";

const run = promisify(execFile);

const isProgram = (path: string) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

export const onPath = (name: string) =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isProgram);

// apt with lists and cache of its own, so that it needs no root and changes nothing on the system.
const fetchDebian = async (folder: string) => {
  for (const name of ["lists/partial", "archives/partial"]) mkdirSync(join(folder, name), { recursive: true });
  const dirs = {
    "Dir::State::lists": join(folder, "lists"),
    "Dir::Cache": folder,
    "Debug::NoLocking": "1",
    "APT::Sandbox::User": "",
  };
  const options = Object.entries(dirs).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  await run("apt-get", ["-q", ...options, "update"], { cwd: folder, timeout: 120_000 });
  await run("apt-get", ["-q", ...options, "download", "nats-server"], { cwd: folder, timeout: 120_000 });
  const archive = readdirSync(folder).find((name) => name.endsWith(".deb"));
  if (!archive) throw new Error("apt-get downloaded no package");
  await run("dpkg-deb", ["-x", join(folder, archive), join(folder, "package")]);
  return join(folder, "package", "usr", "sbin", "nats-server");
};

const sources = () => [
  ...(onPath("apt-get") && onPath("dpkg-deb") ? [{ name: "Debian's package", fetch: fetchDebian }] : []),
  { name: "the release on GitHub", fetch: fetchRelease },
];

/** The path of a nats-server: the one on PATH, else one fetched before, else Debian's package or the release, kept in `runtimeDir`. Throws one line when none can be had. */
export const natsBinary = async (runtimeDir: string, onLine: (line: string) => void): Promise<string> => {
  const kept = join(runtimeDir, "nats-server");
  const found = onPath("nats-server") ?? (existsSync(kept) ? kept : undefined);
  if (found) return found;
  const reasons: string[] = [];
  mkdirSync(runtimeDir, { recursive: true });
  for (const { name, fetch } of sources()) {
    onLine(`Fetching nats-server: ${name}`);
    const folder = mkdtempSync(join(runtimeDir, "fetch-"));
    try {
      renameSync(await fetch(folder), kept);
      return kept;
    } catch (error) {
      reasons.push(
        `${name}: ${String((error as { stderr?: string }).stderr || error)
          .trim()
          .split("\n")
          .at(-1)}`,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new Error(
    `There is no nats-server (${reasons.join("; ")}): install it so that it is on PATH, or give NATS_URL.`,
  );
};
