import type { Settings } from "#infra/config.ts";
import { runningAddresses } from "#infra/embedded/addresses.ts";
import { addressOf, hostOf } from "../connect.ts";
import { Problem } from "../problem.ts";

const WAIT_MS = 3_000;

/** Whether Meilisearch answers, and takes the master key. */
export async function searchVersion(settings: Settings): Promise<string> {
  const address = addressOf(settings, "meili_url");
  const key = settings.MEILI_MASTER_KEY ?? runningAddresses(settings.DATA_DIR)?.meili_master_key;
  const asked = { headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(WAIT_MS) };
  const response = await fetch(new URL("/version", address), asked).catch(() => {
    throw new Problem(`nothing answers at ${hostOf(address)}`, "see that it runs and that MEILI_URL is right");
  });
  if (response.status === 401 || response.status === 403)
    throw new Problem("it refuses the key", "set MEILI_MASTER_KEY to the server's own");
  if (!response.ok) throw new Problem(`it answered ${response.status}`, "see Meilisearch's own log");
  return ((await response.json()) as { pkgVersion: string }).pkgVersion;
}
