import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { readSettings } from "#infra/config.ts";
import { loadCredentials } from "./credentials.ts";
import { CliError } from "./cliError.ts";
import { explainError } from "./explainError.ts";

export interface ServiceOptions {
  /** The address of the service. */
  url?: string;
}

/** Texts for problems: what the command needs a person's rights for. */
interface Purpose {
  /** What an API key may not do, such as `save definitions`. */
  action: string;
  /** Who may do it, such as `a builder, an admin or an owner`. */
  roles: string;
}

interface Answer {
  status: number;
  body: any;
}

/** A client of a running service, signed in as a person. */
export interface Service {
  url: string;
  /** `path`: relative to `/api`. Throws CliError. */
  call(method: string, path: string, body?: object): Promise<any>;
  /** Streams the bytes of an answer, of a POST if there is a body. Throws CliError. */
  download(path: string, body?: object): Promise<Readable>;
}

const REQUEST_MS = 120_000;

type Request = { url: string; token: string | null; method: string; path: string; body?: object | undefined };

async function send({ url, token, method, path, body }: Request, timeout_ms: number | null): Promise<Response> {
  const headers = {
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(body && { "content-type": "application/json" }),
  };
  try {
    return await fetch(`${url}/api${path}`, {
      method,
      headers,
      ...(timeout_ms !== null && { signal: AbortSignal.timeout(timeout_ms) }),
      ...(body && { body: JSON.stringify(body) }),
    });
  } catch (cause) {
    throw unanswered(url, cause);
  }
}

function unanswered(url: string, cause: unknown): CliError {
  // `fetch` says only that it failed
  const reason = explainError((cause as Error).cause ?? cause);
  const what = `The service at ${url} gave no answer (${reason.replace(/\.$/, "")})`;
  return new CliError(what, "start it, or set --url or SVC_URL", { cause });
}

async function readAnswer(url: string, answer: Response): Promise<Answer> {
  try {
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
  } catch (cause) {
    throw unanswered(url, cause);
  }
}

const NEXT = ({ action, roles }: Purpose): Record<string, string> => ({
  session_required: `an API key may not ${action}: set SVC_EMAIL and SVC_PASSWORD of a person`,
  forbidden: `sign in as ${roles}`,
  invalid_session: "sign in again: set SVC_EMAIL and SVC_PASSWORD, or a newer SVC_SESSION",
  invalid_api_key: "SVC_SESSION is no session: set SVC_EMAIL and SVC_PASSWORD of a person instead",
  erasure_not_found: "svc erasures list shows all of them",
  invalid_credentials: "check SVC_EMAIL and SVC_PASSWORD",
});

function requireSuccess({ status, body }: Answer, purpose: Purpose): unknown {
  if (status < 300) return body;
  const { code, message = `The service answered ${status}` } = body?.error ?? {};
  throw new CliError(String(message).replace(/\.$/, ""), NEXT(purpose)[code] ?? "correct it, then run this again");
}

type Account = { token: string } | { email: string; password: string };

/** The service's address, and the account to sign in with. Throws CliError. */
function readAccess(
  env: NodeJS.ProcessEnv,
  options: ServiceOptions,
  { action, roles }: Purpose,
): {
  url: string;
  account: Account;
} {
  const own = loadCredentials(readSettings(env));
  const url = (options.url ?? env["SVC_URL"] ?? own?.base_url)?.replace(/\/+$/, "");
  if (!url) throw new CliError("No service is named", "set --url or SVC_URL to its address");
  const { SVC_SESSION: token, SVC_EMAIL: email, SVC_PASSWORD: password } = env;
  if (token) return { url, account: { token } };
  if (email && password) return { url, account: { email, password } };
  // with only half of an account, do not silently sign in as the first administrator
  if (email || password)
    throw new CliError(
      `${email ? "SVC_PASSWORD" : "SVC_EMAIL"} is missing`,
      "set both SVC_EMAIL and SVC_PASSWORD, or neither",
    );
  if (own && own.base_url === url) return { url, account: own.admin };
  const keyed = env["SVC_API_KEY"] ? `, and an API key may not ${action}` : "";
  throw new CliError(
    `Nobody is signed in at ${url}${keyed}`,
    `set SVC_EMAIL and SVC_PASSWORD of ${roles}, or SVC_SESSION`,
  );
}

/** Signs in, does the work, and signs out. Throws CliError. */
export async function withService<T>(
  options: ServiceOptions,
  purpose: Purpose,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const { url, account } = readAccess(process.env, options, purpose);
  const request = async (token: string | null, method: string, path: string, body?: object) =>
    requireSuccess(await readAnswer(url, await send({ url, token, method, path, body }, REQUEST_MS)), purpose);
  const login = "token" in account ? account : await request(null, "POST", "/auth/login", account);
  const { token } = login as { token: string };
  try {
    return await work({
      url,
      call: (method, path, body) => request(token, method, path, body),
      async download(path, body) {
        // without a timeout: if the service is gone, the connection breaks
        const answer = await send({ url, token, method: body ? "POST" : "GET", path, body }, null);
        if (!answer.ok) requireSuccess(await readAnswer(url, answer), purpose);
        return Readable.fromWeb(answer.body as ReadableStream);
      },
    });
  } finally {
    // a session passed in from outside stays open
    if (!("token" in account)) await request(token, "POST", "/auth/logout", {}).catch(() => {});
  }
}
