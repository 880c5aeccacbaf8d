import { readSettings } from "#infra/config.ts";
import { loadCredentials } from "../credentials.ts";
import { Problem } from "../problem.ts";

export interface ServiceOptions {
  /** The address of the service. */
  url?: string;
}

interface Answer {
  status: number;
  body: any;
}

/** Requests to a running service, signed in as a person. */
export interface Service {
  url: string;
  /** `path` starts below `/api`. Throws Problem. */
  call(method: string, path: string, body?: object): Promise<any>;
}

const REQUEST_MS = 120_000;

async function send(url: string, token: string | null, method: string, path: string, body?: object): Promise<Answer> {
  const headers = {
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(body && { "content-type": "application/json" }),
  };
  try {
    const signal = AbortSignal.timeout(REQUEST_MS);
    const answer = await fetch(`${url}/api${path}`, {
      method,
      headers,
      signal,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
  } catch (cause) {
    const what = `The service at ${url} gave no answer (${(cause as Error).message})`;
    throw new Problem(what, "start it, or set --url or SVC_URL", { cause });
  }
}

const NEXT: Record<string, string> = {
  session_required: "definitions are saved by people: set SVC_EMAIL and SVC_PASSWORD of a builder instead of a key",
  forbidden: "sign in as a builder, an admin or an owner",
  invalid_session: "sign in again: set SVC_EMAIL and SVC_PASSWORD, or a newer SVC_SESSION",
  invalid_credentials: "check SVC_EMAIL and SVC_PASSWORD",
};

function requireSuccess({ status, body }: Answer): unknown {
  if (status < 300) return body;
  const { code, message = `The service answered ${status}` } = body?.error ?? {};
  throw new Problem(String(message).replace(/\.$/, ""), NEXT[code] ?? "correct it, then run this again");
}

type Account = { token: string } | { email: string; password: string };

/** The address of the service, and who signs in. Throws Problem. */
function readAccess(env: NodeJS.ProcessEnv, options: ServiceOptions): { url: string; account: Account } {
  const own = loadCredentials(readSettings(env));
  const url = (options.url ?? env["SVC_URL"] ?? own?.base_url)?.replace(/\/+$/, "");
  if (!url) throw new Problem("No service is named", "set --url or SVC_URL to its address");
  const { SVC_SESSION: token, SVC_EMAIL: email, SVC_PASSWORD: password } = env;
  if (token) return { url, account: { token } };
  if (email && password) return { url, account: { email, password } };
  if (own && own.base_url === url) return { url, account: own.admin };
  const next = "set SVC_EMAIL and SVC_PASSWORD of a builder, or SVC_SESSION";
  throw new Problem(
    `Nobody is signed in at ${url}${env["SVC_API_KEY"] ? ", and an API key may not save definitions" : ""}`,
    next,
  );
}

/** Signs in, does the work, and signs out. Throws Problem. */
export async function withService<T>(options: ServiceOptions, work: (service: Service) => Promise<T>): Promise<T> {
  const { url, account } = readAccess(process.env, options);
  const login = "token" in account ? account : requireSuccess(await send(url, null, "POST", "/auth/login", account));
  const { token } = login as { token: string };
  try {
    return await work({
      url,
      call: async (method, path, body) => requireSuccess(await send(url, token, method, path, body)),
    });
  } finally {
    // a session that was given is used again
    if (!("token" in account)) await send(url, token, "POST", "/auth/logout", {}).catch(() => {});
  }
}

export interface RemoteDefinition {
  id: string;
  type: "tool" | "workflow";
  name: string;
  version: number;
  updated_at: string;
}

const PAGE = 200;

/** Every definition of the organization. */
export async function listRemote({ call }: Service): Promise<RemoteDefinition[]> {
  const found: RemoteDefinition[] = [];
  for (;;) {
    const { data, total } = await call("GET", `/definitions?limit=${PAGE}&offset=${found.length}`);
    found.push(...data);
    if (data.length === 0 || found.length >= total) return found;
  }
}

export const readRemoteSource = async ({ call }: Service, { id }: { id: string }): Promise<string> =>
  (await call("GET", `/definitions/${id}`)).source;

/** Versions that a text is looked for in. */
const MAX_VERSIONS = 100;

/** The newest version with this text; undefined when none of the newest hundred has it. */
export async function findVersion({ call }: Service, id: string, source: string): Promise<number | undefined> {
  const { data } = await call("GET", `/definitions/${id}/versions?limit=${MAX_VERSIONS}`);
  return (data as { version: number; source: string }[]).find((version) => version.source === source)?.version;
}
