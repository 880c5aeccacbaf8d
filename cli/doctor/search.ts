import type { Settings } from "#infra/config.ts";
import { runningAddresses } from "#infra/embedded/addresses.ts";
import { joinUrl } from "#infra/joinUrl.ts";
import { serviceAddress, displayHost } from "../connect.ts";
import { CliError } from "../cliError.ts";

const TIMEOUT_MS = 3_000;

/** Checks that Meilisearch answers and accepts the key. Answers with its version. */
export async function checkMeilisearch(settings: Settings): Promise<string> {
  const address = serviceAddress(settings, "meili_url");
  const key =
    settings.MEILI_API_KEY ?? settings.MEILI_MASTER_KEY ?? runningAddresses(settings.DATA_DIR)?.meili_master_key;
  const options = { headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(TIMEOUT_MS) };
  const response = await fetch(joinUrl(address, "/version"), options).catch(() => {
    const next = "check that it runs and that MEILI_URL is correct";
    throw new CliError(`nothing answers at ${displayHost(address)}`, next);
  });
  if (response.status === 401 || response.status === 403)
    throw new CliError(
      "it refuses the key",
      "set MEILI_MASTER_KEY to the server's key, or MEILI_API_KEY to a key with the right `version`",
    );
  if (!response.ok) throw new CliError(`it answered ${response.status}`, "read Meilisearch's log");
  return ((await response.json()) as { pkgVersion: string }).pkgVersion;
}
