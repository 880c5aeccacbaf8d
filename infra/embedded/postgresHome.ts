import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { chownSync, existsSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writePrivate } from "./files.ts";
import { copyBinaries, postgresBinaries } from "./postgresBinaries.ts";

type User = { uid: number; gid: number };
export type PostgresHome = { binaries: string; data: string; user?: User };

const id = (flag: "-u" | "-g", name: string) =>
  Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));

// PostgreSQL refuses to run as root. `postgres` exists where a system package was installed, `nobody` everywhere.
const unprivileged = (): User => {
  for (const name of ["postgres", "nobody"]) {
    try {
      return { uid: id("-u", name), gid: id("-g", name) };
    } catch {
      // the next name
    }
  }
  throw new Error(
    "PostgreSQL does not run as root, and there is no user postgres or nobody: run as another user, or give DATABASE_URL.",
  );
};

const reaches = (user: User, path: string) =>
  spawnSync("/bin/sh", ["-c", 'test -x "$1"', "sh", path], { ...user, stdio: "ignore", cwd: "/" }).status === 0;

// Everybody can write to /var/tmp: a folder there is ours only when we own it and nobody else can change it.
const checked = (path: string) => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found)
    throw new Error(
      `${path} is gone: restore PostgreSQL's files there, or remove postgres.path from the data folder to begin anew.`,
    );
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0)
    throw new Error(`${path} is not a folder that only this user can change: remove it, then start again.`);
  return path;
};

// Random, so that a data folder removed and made again does not meet the files of the first.
const makeElsewhere = (dataDir: string, note: string) => {
  const path = join(
    "/var/tmp",
    `svc-${createHash("sha256").update(dataDir).update(randomBytes(16)).digest("hex").slice(0, 16)}`,
  );
  mkdirSync(path, { mode: 0o755 });
  writePrivate(note, path);
  return path;
};

const made = (path: string) => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
};

const owned = (path: string, user: User) => {
  made(path);
  chownSync(path, user.uid, user.gid);
  return path;
};

type Line = (line: string) => void;

const dataFor = (user: User, dataDir: string, onLine: Line) => {
  const note = join(dataDir, "postgres.path");
  if (!existsSync(note) && reaches(user, dataDir)) return owned(join(dataDir, "postgres"), user);
  const away = existsSync(note) ? checked(readFileSync(note, "utf8").trim()) : makeElsewhere(dataDir, note);
  onLine(`PostgreSQL runs as user ${user.uid}, which cannot enter ${dataDir}: its data is in ${away}`);
  return owned(join(away, "postgres"), user);
};

const binariesFor = (user: User, onLine: Line) => {
  const { folder, version } = postgresBinaries();
  if (reaches(user, join(folder, "bin", "postgres"))) return folder;
  const copy = `/var/tmp/svc-postgres-${version}-${process.arch}`;
  if (!existsSync(copy))
    onLine(`PostgreSQL runs as user ${user.uid}, which cannot enter ${folder}: copying it to ${copy}`);
  copyBinaries(folder, copy);
  return checked(copy);
};

/**
 * Where PostgreSQL's data and programs lie and as whom it runs: as ourselves in the data folder; as root, as an unprivileged user, and under
 * /var/tmp what that user cannot reach (`postgres.path` in the data folder then says where the data is).
 */
export const postgresHome = (dataDir: string, onLine: Line): PostgresHome => {
  if (process.getuid?.() !== 0) return { binaries: postgresBinaries().folder, data: made(join(dataDir, "postgres")) };
  const user = unprivileged();
  return { user, binaries: binariesFor(user, onLine), data: dataFor(user, dataDir, onLine) };
};
