import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Db } from "#projections/projection.ts";
import { makeFolder } from "./folders.ts";
import { openKeyring } from "./keyring.ts";
import { loadSecret } from "./privateFiles.ts";

type KeySettings = { MASTER_KEY?: string | undefined; DATA_DIR: string };

const FIRST_SEALED = `
  select e.position, k.thing, k.wrapped, e.sealed from log.events e join log.keys k on k.thing = e.thing
   where e.sealed is not null order by e.position limit 1`;

/** The key is missing, or is not the one that the log was written with. */
export class MasterKeyError extends Error {
  override name = "MasterKeyError";
  readonly what: string;
  readonly next = "set the MASTER_KEY (or restore DATA_DIR/master.key) that this log was written with";
  constructor(source: string, what: string) {
    super();
    this.what = what;
    this.message = `MASTER_KEY (${source}) is wrong, ${what}: ${this.next}.`;
  }
}

interface SealedSample {
  position: number;
  thing: string;
  wrapped: string;
  sealed: Buffer;
}

/** The oldest sealed event. It identifies the key the log started with, even if a process later wrote with a wrong one. */
async function findFirstSealed(db: Db): Promise<SealedSample | undefined> {
  const [log] = await db.query<{ there: boolean }>("select to_regclass('log.keys') is not null as there");
  return log!.there ? (await db.query<SealedSample>(FIRST_SEALED))[0] : undefined;
}

function opens(key: Buffer, { thing, wrapped, sealed }: SealedSample): boolean {
  try {
    openKeyring(key).open(thing, wrapped, sealed);
    return true;
  } catch {
    return false;
  }
}

/**
 * The key that wraps all others, in base64: from the settings, otherwise from the data folder. There it is created if the log has
 * no sealed event yet. `opens`: position of the event it was tested on. Throws MasterKeyError if the key is wrong.
 */
export async function loadMasterKey(
  settings: KeySettings,
  db: Db,
): Promise<{ key: string; opens: number | undefined }> {
  const path = join(settings.DATA_DIR, "master.key");
  const source = settings.MASTER_KEY ? "from the environment" : `from ${path}`;
  const first = await findFirstSealed(db);
  if (!settings.MASTER_KEY && !existsSync(path)) {
    if (first) throw new MasterKeyError(source, "the file does not exist");
    await makeFolder(resolve(settings.DATA_DIR));
  }
  const key = settings.MASTER_KEY ?? loadSecret(path, "base64");
  const bytes = Buffer.from(key, "base64");
  if (bytes.length !== 32) throw new MasterKeyError(source, "it is not 32 bytes in base64");
  if (first && !opens(bytes, first)) throw new MasterKeyError(source, `it does not open event ${first.position}`);
  return { key, opens: first?.position };
}
