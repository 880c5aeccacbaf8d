import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { chownSync, existsSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writePrivate } from "../privateFiles.ts";
import { copyBinaries, postgresBinaries } from "./postgresBinaries.ts";

type User = { uid: number; gid: number };
export type PostgresInstallation = { binaries: string; data: string; user?: User };

const readId = (flag: "-u" | "-g", name: string) =>
  Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));

// PostgreSQL refuses to run as root. `postgres` exists if a system package was installed, `nobody` always.
const findUnprivilegedUser = (): User => {
  for (const name of ["postgres", "nobody"]) {
    try {
      return { uid: readId("-u", name), gid: readId("-g", name) };
    } catch {
      // try the next name
    }
  }
  throw new Error(
    "PostgreSQL does not run as root, and there is no user postgres or nobody: run as another user, or set DATABASE_URL.",
  );
};

const canReach = (user: User, path: string) =>
  spawnSync("/bin/sh", ["-c", 'test -x "$1"', "sh", path], { ...user, stdio: "ignore", cwd: "/" }).status === 0;

// Every user can write to /var/tmp, so a folder there is only safe if we own it and nobody else can change it.
const requireOwnFolder = (path: string) => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats)
    throw new Error(
      `${path} is missing: restore PostgreSQL's files there, or remove postgres.path from the data folder to start with an empty database.`,
    );
  if (!stats.isDirectory() || stats.uid !== process.getuid?.() || (stats.mode & 0o022) !== 0)
    throw new Error(`${path} is not a folder that only this user can change: remove it, then start again.`);
  return path;
};

// A random name, so that a new data folder at the same path does not get the files of an earlier one.
const makeExternalFolder = (dataDir: string, note: string) => {
  const path = join(
    "/var/tmp",
    `svc-${createHash("sha256").update(dataDir).update(randomBytes(16)).digest("hex").slice(0, 16)}`,
  );
  mkdirSync(path, { mode: 0o755 });
  writePrivate(note, path);
  return path;
};

const makeFolder = (path: string) => {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
};

const makeFolderFor = (user: User, path: string) => {
  makeFolder(path);
  chownSync(path, user.uid, user.gid);
  return path;
};

type OnLine = (line: string) => void;

const prepareData = (user: User, dataDir: string, onLine: OnLine) => {
  const note = join(dataDir, "postgres.path");
  if (!existsSync(note) && canReach(user, dataDir)) return makeFolderFor(user, join(dataDir, "postgres"));
  const folder = existsSync(note)
    ? requireOwnFolder(readFileSync(note, "utf8").trim())
    : makeExternalFolder(dataDir, note);
  onLine(`PostgreSQL runs as user ${user.uid}, which cannot enter ${dataDir}: its data is in ${folder}`);
  return makeFolderFor(user, join(folder, "postgres"));
};

const prepareBinaries = (user: User, onLine: OnLine) => {
  const { folder, version } = postgresBinaries();
  if (canReach(user, join(folder, "bin", "postgres"))) return folder;
  const copy = `/var/tmp/svc-postgres-${version}-${process.arch}`;
  if (!existsSync(copy))
    onLine(`PostgreSQL runs as user ${user.uid}, which cannot enter ${folder}: copying it to ${copy}`);
  copyBinaries(folder, copy);
  return requireOwnFolder(copy);
};

/**
 * PostgreSQL's data folder, its programs and its user. Normally they are in our data folder and the user is ours. As root, the user
 * is an unprivileged one, and files it cannot reach in the data folder are in /var/tmp; `postgres.path` in the data folder names
 * their folder.
 */
export const preparePostgres = (dataDir: string, onLine: OnLine): PostgresInstallation => {
  if (process.getuid?.() !== 0)
    return { binaries: postgresBinaries().folder, data: makeFolder(join(dataDir, "postgres")) };
  const user = findUnprivilegedUser();
  return { user, binaries: prepareBinaries(user, onLine), data: prepareData(user, dataDir, onLine) };
};
