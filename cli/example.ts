import { rmSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "#infra/config.ts";
import { writePrivate } from "#infra/privateFiles.ts";
import { loadCredentials } from "./credentials.ts";
import type { Credentials } from "./organization.ts";
import { seed } from "./seed.ts";

type ExampleSettings = Pick<Settings, "DATA_DIR" | "BASE_URL" | "SEED" | "DATABASE_URL" | "OFFLINE_MODELS">;

/** Exists from the first start until the example is complete, so that the next start completes what a killed one began. */
const markerFile = ({ DATA_DIR }: ExampleSettings): string => join(DATA_DIR, "example.pending");

/** Call it before the first credentials are saved: later starts only complete an unfinished example. */
export function planExample(settings: ExampleSettings): void {
  if (loadCredentials(settings) || !settings.SEED || settings.DATABASE_URL) return;
  writePrivate(markerFile(settings), "");
}

/** Creates the planned example. A failure does not prevent the start; the next one tries again. */
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
