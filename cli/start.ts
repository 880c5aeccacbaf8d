import { readSettings, type Settings } from "#infra/config.ts";
import { startServices } from "#infra/embedded/index.ts";
import { masterKey } from "#infra/masterKey.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import type { Opened } from "../roles/open.ts";
import { roles, runRoles, type Role } from "../roles/run.ts";
import { baseUrl, credentialsFile, keepCredentials, keptCredentials } from "./credentials.ts";
import { makeOrganization, type Credentials } from "./organization.ts";
import { table } from "./output.ts";

/** What still waits when all is stopped (a provider, a retry) is not waited for: what it would do is another process's. */
const LINGER_MS = 1_000;

const line = (text: string): void => void process.stderr.write(`${text}\n`);

/** The first organization's credentials: those in the data folder, else of an organization made now. */
async function firstCredentials(
  settings: Settings,
  { bus, log, db, keyring }: Opened,
  address: string,
): Promise<Credentials> {
  const base_url = baseUrl(settings, address);
  const kept = keptCredentials(settings);
  if (kept?.base_url === base_url) return kept;
  const made =
    kept ??
    (await makeOrganization({ sender: bus.sender(log), hints: bus.hints, db, keyring }, settings, "First organization"))
      .credentials;
  const credentials = { ...made, base_url };
  keepCredentials(settings, credentials);
  return credentials;
}

function welcome(
  settings: Settings,
  { address, nats_url }: { address: string; nats_url: string },
  { api_key, admin, organization_id, agent_id }: Credentials,
): string {
  const chat = `${address}/api/openai/v1`;
  const model = settings.OFFLINE_MODELS ? "offline/echo" : "openai/gpt-5-mini";
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] });
  return `
${table([
  ["Chat API", chat],
  ["Agent API", `${address}/api/agents/${agent_id}/v1`],
  ["Knowledge", `${address}/api/v1/knowledge`],
  ["Reference", `${address}/reference`],
  ["Events", `${nats_url}, subjects ${settings.BUS_PREFIX}.evt.v1.>`],
  ["Health", `${address}/readyz`],
  ["Organization", organization_id],
  ["API key", api_key],
  ["Sign in", `${admin.email} with ${admin.password}`],
  ["Kept in", credentialsFile(settings)],
])}

Try it:
curl ${chat}/chat/completions -H 'authorization: Bearer ${api_key}' -H 'content-type: application/json' -d '${body}'

Ctrl-C stops everything that was started.`;
}

/** Before anything is written, and with another key than the database's own nothing is. */
async function keyFor(settings: Settings, database_url: string): Promise<string> {
  const pool = openPool(database_url, { max: 1, name: "svc start" });
  try {
    return (await masterKey(settings, asDb(pool))).key;
  } finally {
    await pool.end();
  }
}

/** Runs roles until a signal comes; `all` also brings the embedded services and the first organization. */
export async function start(which: Role | "all"): Promise<void> {
  const settings = readSettings(process.env);
  const services = await startServices(settings, line);
  const stopping = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  try {
    const addresses = { ...services, master_key: await keyFor(settings, services.database_url) };
    const running = await runRoles(which === "all" ? roles : [which], { settings, addresses });
    try {
      if (which === "all")
        process.stdout.write(
          `${welcome(settings, { address: running.address!, nats_url: addresses.nats_url }, await firstCredentials(settings, running.opened, running.address!))}\n`,
        );
      else line(`${which} is running${running.address ? ` on ${running.address}` : ""}.`);
      await stopping;
      line("Stopping.");
    } finally {
      await running.stop();
    }
  } finally {
    await services.stop();
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}
