import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, FormData, fetch, request } from "undici";
import { type Child, freePort, startNode } from "./child.ts";
import { dataFolder } from "./folder.ts";

const root = dirname(dirname(import.meta.dirname));
const PATIENCE_S = 600;

interface Credentials {
  base_url: string;
  api_key: string;
  admin: { email: string; password: string };
}

type Call = (method: string, path: string, body: FormData | object | undefined, statuses: number[]) => Promise<any>;

export interface Service {
  child: Child;
  credentials: Credentials;
  /** Where it keeps its things. */
  dataDir: string;
  /** With the API key. Answers the parsed body; throws on any other status than these. */
  call: Call;
  /** The same with another credential. */
  callAs(token: string): Call;
  /** Asks again every so many milliseconds until the answer is there. */
  until<T>(what: string, every_ms: number, look: () => Promise<T | undefined>): Promise<T>;
  stop(): Promise<void>;
}

/** The service as `npm start` runs it, with data of its own that is removed afterwards. */
export const startService = async (env: Record<string, string> = {}): Promise<Service> => {
  const folder = await dataFolder();
  const child = startNode([join(root, "svc.mjs"), "all"], {
    NODE_ENV: "production",
    DATA_DIR: folder.path,
    PORT: String(await freePort()),
    LOG_LEVEL: "warn",
    ...env,
  });
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const stop = async (): Promise<void> => {
    await agent.destroy();
    await child.stop();
    await folder.remove();
  };
  const until: Service["until"] = async (what, every_ms, look) => {
    for (const start = performance.now(); performance.now() - start < PATIENCE_S * 1000; await sleep(every_ms)) {
      child.assertAlive();
      const found = await look();
      if (found !== undefined) return found;
    }
    throw new Error(`${what} was not there within ${PATIENCE_S} s`);
  };
  try {
    const credentials = await until("credentials.json", 100, () => credentialsIn(folder.path));
    const { base_url, api_key } = credentials;
    const callAs: Service["callAs"] = (token) => async (method, path, body, statuses) => {
      const isForm = body instanceof FormData;
      const type: Record<string, string> = body === undefined || isForm ? {} : { "content-type": "application/json" };
      // not `fetch`, which takes the bench twice the processor time
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
    const ready = () => fetch(new URL("/readyz", base_url), { dispatcher: agent }).then(({ ok }) => ok || undefined);
    await until("the service", 100, () => ready().catch(() => undefined));
    return { child, credentials, dataDir: folder.path, call: callAs(api_key), callAs, until, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const credentialsIn = (folder: string): Promise<Credentials | undefined> =>
  readFile(join(folder, "credentials.json"), "utf8").then(JSON.parse, () => undefined);
