import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Db } from "#projections/projection.ts";
import { openKeyring } from "./keyring.ts";

type Where = { MASTER_KEY?: string | undefined; DATA_DIR: string };

const FIRST_SEALED = `
  select e.position, k.thing, k.wrapped, e.sealed from log.events e join log.keys k on k.thing = e.thing
   where e.sealed is not null order by e.position limit 1`;

/** The key is not the one with which the log was written, or lies nowhere. */
export class MasterKeyError extends Error {
  override name = "MasterKeyError";
  readonly what: string;
  readonly next = "set the MASTER_KEY (or restore DATA_DIR/master.key) with which this log was written";
  constructor(source: string, what: string) {
    super();
    this.what = what;
    this.message = `MASTER_KEY (${source}) is not right, ${what}: ${this.next}.`;
  }
}

interface FirstSealed {
  position: number;
  thing: string;
  wrapped: string;
  sealed: Buffer;
}

/** The oldest event that can be read; it says with which key the log began, even where others wrote with a wrong one later. */
async function firstSealed(db: Db): Promise<FirstSealed | undefined> {
  const [log] = await db.query<{ there: boolean }>("select to_regclass('log.keys') is not null as there");
  return log!.there ? (await db.query<FirstSealed>(FIRST_SEALED))[0] : undefined;
}

function opens(key: Buffer, { thing, wrapped, sealed }: FirstSealed): boolean {
  try {
    openKeyring(key).open(thing, wrapped, sealed);
    return true;
  } catch {
    return false;
  }
}

function madeIn(folder: string, path: string): void {
  mkdirSync(folder, { recursive: true });
  try {
    // "wx": of two processes that start at once, one makes the key and the other reads it.
    writeFileSync(path, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * The key that wraps all others, base64: the setting, else the one in the data folder, which is made where nothing is sealed
 * yet; and the position of the event that it was tried on. Throws MasterKeyError for any other key than the database's own.
 */
export async function masterKey(settings: Where, db: Db): Promise<{ key: string; opens: number | undefined }> {
  const path = join(settings.DATA_DIR, "master.key");
  const source = settings.MASTER_KEY ? "from the environment" : `from ${path}`;
  const first = await firstSealed(db);
  if (!settings.MASTER_KEY && !existsSync(path)) {
    if (first) throw new MasterKeyError(source, "there is no such file");
    madeIn(settings.DATA_DIR, path);
  }
  const key = settings.MASTER_KEY ?? readFileSync(path, "utf8").trim();
  const bytes = Buffer.from(key, "base64");
  if (bytes.length !== 32) throw new MasterKeyError(source, "it is not 32 bytes in base64");
  if (first && !opens(bytes, first)) throw new MasterKeyError(source, `it does not open event ${first.position}`);
  return { key, opens: first?.position };
}
