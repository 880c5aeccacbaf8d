import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Child, freePort, startNode } from "../tools/child.ts";
import { dataFolder } from "../tools/folder.ts";
import type { Target } from "./target.ts";

export interface Party {
  target: Target;
  child: Child;
  stop(): Promise<void>;
}

const bench = dirname(import.meta.dirname);
const ANSWERS_WITHIN_S = 300;

/** The mock provider, asked without anything between. */
export const startProvider = async (): Promise<Party> => {
  const child = startNode([join(import.meta.dirname, "provider.ts")]);
  const target = {
    name: "direct",
    origin: await child.firstLine(),
    path: "/v1/chat/completions",
    headers: {},
    model: "mock",
  };
  return { target, child, stop: child.stop };
};

/**
 * Portkey's gateway from its npm package, as it comes; only its HTTP library is held at 1.14.1 (package.json), because with
 * newer ones every streamed request is answered 500 ("immutable" headers).
 */
export const startPortkey = async (provider: string): Promise<Party> => {
  const port = await freePort();
  const script = join(bench, "node_modules/@portkey-ai/gateway/build/start-server.js");
  const child = startNode([script, `--port=${port}`, "--headless"], {
    NODE_ENV: "production",
    TRUSTED_CUSTOM_HOSTS: "127.0.0.1",
  });
  const origin = `http://127.0.0.1:${port}`;
  await answering(child, origin);
  const headers = {
    authorization: "Bearer mock",
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `${provider}/v1`,
  };
  return {
    target: { name: "portkey", origin, path: "/v1/chat/completions", headers, model: "mock" },
    child,
    stop: child.stop,
  };
};

/** This service as `npm start` runs it, with data of its own that is removed afterwards. */
export const startService = async (provider: string): Promise<Party> => {
  const folder = await dataFolder();
  const child = startNode([join(dirname(bench), "svc.mjs"), "all"], {
    NODE_ENV: "production",
    DATA_DIR: folder.path,
    PORT: String(await freePort()),
    LOG_LEVEL: "warn",
    OPENAI_BASE_URL: `${provider}/v1`,
    OPENAI_API_KEY: "mock",
  });
  const stop = async (): Promise<void> => {
    await child.stop();
    await folder.remove();
  };
  try {
    const credentials = await written<{ base_url: string; api_key: string }>(
      child,
      join(folder.path, "credentials.json"),
    );
    const { origin } = new URL(credentials.base_url);
    await answering(child, `${origin}/readyz`);
    const headers = { authorization: `Bearer ${credentials.api_key}` };
    const path = "/api/openai/v1/chat/completions";
    return { target: { name: "service", origin, path, headers, model: "openai/mock" }, child, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const answering = (child: Child, url: string): Promise<void> =>
  until(child, url, async () => ((await fetch(url)).ok ? true : undefined)).then(() => undefined);

const written = <T>(child: Child, path: string): Promise<T> =>
  until(child, path, async () => JSON.parse(await readFile(path, "utf8")) as T);

const until = async <T>(child: Child, what: string, look: () => Promise<T | undefined>): Promise<T> => {
  for (const start = performance.now(); performance.now() - start < ANSWERS_WITHIN_S * 1000; await sleep(100)) {
    child.assertAlive();
    const found = await look().catch(() => undefined);
    if (found !== undefined) return found;
  }
  throw new Error(`${what} was not there within ${ANSWERS_WITHIN_S} s`);
};
