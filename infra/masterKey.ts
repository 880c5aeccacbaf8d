import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The key that wraps all others, base64: the setting, else the one in the data folder, made at the first start. */
export function masterKey(settings: { MASTER_KEY?: string | undefined; DATA_DIR: string }): string {
  if (settings.MASTER_KEY) return settings.MASTER_KEY;
  const path = join(settings.DATA_DIR, "master.key");
  mkdirSync(settings.DATA_DIR, { recursive: true });
  try {
    // "wx": of two processes that start at once, one makes the key and the other reads it.
    writeFileSync(path, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readFileSync(path, "utf8").trim();
}
