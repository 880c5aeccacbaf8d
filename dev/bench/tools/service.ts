import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Agent, FormData, request } from "undici";
import { type Child, freePort, startNode } from "./child.ts";
import { dataFolder } from "./dataFolder.ts";
import { SLOWDOWN_MS } from "./slowdownSetting.ts";
import { waitForAnswer, waitUntil } from "./waitUntil.ts";

const root = dirname(dirname(dirname(import.meta.dirname)));

/** The environment of a deliberately slowed service, which a bench must detect (`--slow-ms`). */
export const slowdown = (): Record<string, string> =>
  process.env[SLOWDOWN_MS] ? { NODE_OPTIONS: `--import ${join(import.meta.dirname, "slowdown.ts")}` } : {};

interface Credentials {
  base_url: string;
  api_key: string;
  admin: { email: string; password: string };
}

type Call = (method: string, path: string, body: FormData | object | undefined, statuses: number[]) => Promise<any>;

export interface Service {
  child: Child;
  credentials: Credentials;
  /** The folder of its data. */
  dataDir: string;
  /** Sends a request with the API key and returns the parsed body. Throws on a status that is not in the list. */
  call: Call;
  /** The same with another token. */
  callAs(token: string): Call;
  /** Signs in, as the first owner by default, and sends requests as this person. */
  signIn(admin?: Credentials["admin"]): Promise<Call>;
  /** Calls `look` at this interval until it returns a value. */
  until<T>(what: string, interval_ms: number, look: () => Promise<T | undefined>): Promise<T>;
  stop(): Promise<void>;
}

/** Starts the service as `npm start` does, with its own data folder, which `stop` removes. */
export const startService = async (env: Record<string, string> = {}): Promise<Service> => {
  const folder = await dataFolder();
  const child = startNode([join(root, "svc.mjs"), "all"], {
    NODE_ENV: "production",
    DATA_DIR: folder.path,
    PORT: String(await freePort()),
    LOG_LEVEL: "warn",
    // the example's runs would compete with the measured ones, and one of them fails
    SEED: "off",
    ...slowdown(),
    ...env,
  });
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const stop = async (): Promise<void> => {
    await agent.destroy();
    await child.stop();
    await folder.remove();
  };
  const until: Service["until"] = (what, interval_ms, look) => waitUntil(child, what, interval_ms, look);
  try {
    const credentials = await until("credentials.json", 100, () => readCredentials(folder.path));
    const { base_url, api_key } = credentials;
    const callAs: Service["callAs"] = (token) => async (method, path, body, statuses) => {
      const isForm = body instanceof FormData;
      const type: Record<string, string> = body === undefined || isForm ? {} : { "content-type": "application/json" };
      // `fetch` would take twice the processor time in the bench's own process.
      const response = await request(new URL(path, base_url), {
        method,
        headers: { authorization: `Bearer ${token}`, ...type },
        body: isForm ? body : body === undefined ? null : JSON.stringify(body),
        dispatcher: agent,
      });
      const text = await response.body.text();
      if (!statuses.includes(response.statusCode))
        throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 500)}`);
      return text && JSON.parse(text);
    };
    const signIn: Service["signIn"] = async (admin = credentials.admin) =>
      callAs((await callAs("none")("POST", "/api/auth/login", admin, [200])).token);
    await waitForAnswer(child, new URL("/readyz", base_url).href);
    return { child, credentials, dataDir: folder.path, call: callAs(api_key), callAs, signIn, until, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const readCredentials = (folder: string): Promise<Credentials | undefined> =>
  readFile(join(folder, "credentials.json"), "utf8").then(JSON.parse, () => undefined);
