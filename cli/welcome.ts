import type { StartCodes } from "#http/base/startCodes.ts";
import type { Settings } from "#infra/config.ts";
import { addressesFile } from "#infra/embedded/addresses.ts";
import type { Resources } from "../roles/resources.ts";
import type { runRoles } from "../roles/runRoles.ts";
import { baseUrl, credentialsFile, loadCredentials, saveCredentials } from "./credentials.ts";
import { createExample, planExample } from "./example.ts";
import { createFirstOrganization, forgetPlan, hasOrganizationsOfOthers } from "./firstOrganization.ts";
import type { Credentials } from "./organization.ts";
import { formatTable, print, printLine } from "./output.ts";

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

/** NATS may have several addresses, separated by commas. */
function withoutPasswords(addresses: string): string {
  const hidden = addresses.split(",").map((address) => {
    const shown = new URL(address.trim());
    shown.username = shown.password = "";
    return shown.href;
  });
  return hidden.join(",");
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
  ["Events", `${showSecrets ? nats_url : withoutPasswords(nats_url)}, subjects ${settings.BUS_PREFIX}.evt.v1.>`],
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

/** Creates what only the first start creates, and prints where everything is. */
export async function welcome(
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
