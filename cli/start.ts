import type { StartCodes } from "#http/base/startCodes.ts";
import { readSettings, type Settings } from "#infra/config.ts";
import { addressesFile } from "#infra/embedded/addresses.ts";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { loadMasterKey } from "#infra/masterKey.ts";
import { asDb, openPool } from "#infra/postgres/pool.ts";
import { waitForStart } from "#infra/postgres/waitForStart.ts";
import type { Resources } from "../roles/resources.ts";
import { roles, runRoles, type Role } from "../roles/runRoles.ts";
import { baseUrl, credentialsFile, saveCredentials, loadCredentials } from "./credentials.ts";
import { createExample, planExample } from "./example.ts";
import { createFirstOrganization, forgetPlan, hasOrganizationsOfOthers } from "./firstOrganization.ts";
import type { Credentials } from "./organization.ts";
import { print, formatTable } from "./output.ts";

const printLine = (text: string): void => void process.stderr.write(`${text}\n`);

/** The first organization's credentials, with this process's address; undefined if the database already has other organizations. */
async function prepareCredentials(
  settings: Settings,
  resources: Resources,
  address: string,
): Promise<Credentials | undefined> {
  const base_url = baseUrl(settings, address);
  const saved = loadCredentials(settings);
  if (saved?.base_url === base_url) return saved;
  if (!saved && (await hasOrganizationsOfOthers(settings, resources))) return undefined;
  const credentials = { ...(saved ?? (await createFirstOrganization(settings, resources))), base_url };
  saveCredentials(settings, credentials);
  forgetPlan(settings);
  return credentials;
}

interface Welcome {
  address: string;
  nats_url: string;
  /** Whether a person reads the output. Otherwise it may go to a log, which must not contain secrets. */
  showSecrets: boolean;
  /** The address of the console. */
  link: string;
}

function withoutPassword(url: string): string {
  const shown = new URL(url);
  shown.username = shown.password = "";
  return shown.href;
}

/** What `start` prints once the service accepts requests. The console comes first, for newcomers. */
export function formatWelcome(
  settings: Settings,
  { address, nats_url, showSecrets, link }: Welcome,
  { api_key, admin, organization_id, agent_id }: Credentials,
): string {
  const chat = `${address}/api/openai/v1`;
  const model = settings.OFFLINE_MODELS ? "offline/echo" : "openai/gpt-5-mini";
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] });
  const file = credentialsFile(settings);
  const key = showSecrets ? api_key : `$(node -p "JSON.parse(fs.readFileSync('${file}')).api_key")`;
  return `
${formatTable([
  ["Console", link],
  ["Chat API", chat],
  ["Agent API", `${address}/api/agents/${agent_id}/v1`],
  ["Knowledge", `${address}/api/v1/knowledge`],
  ["Documentation", `${address}/docs/`],
  ["Reference", `${address}/reference`],
  ["Events", `${showSecrets ? nats_url : withoutPassword(nats_url)}, subjects ${settings.BUS_PREFIX}.evt.v1.>`],
  ["Health", `${address}/readyz`],
  ["Organization", organization_id],
  ["API key", showSecrets ? api_key : `in ${file}`],
  ["Sign in", showSecrets ? `${admin.email} with ${admin.password}` : `${admin.email} with the password in ${file}`],
  ["Saved in", file],
  ...(showSecrets || settings.NATS_URL ? [] : [["NATS password", `in ${addressesFile(settings.DATA_DIR)}`]]),
])}

Try it:
curl ${chat}/chat/completions -H "authorization: Bearer ${key}" -H 'content-type: application/json' -d '${body}'

Ctrl-C stops the service and its servers.`;
}

/** What `start` prints if the organizations came with the database. */
const formatReturn = (settings: Settings, address: string): string => `
${formatTable([
  ["Console", `${address}/console/`],
  ["Health", `${address}/readyz`],
])}

The database has organizations already, and ${credentialsFile(settings)} does not exist: sign in as before, put the file of the
former DATA_DIR there, or create another organization with svc org create.

Ctrl-C stops the service and its servers.`;

/**
 * The console's address. On a terminal it contains a code that signs the administrator in, once and within ten minutes. Elsewhere
 * it does not, because logs are kept and read by others.
 */
export function consoleLink(
  { base_url, organization_id, admin }: Credentials,
  createCode: StartCodes["create"] | undefined,
): string {
  const address = `${base_url}/console/`;
  return createCode ? `${address}#start=${createCode({ organization_id, email: admin.email })}` : address;
}

/** Call it before anything is written: with a wrong key the service must not start. */
async function readMasterKey(settings: Settings, database_url: string): Promise<string> {
  const pool = openPool(database_url, { max: 1, name: "svc start" });
  try {
    return (await loadMasterKey(settings, asDb(pool))).key;
  } finally {
    await pool.end();
  }
}

/** Creates what only the first start creates, and prints where everything is. */
async function welcome(
  settings: Settings,
  { address = "", startCodes, resources }: Awaited<ReturnType<typeof runRoles>>,
  nats_url: string,
): Promise<void> {
  planExample(settings);
  const credentials = await prepareCredentials(settings, resources, address);
  if (!credentials) return print(formatReturn(settings, address));
  await createExample(settings, address, credentials, printLine);
  const showSecrets = process.stdout.isTTY;
  const link = consoleLink(credentials, showSecrets ? startCodes!.create : undefined);
  print(formatWelcome(settings, { address, nats_url, showSecrets, link }, credentials));
}

/** Runs a role until a signal. `all` runs every role, and creates the first organization. */
export async function start(which: Role | "all"): Promise<void> {
  const settings = readSettings(process.env);
  const services = await startEmbeddedServers(settings, printLine);
  const stopping = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  const onWait = () => printLine("PostgreSQL is starting: waiting until it takes connections.");
  try {
    const isStarted = waitForStart(services.database_url, onWait).then(() => true);
    if (!(await Promise.race([isStarted, stopping.then(() => false)]))) return;
    const addresses = { ...services, master_key: await readMasterKey(settings, services.database_url) };
    const running = await runRoles(which === "all" ? roles : [which], { settings, addresses });
    try {
      if (which === "all") await welcome(settings, running, addresses.nats_url);
      else printLine(`${which} is running${running.address ? ` on ${running.address}` : ""}.`);
      await stopping;
      printLine("Stopping.");
    } finally {
      await running.stop();
    }
  } finally {
    await services.stop();
  }
}
