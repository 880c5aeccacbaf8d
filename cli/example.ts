import { rmSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "#infra/config.ts";
import { writePrivate } from "#infra/privateFiles.ts";
import { loadCredentials } from "./credentials.ts";
import type { Credentials } from "./organization.ts";
import { seed } from "./seed.ts";

type ExampleSettings = Pick<Settings, "DATA_DIR" | "BASE_URL" | "SEED" | "DATABASE_URL" | "OFFLINE_MODELS">;

/** Exists from the first start until its example is complete, so that a start that is killed is made up for by the next one. */
const markerFile = ({ DATA_DIR }: ExampleSettings): string => join(DATA_DIR, "example.pending");

/** Called before the first credentials are saved: later starts create no example unless this one left it incomplete. */
export function planExample(settings: ExampleSettings): void {
  if (loadCredentials(settings) || !settings.SEED || settings.DATABASE_URL) return;
  writePrivate(markerFile(settings), "");
}

/** Creates the planned example. One that cannot be created is no reason not to start: the next start tries again. */
export async function createExample(
  settings: ExampleSettings,
  address: string,
  credentials: Credentials,
  printLine: (text: string) => void,
): Promise<void> {
  if (!settings.SEED || !existsSync(markerFile(settings))) return;
  try {
    await seed(address, credentials, settings.OFFLINE_MODELS ? "offline/extractive" : null);
    rmSync(markerFile(settings), { force: true });
  } catch (error) {
    printLine(`The example could not be created: ${(error as Error).message}`);
  }
}
